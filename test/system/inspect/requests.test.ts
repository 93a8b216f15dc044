import test from 'ava';
import type {Outcome} from '../../../api/errors.js';
import type {SystemRequest} from '../../../api/inspect.js';
import {seededRandom} from '../../../system/time/random.js';
import {spawnPuppet} from '../kernel/puppet.js';
import {inspectWorld} from './inspect-world.js';

const verbs = [
	...[
		'tree',
		'state',
		'mailbox',
		'links',
		'supervise',
		'journal',
		'top',
		'stats',
		'deadletters',
		'faults',
		'watch',
		'trace',
		'read',
		'close',
	],
	...['tell', 'ask', 'pause', 'step', 'resume', 'kill', 'restart', 'fault', 'heal', 'systems', 'toString', '__proto__', 7, null],
];

const members = [
	'place',
	'at',
	'depth',
	'children',
	'by',
	'limit',
	'filter',
	'forMs',
	'count',
	'record',
	'trace',
	'stream',
	'waitMs',
	'message',
	'deadlineMs',
	'fault',
];

const values: readonly unknown[] = [
	...['test', 'test/a', 'test/nobody', 'test/a/../b', '', '/', '*', 'x'.repeat(5_000), 'rate', 'memory', '1', true, null],
	...[-1, 0, 1, 1.5, 1e308, Number.NaN, [], ['notes'], ['__proto__', 'constructor'], [null], {}, {type: 'note'}],
	...[
		{type: 'slow', ms: 5},
		{type: 'crash'},
		{places: ['test', '*/*', '']},
		{places: 'test'},
		{places: [7]},
		{type: 'act', play: {throws: 'broken'}},
	],
];

// A system that takes part in a cluster is asked by the server, which has looked at the request; yet nothing depends on that.
test('whatever is asked has one answer that is plain data, and harms nothing', t => {
	const random = seededRandom(11);
	const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)] as Item;
	const {inspector, pass, run, system, tell, escalations, inspect} = inspectWorld({effects: [spawnPuppet('a'), spawnPuppet('b')]});
	let answers = 0;
	const rounds = 4_000;
	for (let round = 0; round < rounds; round++) {
		const request: {[member: string]: unknown} = {verb: pick(verbs), place: pick(['test', 'test/a', 'test/b'])};
		for (let left = Math.floor(random.next() * 4); left > 0; left--) request[pick(members)] = pick(values);
		const outcomes: Outcome<unknown>[] = [];
		t.notThrows(() => inspector.inspect(request as SystemRequest, outcome => outcomes.push(outcome)), JSON.stringify(request));
		tell('a', {type: 'note'});
		run();
		pass(random.next() < 0.02 ? 700_000 : 50);
		pass(outcomes.length === 0 ? 40_000 : 0);
		t.is(outcomes.length, 1, JSON.stringify(request));
		t.notThrows(() => JSON.stringify(outcomes));
		answers += outcomes.length;
	}
	t.is(answers, rounds);
	t.deepEqual(escalations, []);
	inspector.close();
	pass(700_000);
	t.is(system.kernel.probe, undefined);
	t.like(inspect({verb: 'tree', place: 'test'})[0], {ok: true, value: {state: 'running'}});
});
