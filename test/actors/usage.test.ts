// What a node and its containers use is told of a sample of now, of a processor as a rate; and measured only while somebody asks.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {historyOf, withPoint, type HistoryPoint} from '../../actors/node/usage/history.js';
import type {Measurement} from '../../actors/node/usage/report.js';
import {usage, type UsageAnswer, type UsageInput, type UsageMessage, type UsageState} from '../../actors/node/usage/usage.js';
import {withGrowth} from '../../actors/node/usage/totals.js';
import type {Counters, UsageSample} from '../../actors/node/runtime/runtime-port.js';
import type {Totals} from '../../actors/protocol/usage-message.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playContext, playFrom} from '../../system/kernel/play.js';
import {nowMs} from './_objects.js';

const self = 'troupe://node-a/usage';
const askedBy = (id: string) => ({to: 'troupe://control/edge', as: 'answer', id});
const asks = (id: string, uids?: readonly string[], steps?: number): UsageMessage => ({
	type: 'readUsage',
	uids,
	steps,
	replyTo: askedBy(id),
});
const measures: Effect = {type: 'perform', command: {type: 'usage.read'}, key: 'usage', as: 'sampled'};
const mebibyte = 1_048_576;

type Container = {readonly uid: string; readonly attempt?: number; readonly cpuNanos?: number | undefined};

/** A node at which time passes and whose runtime says what a test says. */
function node(input: UsageInput = {}) {
	let atMs = 0;
	const context = () => playContext({self, nowMs: nowMs + atMs, monotonicMs: atMs});
	let state: UsageState = play(usage, input, [], context()).state;
	const say = (message: UsageMessage, afterMs = 0): readonly Effect[] => {
		atMs += afterMs;
		const played = playFrom(usage, state, [message], context());
		state = played.state;
		return played.effects;
	};
	const sampleOf = (nodeNanos: number, containers: readonly Container[]): UsageSample => ({
		atMs: nowMs + atMs,
		node: {readAtMs: atMs, cpuNanos: nodeNanos, memoryBytes: 7 * mebibyte, receivedBytes: 1_000 * atMs, readBytes: 5},
		traffic: [{uid: 'a', receivedBytes: 2_000 * atMs, sentBytes: atMs}],
		containers: containers.map(({uid, attempt = 0, cpuNanos}) => ({
			id: {uid, container: 'main'},
			attempt,
			readAtMs: atMs,
			cpuNanos,
			memoryBytes: mebibyte,
		})),
	});
	return {
		say,
		/** The runtime answers, so long after it was asked. */
		hear: (nodeNanos: number, containers: readonly Container[], afterMs = 0) => {
			atMs += afterMs;
			return say({type: 'sampled', id: 'usage', outcome: succeeded(sampleOf(nodeNanos, containers))});
		},
		state: () => state,
	};
}

const told = (effects: readonly Effect[]): readonly {readonly id: string; readonly report: UsageAnswer}[] =>
	effects.flatMap(effect =>
		effect.type === 'reply' && effect.outcome.ok ? [{id: effect.to.id, report: effect.outcome.value as UsageAnswer}] : [],
	);

const wakeAfter = (delayMs: number) => (effects: readonly Effect[]) =>
	effects.some(effect => effect.type === 'wakeAt' && effect.name === 'sample' && effect.atMostMs === delayMs);
const isPair = wakeAfter(limits.usagePairMs);
const isPeriodic = wakeAfter(limits.usageSampleMs);

test('where nothing is to be measured always, it is not before somebody asks', t => {
	t.deepEqual(play(usage, {}, [], playContext({self})).effects, []);
});

test('the first question waits for a second sample, and is told what was used between the two', t => {
	const {say, hear} = node();
	t.deepEqual(say(asks('1')), [measures]);
	const first = hear(0, [{uid: 'a', cpuNanos: 5_000}]);
	t.deepEqual(told(first), []);
	t.true(isPair(first));
	t.deepEqual(say({type: 'sample'}, limits.usagePairMs), [measures]);
	const second = hear(600_000_000, [{uid: 'a', cpuNanos: 5_000 + 1_200_000_000}]);
	t.true(isPeriodic(second));
	const [{id = '', report} = {}] = told(second);
	t.is(id, '1');
	t.is(report?.atMs, nowMs + limits.usagePairMs);
	t.deepEqual(report?.node, {
		...{cpuNanocores: 500_000_000, windowMs: limits.usagePairMs, memoryBytes: 7 * mebibyte},
		rates: {received: 1_000_000, read: 0},
	});
	t.deepEqual(report?.totals, {received: 1_000 * limits.usagePairMs, read: 0});
	t.deepEqual(report?.traffic, [{uid: 'a', rates: {received: 2_000_000, sent: 1_000}}]);
	const used = {cpuNanocores: 1_000_000_000, windowMs: limits.usagePairMs, memoryBytes: mebibyte};
	t.deepEqual(report?.containers, [{uid: 'a', container: 'main', ...used}]);
});

test('totals of a node never fall: what counts anew or is seen for the first time adds nothing, and what is not to be seen stays', t => {
	let totals: Totals = {};
	let last: Counters = {};
	const after = (now: Counters): Totals => {
		totals = withGrowth(totals, last, now);
		last = now;
		return totals;
	};
	t.deepEqual(after({receivedBytes: 1_000_000, sentBytes: 7}), {received: 0, sent: 0});
	t.deepEqual(after({receivedBytes: 1_000_100, sentBytes: 9, readBytes: 5_000}), {received: 100, sent: 2, read: 0});
	t.deepEqual(after({receivedBytes: 400, sentBytes: 10, readBytes: 5_001}), {received: 100, sent: 3, read: 1}, 'an interface is gone');
	t.deepEqual(after({receivedBytes: 450}), {received: 150, sent: 3, read: 1});
	t.deepEqual(after({receivedBytes: 450, sentBytes: 100}), {received: 150, sent: 3, read: 1});
});

/** A node that was asked at 0, and has told. */
function asked(containers: readonly Container[] = []) {
	const it = node();
	it.say(asks('first'));
	it.hear(0, containers);
	it.say({type: 'sample'}, limits.usagePairMs);
	it.hear(0, containers);
	return it;
}

test('a later question is told of a sample of now, over some seconds', t => {
	const {say, hear} = asked([{uid: 'a', cpuNanos: 0}]);
	t.deepEqual(say({type: 'sample'}, limits.usageSampleMs), [measures]);
	t.deepEqual(told(hear(0, [{uid: 'a', cpuNanos: 5_000_000_000}])), []);
	t.deepEqual(say(asks('2'), 2_000), [measures]);
	const [{report} = {}] = told(hear(0, [{uid: 'a', cpuNanos: 5_000_000_000}]));
	t.like(report?.containers[0], {windowMs: 2_000 + limits.usageSampleMs, cpuNanocores: Math.round(5e9 / 7)});
	t.deepEqual(say(asks('3'), 5_000), [measures]);
	const [{report: next} = {}] = told(hear(0, [{uid: 'a', cpuNanos: 5_000_000_000}]));
	t.like(next?.containers[0], {windowMs: 5_000, cpuNanocores: 0}, 'the latest sample that is far enough away');
});

test('a sample of less than a second ago is of now', t => {
	const {say} = asked([{uid: 'a', cpuNanos: 0}]);
	const effects = say(asks('2'), limits.usageLeastWindowMs - 1);
	t.deepEqual(
		told(effects).map(({id}) => id),
		['2'],
	);
	t.is(effects.length, 1);
});

test('only pods that are asked for are told, and waited for', t => {
	const {say, hear} = asked([{uid: 'a', cpuNanos: 0}]);
	say(asks('2', ['a']), 5_000);
	say(asks('3', ['b']));
	const effects = hear(0, [
		{uid: 'a', cpuNanos: 0},
		{uid: 'b', cpuNanos: 0},
	]);
	t.deepEqual(
		told(effects).map(({id, report}) => [id, report.containers.map(({uid}) => uid)]),
		[['2', ['a']]],
	);
	t.true(isPair(effects), 'b has only just begun');
});

test('each attempt counts anew, and a figure that falls is none', t => {
	const {say, hear} = asked([
		{uid: 'a', cpuNanos: 9_000},
		{uid: 'b', cpuNanos: 9_000},
	]);
	say(asks('2'), 5_000);
	hear(0, [
		{uid: 'a', attempt: 1, cpuNanos: 9_001},
		{uid: 'b', cpuNanos: 8_000},
	]);
	say({type: 'sample'}, limits.usagePairMs);
	const [{report} = {}] = told(
		hear(0, [
			{uid: 'a', attempt: 1, cpuNanos: 9_001},
			{uid: 'b', cpuNanos: 7_000},
		]),
	);
	t.like(report?.containers[0], {cpuNanocores: 0, windowMs: limits.usagePairMs});
	t.like(report?.containers[1], {cpuNanocores: undefined, windowMs: undefined, memoryBytes: mebibyte}, 'it is waited for once');
});

test('what cannot be measured is waited for by nobody', t => {
	const {say, hear} = asked();
	say(asks('2'), 5_000);
	const [{report} = {}] = told(hear(0, [{uid: 'a', cpuNanos: undefined}]));
	t.like(report?.containers[0], {uid: 'a', cpuNanocores: undefined});
});

test('many questions are one sample, and a flood of them measures no oftener', t => {
	const {say, hear, state} = asked([{uid: 'a', cpuNanos: 0}]);
	t.deepEqual(say(asks('2'), 5_000), [measures]);
	t.deepEqual(say(asks('3')), []);
	t.is(
		told(
			hear(0, [
				{uid: 'a', cpuNanos: 0},
				{uid: 'b', cpuNanos: 0},
			]),
		).length,
		0,
	);
	t.deepEqual(say(asks('4'), 1), [], 'the second sample of the pair is on its way');
	say({type: 'sample'}, limits.usagePairMs);
	const all = hear(0, [
		{uid: 'a', cpuNanos: 0},
		{uid: 'b', cpuNanos: 0},
	]);
	t.deepEqual(
		told(all).map(({id}) => id),
		['2', '3', '4'],
	);
	let performed = 0;
	for (let at = 0; at < 20_000; at += 10) {
		const effects = say(asks(`f${at}`), 10);
		if (!effects.includes(measures) && !effects.some(({type}) => type === 'perform')) continue;
		performed++;
		hear(0, [{uid: 'a', cpuNanos: 0}]);
	}
	t.true(performed <= 21, `${performed} samples in 20 s`);
	t.true(state().samples.length <= 8, `${state().samples.length} samples are kept`);
});

test('questions that wait are bounded, and a runtime that fails is told to all of them', t => {
	const {say, state} = node();
	for (let i = 0; i < limits.usageReaders; i++) say(asks(String(i)));
	t.like(say(asks('more')), [{type: 'reply', outcome: {ok: false, error: {code: 'ERR_BUSY'}}}]);
	const effects = say({type: 'sampled', id: 'usage', outcome: failed('ERR_RUNTIME', {message: 'no'})});
	t.is(effects.filter(({type}) => type === 'reply').length, limits.usageReaders);
	t.true(isPeriodic(effects));
	t.is(state().readers.length, 0);
	t.deepEqual(say({type: 'readUsage'}), [], 'who wants no answer asks nothing');
});

test('what a sample tells is found once for all who wait, and told of the same', t => {
	const containers = [
		{uid: 'a', cpuNanos: 0},
		{uid: 'b', cpuNanos: 0},
	];
	const {say, hear} = asked(containers);
	for (let i = 0; i < limits.usageReaders; i++) say(asks(String(i), i % 2 === 0 ? ['a', 'b'] : ['b']), i === 0 ? 5_000 : 0);
	const all = told(hear(0, containers)).map(({report}) => report);
	t.is(all.length, limits.usageReaders);
	const [both, second] = all;
	t.deepEqual(
		both?.containers.map(({uid}) => uid),
		['a', 'b'],
	);
	t.true(
		all.every(({containers: each}) => each.at(-1) === second?.containers[0]),
		'it is the same object: no report is worked out anew',
	);
});

test('when nobody has asked for a while nothing is measured any more, and nothing kept', t => {
	const {say, hear, state} = asked([{uid: 'a', cpuNanos: 0}]);
	const last = limits.usageKeptMs / limits.usageSampleMs;
	for (let i = 1; i < last; i++) {
		say({type: 'sample'}, limits.usageSampleMs);
		t.true(isPeriodic(hear(0, [{uid: 'a', cpuNanos: 0}])));
		t.true(state().samples.length <= 3);
	}
	say({type: 'sample'}, limits.usageSampleMs);
	t.deepEqual(hear(0, []), []);
	t.deepEqual(state().samples, []);
	t.is(state().measured, undefined);
});

test('a node that measures always begins at once, and goes on whoever asks', t => {
	t.deepEqual(play(usage, {measuresAlways: true}, [], playContext({self})).effects, [measures]);
	const {say, hear, state} = node({measuresAlways: true});
	const rounds = 2 + limits.usageKeptMs / limits.usageSampleMs;
	for (let i = 0; i < rounds; i++) {
		t.true(isPeriodic(hear(i * 1_000_000_000, [{uid: 'a', cpuNanos: i * 500_000_000}])));
		t.deepEqual(say({type: 'sample'}, limits.usageSampleMs), [measures]);
	}
	t.is(state().history.length, rounds);
	const [{report} = {}] = [
		...told(say(asks('1', ['a'], 3))),
		...told(hear(rounds * 1_000_000_000, [{uid: 'a', cpuNanos: rounds * 500_000_000}])),
	];
	const [series] = report?.history?.containers ?? [];
	t.like(series, {uid: 'a', container: 'main'});
	t.is(series?.cpuNanocores.length, 3);
	t.deepEqual(series?.cpuNanocores.slice(1), [100_000_000, 100_000_000]);
	t.deepEqual(series?.memoryBytes.slice(1), [mebibyte, mebibyte]);
	t.deepEqual(report?.history?.node.cpuNanocores.slice(1), [200_000_000, 200_000_000]);
	t.is(report?.history?.stepMs, limits.usageHistoryMs / 3);
});

const measuredOf = (cpuNanocores: number | undefined, count = 1): Measurement => ({
	atMs: 0,
	node: {usage: {cpuNanocores, windowMs: 5_000, memoryBytes: 1}, isEarly: false},
	containers: Array.from({length: count}, (_, n) => ({
		usage: {uid: 'a', container: String(n), cpuNanocores, windowMs: 5_000, memoryBytes: undefined},
		isEarly: false,
	})),
	traffic: [],
});

test('the last minutes are kept, in no more figures than are allowed, and points with the same containers share their names', t => {
	let history: readonly HistoryPoint[] = [];
	let atMs = 0;
	for (; atMs < 2 * limits.usageHistoryMs; atMs += limits.usageSampleMs) history = withPoint(history, measuredOf(1), atMs);
	t.is(history.length, limits.usageHistoryMs / limits.usageSampleMs);
	t.is(history[0]?.keys, history.at(-1)?.keys);
	t.is(withPoint(history, measuredOf(1), atMs - limits.usageSampleMs + 1), history, 'somebody asked in between');
	for (let i = 0; i < 200; i++) history = withPoint(history, measuredOf(1, limits.usageContainers), (atMs += limits.usageSampleMs));
	t.true(history.reduce((sum, {keys}) => sum + keys.length + 1, 0) <= limits.usageHistoryFigures);
	t.true(history.length > 60);
	const containers = Array.from({length: limits.usageHistoryContainers}, (_, n) => ({uid: 'a', container: String(n)}));
	t.deepEqual(historyOf(history, atMs, 4, [...containers, {uid: 'a', container: 'one more'}]).containers, []);
	const told = historyOf(history, atMs, limits.usageHistorySteps, containers);
	t.true(told.containers.length * (told.node.cpuNanocores.length + 1) <= 2 * limits.usageHistoryAnswer);
	t.is(told.containers[0]?.cpuNanocores.at(-1), 1);
	t.deepEqual(historyOf([], 0, 2, [{uid: 'a', container: 'b'}]).containers, [
		{uid: 'a', container: 'b', cpuNanocores: [null, null], memoryBytes: [null, null]},
	]);
	t.is(historyOf(withPoint([], measuredOf(undefined), 0), 0, 1, []).node.cpuNanocores[0], null);
});
