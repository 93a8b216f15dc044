// What a stranger writes as a request of the inspector: read strictly, and refused in words that help.

import test from 'ava';
import {limits} from '../../api/limits.js';
import {mayInspect, type Role} from '../../api/roles.js';
import {parseRequest, parseRequestText, toolVerbs} from '../../server/inspect/request-shape.js';

const place = 'control/pods/default.web';
const good: readonly object[] = [
	{verb: 'systems'},
	{verb: 'tree', place: ''},
	{verb: 'tree', place: 'control', depth: 2, children: 10},
	{verb: 'state', place, at: ['pods', ''], depth: 3},
	...['mailbox', 'links', 'supervise', 'journal', 'resume', 'kill', 'restart', 'heal'].map(verb => ({verb, place})),
	{verb: 'top', place: '', by: 'rate', limit: 5},
	{verb: 'stats', place: 'me@laptop'},
	{verb: 'deadletters', place: ''},
	{verb: 'faults', place: ''},
	{verb: 'watch', place, at: ['a'], forMs: 1_000, count: 1},
	{verb: 'trace', filter: {places: ['*/pods/default.*'], behaviors: ['Pod']}, record: true},
	{verb: 'tell', place, message: {type: 'wake', nothing: null}},
	{verb: 'ask', place, message: {type: 'x'}, deadlineMs: 100},
	{verb: 'pause', place, forMs: 5_000},
	{verb: 'step', place, count: 3},
	...[{type: 'crash'}, {type: 'slow', ms: 5}, {type: 'drop', share: 0.5}, {type: 'partition'}, {type: 'pause'}].map(fault => ({
		verb: 'fault',
		place: 'vm',
		fault,
	})),
];

test('every verb is read, with what it needs and what it may have', t => {
	for (const request of good) t.deepEqual(parseRequest(request), {ok: true, value: request as never}, JSON.stringify(request));
	t.deepEqual([...new Set(good.map(request => (request as {verb: string}).verb))].sort(), [...toolVerbs].sort());
	t.deepEqual(parseRequest({verb: 'tree'}), {ok: true, value: {verb: 'tree', place: ''}});
});

test('what is wrong is told by its place, with what to write instead', t => {
	const wrong: readonly [unknown, RegExp][] = [
		[null, /^a request must be an object such as \{"verb": "systems"\}, got nothing$/],
		[[], /got a list$/],
		[{}, /^verb must be systems, tree, .*; got nothing$/],
		[{verb: 'stat', place}, /; did you mean "state"\?$/],
		[{verb: '__proto__'}, /^verb must be/],
		[{verb: 'constructor'}, /^verb must be/],
		[{verb: 'read', stream: 's', waitMs: 1, count: 1}, /^verb must be/],
		[{verb: 'state'}, /^place of "state" is missing$/],
		[{verb: 'state', place: ''}, /^place of "state" must be a system, or an actor of one/],
		[{verb: 'state', place: 'control/\u0000'}, /^place of "state" must be/],
		[{verb: 'state', place: 'c'.repeat(2_000)}, /^place of "state" must be/],
		[{verb: 'state', place: '/x'}, /^place of "state" must be/],
		[{verb: 'state', place, at: 'a'}, /^at of "state" must be a list/],
		[{verb: 'state', place, at: [1]}, /^at of "state" must be a text \(item 0\)$/],
		[{verb: 'tree', place: '', depht: 1}, /^"tree" has no member "depht", but verb, place, depth, children; did you mean "depth"\?$/],
		[{verb: 'tree', place: '', depth: -1}, /^depth of "tree" must be a whole number from 0 to 64, got -1$/],
		[{verb: 'tree', place: '', children: 1e9}, /got 1000000000$/],
		[{verb: 'top', place: ''}, /^by of "top" is missing$/],
		[{verb: 'top', place: '', by: 'size'}, /^by of "top" must be mailbox, rate, time, restarts, memory; got "size"$/],
		[{verb: 'trace', filter: {}}, /^filter.places is missing$/],
		[{verb: 'trace', filter: {places: Array<string>(65).fill('a')}}, /at most 64 items/],
		[{verb: 'trace', filter: {places: []}, trace: 'mine'}, /no member "trace"/],
		[{verb: 'trace', filter: {places: ['control']}, forMs: limits.inspectForMs + 1}, /^forMs of "trace" must be/],
		[{verb: 'tell', place, message: 'x'}, /^message of "tell" must be an object with a type, got "x"$/],
		[{verb: 'tell', place, message: {}}, /^message of "tell" must be an object with a type/],
		[{verb: 'fault', place, fault: {type: 'explode'}}, /^fault.type must be crash, pause.*; got "explode"$/],
		[{verb: 'fault', place, fault: {type: 'crash', ms: 1}}, /^fault of "fault" has no member "ms", but type$/],
		[{verb: 'fault', place, fault: {type: 'crash'}, by: 'mallory'}, /^"fault" has no member "by"/],
		[{verb: 'fault', place, fault: {type: 'slow'}}, /^fault.ms is missing$/],
		[{verb: 'fault', place, fault: {type: 'drop', share: 2}}, /^fault.share must be above 0 and at most 1, got 2$/],
	];
	for (const [request, words] of wrong) {
		const outcome = parseRequest(request);
		t.like(outcome, {ok: false, error: {code: 'ERR_BAD_REQUEST'}}, JSON.stringify(request));
		t.regex(outcome.ok ? '' : outcome.error.message, words, JSON.stringify(request));
	}
});

test('a text that is no JSON, too large, too deep or poisoned is no request', t => {
	t.deepEqual(parseRequestText('{"verb":"systems"}'), {ok: true, value: {verb: 'systems'}});
	for (const source of ['', '{', 'verb', '\ud800', `{"__proto__":{"verb":"kill"}}`, '['.repeat(30_000), '['.repeat(100) + ']'.repeat(100)])
		t.like(parseRequestText(source), {ok: false, error: {code: 'ERR_BAD_REQUEST'}}, source.slice(0, 20));
	t.like(parseRequestText(`"${'é'.repeat(limits.inspectRequestBytes / 2)}"`), {ok: false, error: {code: 'ERR_TOO_LARGE'}});
});

test('every reader looks, admins change, nodes and joining hosts do nothing', t => {
	const as = (role: Role) => (role === 'node' ? {name: 'n', role, node: 'n'} : {name: 'n', role});
	for (const role of ['tool', 'view', 'edit', 'admin'] as const)
		for (const verb of ['systems', 'tree', 'state', 'trace', 'watch', 'journal'] as const)
			t.true(mayInspect(as(role), verb), `${role} ${verb}`);
	for (const verb of ['tell', 'ask', 'pause', 'step', 'resume', 'kill', 'restart', 'fault', 'heal'] as const)
		for (const role of ['tool', 'view', 'edit', 'node', 'join', 'admin'] as const)
			t.is(mayInspect(as(role), verb), role === 'admin', `${role} ${verb}`);
	for (const role of ['node', 'join'] as const) t.false(mayInspect(as(role), 'tree'));
	t.false(mayInspect({name: 'control', role: 'admin'}, 'tree'));
});
