// What a hostile system of a user's may answer an inspector, and what becomes of it.

import test from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {StreamPortion, SystemRequest} from '../../api/inspect.js';
import type {Json} from '../../api/object.js';
import {soundAnswer} from '../../server/inspect/answer-shape.js';
import {actorTree} from '../api/_actor-tree.js';

const system = 'evil@bob';
const ask = (verb: SystemRequest['verb']): SystemRequest => ({verb, place: system}) as SystemRequest;
const actor = actorTree(`troupe://${system}/`, {childCount: 1});
const json = (value: unknown): Json => value as Json;

test('an answer that is one stays as it is, and so does a failure', t => {
	const trees = succeeded(json({...actor, children: [{...actor, address: `troupe://${system}/main`}]}));
	t.is(soundAnswer(system, ask('tree'), trees), trees);
	const portion: StreamPortion = {
		dropped: 0,
		entries: [{type: 'state', atMs: 1, message: 'm', from: 'f', cause: 'c', state: null}],
	};
	const read = succeeded(json(portion));
	t.is(soundAnswer(system, ask('read'), read), read);
	const failure = failed('ERR_NO_SUCH_ACTOR', {address: 'x'});
	t.is(soundAnswer(system, ask('state'), failure), failure);
});

const nonsense: readonly unknown[] = [
	undefined,
	null,
	5,
	'x',
	[],
	{ok: true},
	{ok: 'maybe', value: {}},
	{ok: false},
	{ok: false, error: null},
	{ok: false, error: {code: 'NOPE', message: 'x', details: {}}},
	{ok: false, error: {code: '__proto__', message: 'x', details: {}}},
	{ok: false, error: {code: 'ERR_INTERNAL', message: 5, details: {}}},
	{ok: false, error: {code: 'ERR_INTERNAL', message: 'x', details: null}},
	...[null, 5, 'x', [], {}, {children: 5}, {stream: 5}, {entries: null, dropped: 0}, {entries: [null], dropped: 0}].map(value => ({
		ok: true,
		value,
	})),
];
const verbs: readonly SystemRequest['verb'][] = [
	...(['tree', 'state', 'mailbox', 'links', 'supervise', 'journal', 'top', 'stats', 'deadletters', 'faults'] as const),
	...(['watch', 'trace', 'read', 'tell', 'ask', 'pause', 'kill', 'fault'] as const),
];

for (const verb of verbs)
	test(`nonsense is no answer to ${verb}, and names who said it`, t => {
		for (const outcome of nonsense) {
			const sound = soundAnswer(system, ask(verb), outcome as Outcome<Json>);
			t.like(sound, {ok: false, error: {message: `"${system}" answered what is no answer to "${verb}"`}}, JSON.stringify(outcome));
		}
	});

test("a user's system speaks of no actors but its own", t => {
	const forged: readonly (readonly [verb: SystemRequest['verb'], value: unknown])[] = [
		['tree', {...actor, address: 'troupe://control/pods'}],
		['tree', {...actor, children: [{...actor, address: 'troupe://evil@ann/main'}]}],
		['state', {address: 'troupe://control/', behavior: 'b', atMs: 1, state: 1}],
		['stats', {system: 'control', actors: 1, upMs: 1, counters: {}, memoryBytes: 1, cpuMs: 1, loopBusy: 0}],
		[
			'read',
			{
				dropped: 0,
				entries: [
					{
						...{type: 'step', span: 's', atMs: 1, address: 'troupe://control/pods', behavior: 'b', from: 'f', message: {type: 'm'}},
						...{cause: 'c', waitedMs: 0, tookMs: 0, outcome: 'done', effects: []},
					},
				],
			},
		],
	];
	for (const [verb, value] of forged) t.false(soundAnswer(system, ask(verb), succeeded(json(value))).ok, verb);
});

test('words of closed lists are words of them, and what may be left out is of its type', t => {
	const supervise = {
		restart: 'permanent',
		strategy: 'oneForOne',
		pastIntensity: 'park',
		intensity: 1,
		periodMs: 1,
		left: 1,
		restarts: 0,
		shutdown: 5,
	};
	const letter = {atMs: 1, to: 't', from: 'f', type: 'm', cause: 'c', why: 'busy'};
	const fault = {address: `troupe://${system}/`, fault: {type: 'slow', ms: 5}, leftMs: 1, text: 'slow'};
	const sound: readonly (readonly [verb: SystemRequest['verb'], value: object, wrong: readonly object[]])[] = [
		['tree', actor, [{state: 'toString'}, {wrongBelow: '\u001b[2J'}, {failedAgoMs: 'x'}, {trouble: 5}]],
		['supervise', supervise, [{restart: 'x'}, {strategy: 'x'}, {pastIntensity: 'x'}, {shutdown: 'x'}]],
		['deadletters', {letters: [letter], total: 1}, [{letters: [{...letter, why: 'x'}]}]],
		[
			'faults',
			{areAllowed: true, faults: [fault]},
			[{faults: [{...fault, fault: {type: 'x'}}]}, {faults: [{...fault, fault: {type: 'slow', ms: 'x'}}]}],
		],
		['read', {entries: [], dropped: 0, ended: 'time'}, [{ended: 'x'}]],
	];
	for (const [verb, value, wrong] of sound) {
		t.true(soundAnswer(system, ask(verb), succeeded(json(value))).ok, verb);
		for (const each of wrong) t.false(soundAnswer(system, ask(verb), succeeded(json({...value, ...each}))).ok, JSON.stringify(each));
	}
});

test('of a node what control goes by is looked at, and the rest is handed on', t => {
	t.true(soundAnswer('node-a', ask('tree'), succeeded(json({new: 'member'}))).ok);
	for (const outcome of [null, {ok: true}, {ok: false}])
		t.false(soundAnswer('node-a', ask('tree'), outcome as unknown as Outcome<Json>).ok);
	for (const verb of ['watch', 'trace', 'read'] as const) t.false(soundAnswer('node-a', ask(verb), succeeded(json({entries: [5]}))).ok);
});
