import {Buffer} from 'node:buffer';
import test, {type ExecutionContext} from 'ava';
import type {StreamPortion, TraceEntry, WatchEntry} from '../../../api/inspect.js';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Effect, type Message} from '../../../system/kernel/behavior.js';
import {createInspector, type Inspector} from '../../../system/inspect/inspector.js';
import {at} from '../kernel/actor-world.js';
import {act, note, spawnPuppet} from '../kernel/puppet.js';
import {recordAt, recordWorld} from '../commit/record-world.js';
import {farWorld} from '../links/far-world.js';
import {inspectWorld, opened, portionOf, type InspectWorld} from './inspect-world.js';

const two = {effects: [spawnPuppet('a'), spawnPuppet('b')]};
const tellB = (effect: Effect = tell(at('b'), note('hello'))): Parameters<typeof act>[0] => ({effects: [effect]});

const steps = (portion: StreamPortion | undefined): readonly TraceEntry[] => (portion?.entries ?? []) as readonly TraceEntry[];
const states = (portion: StreamPortion | undefined): readonly WatchEntry[] => (portion?.entries ?? []) as readonly WatchEntry[];

/** `path type outcome < path of the step that led to it`. */
function story(entries: readonly TraceEntry[]): readonly string[] {
	const pathOf = ({address: each}: TraceEntry): string => each.slice('troupe://'.length);
	const bySpan = new Map(entries.map(entry => [entry.span, entry]));
	return entries.map(entry => {
		const parent = entry.parent === undefined ? undefined : bySpan.get(entry.parent);
		const from = entry.parent === undefined ? '' : ` < ${parent === undefined ? entry.parent : pathOf(parent)}`;
		return `${pathOf(entry)} ${entry.message.type} ${entry.outcome}${from}`;
	});
}

const read = (t: ExecutionContext, inspector: Inspector, stream: string, run: () => void): StreamPortion => {
	let portion: StreamPortion | undefined;
	inspector.inspect({verb: 'read', stream, waitMs: 1_000, count: 1_000}, outcome => {
		if (outcome.ok) portion = outcome.value as unknown as StreamPortion;
	});
	run();
	return portion ?? t.fail('nothing was read');
};

test('a trace tells the steps of an actor, and what follows from them elsewhere', t => {
	const {inspect, act: doIn, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}}));
	doIn('b', {note: 'not of it'});
	doIn('a', tellB());
	const portion = portionOf(t, inspect({verb: 'read', stream, waitMs: 1_000, count: 10}), () => pass(limits.streamGatherMs));
	t.deepEqual(story(steps(portion)), ['test/a act done', 'test/b note done < test/a']);
	const [first, second] = steps(portion);
	t.like(first, {from: at('edge'), cause: 'test', behavior: 'puppet', effects: [`tell ${at('b')}  note`], parent: undefined});
	t.deepEqual(JSON.parse(JSON.stringify(second?.message)), {type: 'note', text: 'hello'});
	t.deepEqual([portion.dropped, portion.ended], [0, undefined]);
});

test('causes go through questions, answers, timers, commands of the edge and new actors', t => {
	const {inspect, act: doIn, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}}));
	doIn('a', {
		effects: [
			{type: 'ask', to: at('b'), message: act({}), as: 'answered', id: '1'},
			{type: 'wakeAt', name: 'soon', atMs: 0, message: {type: 'due'}},
			{type: 'wakeAt', name: 'round', atMs: 0, message: {type: 'round'}, cause: 'a round'},
			{type: 'perform', command: {type: 'x'}, key: 'k', as: 'performed'},
			spawnPuppet('child'),
		],
	});
	pass(10);
	const told = story(steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 1_000, count: 20}), () => pass(limits.streamGatherMs))));
	t.deepEqual([...told].sort(), [
		'test/a act done',
		'test/a answered done < test/b',
		'test/a due done < test/a',
		'test/a performed done < test/a',
		'test/a round done',
		'test/a/child init done < test/a',
		'test/b act done < test/a',
	]);
});

test('a trace tells of crashes, and of messages that reached nobody', t => {
	const {inspect, act: doIn, tell: tellTo, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a', 'test/gone*']}}));
	doIn('a', {effects: [tell(at('nobody'), note('lost'))]});
	doIn('a', {throws: 'broken'});
	doIn('a', {effects: [{type: 'spawn', name: 'x', behavior: 'none'}]});
	tellTo('gone-1', note('lost, too'));
	pass(10);
	const entries = steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 1_000, count: 20}), () => pass(limits.streamGatherMs)));
	t.deepEqual(story(entries).slice(0, 3), ['test/a act done', 'test/nobody note deadLetter < test/a', 'test/a act crashed']);
	t.true(story(entries).includes('test/gone-1 note deadLetter'));
	t.true(entries[2]?.error?.includes('broken'));
	// The effects of the third step throw after it was told.
	t.deepEqual(story(entries).filter(line => line === 'test/a act crashed').length, 2);
	t.true(story(entries).includes('test/a init done < test/a'), story(entries).join());
});

const told = (t: ExecutionContext, {inspect, pass}: InspectWorld, stream: string): readonly string[] =>
	story(steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 1_000, count: 100}), () => pass(limits.streamGatherMs))));

test('a crash, what its supervisor makes of it, and the new beginning are one sequence', t => {
	const world = inspectWorld({effects: [spawnPuppet('a', {effects: [spawnPuppet('child', {effects: [spawnPuppet('grandchild')]})]})]});
	const stream = opened(t, world.inspect({verb: 'trace', filter: {places: ['test/a/child']}}));
	for (let each = 0; each < limits.restartIntensity; each++) world.act('a/child', {throws: 'broken'});
	world.pass(1_000);
	t.deepEqual(told(t, world, stream).slice(0, 3), [
		'test/a/child act crashed',
		'test/a/child/grandchild stop done < test/a/child',
		'test/a/child init done < test/a/child',
	]);
	world.act('a/child', {throws: 'once too often'});
	world.pass(1_000);
	t.deepEqual(told(t, world, stream), [
		'test/a/child act crashed',
		'test/a/child/grandchild stop done < test/a/child',
		'test/a escalated crashed < test/a/child',
		'test/a init done < test/a',
		'test/a/child init done < test/a',
		'test/a/child/grandchild init done < test/a/child',
	]);
	t.is(world.system.kernel.span, undefined);
});

test('a kill, a restart and a stop lead to all that follows: last words, the word to those that watch, the new beginning', t => {
	const world = inspectWorld(two);
	world.act('b', {effects: [{type: 'watch', address: at('a')}]});
	world.act('a', {effects: [spawnPuppet('child')], lastEffects: [tell(at('b'), note('farewell'))]});
	const stream = opened(t, world.inspect({verb: 'trace', filter: {places: ['test/a']}}));
	world.inspect({verb: 'kill', place: 'test/a/child'});
	world.pass(10);
	t.deepEqual(told(t, world, stream), ['test/a/child kill crashed', 'test/a/child init done < test/a/child']);
	world.inspect({verb: 'restart', place: 'test/a'});
	world.pass(10);
	t.deepEqual(told(t, world, stream), [
		'test/a restart done',
		'test/a/child stop done < test/a',
		'test/a stop done < test/a',
		'test/b note done < test/a',
		'test/a init done < test/a',
	]);
	world.act('', {effects: [{type: 'stopChild', name: 'a'}]});
	world.pass(10);
	t.deepEqual(told(t, world, stream), ['test/a stop done', 'test/ down done < test/a', 'test/b down done < test/a']);
});

test('a filter means places, patterns of them, and behaviours', t => {
	const {inspect, act: doIn, pass} = inspectWorld({effects: ['web-1', 'web-2', 'db-1'].map(name => spawnPuppet(name))});
	const byPattern = opened(t, inspect({verb: 'trace', filter: {places: ['*/web-*']}}));
	const byBehavior = opened(t, inspect({verb: 'trace', filter: {places: [], behaviors: ['pup*']}}));
	const elsewhere = opened(t, inspect({verb: 'trace', filter: {places: ['other']}}));
	for (const name of ['web-1', 'web-2', 'db-1']) doIn(name, {});
	const told = (stream: string): readonly string[] =>
		steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 20}), () => pass(100))).map(({address: each}) =>
			each.slice(at('').length),
		);
	t.deepEqual(told(byPattern), ['web-1', 'web-2']);
	t.deepEqual(told(byBehavior), ['web-1', 'web-2', 'db-1']);
	t.deepEqual(told(elsewhere), []);
});

test('what follows is traced for so many steps, and again from each that the trace asks for', t => {
	const relay: Behavior<null, null, Message & {readonly left?: number}> = {
		kind: 'Relay',
		init: () => next(null),
		receive: (state, {left = 0}, {self}) => next(state, left === 0 ? [] : [tell(self, {type: 'on', left: left - 1} as Message)]),
	};
	const {
		inspect,
		act: doIn,
		pass,
	} = inspectWorld({effects: [spawnPuppet('a'), {type: 'spawn', name: 'relay', behavior: 'Relay'}]}, {behaviors: {Relay: relay}});
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}}));
	doIn('a', {effects: [tell(at('relay'), {type: 'on', left: limits.traceHops * 2} as Message)]});
	const portion = portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 1_000}), () => pass(100));
	t.is(portion.entries.length, 1 + limits.traceHops);
});

test('a step says how long it waited and how long it took, and shows nothing that is secret', t => {
	const isSecret = (_holder: unknown, member: string): boolean => member === 'text';
	const {inspect, system, tell: tellTo, pass} = inspectWorld(two, {options: {isSecret}});
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}}));
	inspect({verb: 'pause', place: 'test/a'});
	tellTo('a', note('password'));
	pass(30);
	inspect({verb: 'resume', place: 'test/a'});
	t.is(system.size, 3);
	const [entry] = steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 20}), () => pass(100)));
	t.deepEqual([entry?.waitedMs, entry?.tookMs], [30, 0]);
	t.false(JSON.stringify(entry).includes('password'));
});

test('a trace that records tells what replay needs', t => {
	const {inspect, act: doIn, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}, record: true}));
	doIn('a', {note: 'x'});
	const [entry] = steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 20}), () => pass(100)));
	t.like(entry?.recorded, {address: at('a'), behavior: 'puppet', call: {type: 'receive'}, before: {notes: ['init']}});
});

test('a portion is bounded in bytes, not in characters', t => {
	const {inspect, tell: tellTo, run, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}, record: true}));
	for (let sent = 0; sent < 8; sent++) {
		tellTo('a', note('界'.repeat(20_000)));
		run();
	}
	const portion = portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 100}), () => pass(100));
	const bytes = Buffer.byteLength(JSON.stringify(portion.entries));
	t.true(portion.entries.length > 1 && bytes <= limits.streamPortionBytes * 1.01, `${portion.entries.length} entries of ${bytes} bytes`);
});

test('what is not read is bounded, and too many steps a second are not told: they are counted', t => {
	const {inspect, tell: tellTo, run, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test/a']}, count: 100_000}));
	const many = limits.traceStepsAtOnce + 100;
	for (let sent = 0; sent < many; sent++) {
		tellTo('a', note('x'));
		run();
	}
	let entries = 0;
	let dropped = 0;
	for (let reads = 0; reads < 20; reads++) {
		const portion = portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 100}), () => pass(100));
		t.true(portion.entries.length <= 100);
		entries += portion.entries.length;
		dropped += portion.dropped;
	}
	t.deepEqual([entries, dropped], [limits.traceStepsAtOnce, 100]);
	tellTo('a', note('x'));
	t.is(portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 100}), () => pass(100)).entries.length, 1);
});

test('a watch tells the state as it is, then each other one and what led to it', t => {
	const {inspect, act: doIn, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'watch', place: 'test/a', at: ['notes']}));
	doIn('a', {});
	doIn('a', {note: 'hello'});
	const told = states(portionOf(t, inspect({verb: 'read', stream, waitMs: 1_000, count: 10}), () => pass(limits.streamGatherMs)));
	t.deepEqual(
		told.map(({message, cause, state}) => [message, cause, state]),
		[
			['watch', 'watch', ['init']],
			['act', 'test', ['init', 'hello']],
		],
	);
	const waiting = inspect({verb: 'read', stream, waitMs: 1_000, count: 10});
	t.deepEqual(waiting, []);
	doIn('a', {throws: 'broken'});
	pass(limits.streamGatherMs);
	t.deepEqual(
		states(portionOf(t, waiting)).map(({message, state}) => [message, state]),
		[['init', ['init']]],
	);
});

test('of a watch that is read slowly the oldest states are forgotten', t => {
	const {inspect, act: doIn, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'watch', place: 'test/a', at: ['notes', '0']}));
	const whole = opened(t, inspect({verb: 'watch', place: 'test/a'}));
	for (let each = 0; each < limits.streamStates + 4; each++) doIn('a', {note: `n${each}`});
	const portion = portionOf(t, inspect({verb: 'read', stream: whole, waitMs: 100, count: 1_000}), () => pass(100));
	t.deepEqual([portion.entries.length, portion.dropped], [limits.streamStates, 5]);
	t.deepEqual(
		states(portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 9}), () => pass(100))).map(({state}) => state),
		['init'],
	);
});

test('a stream ends when its time is over, when it has told as many, with its actor, when it is closed, and when nobody reads it', t => {
	const {inspect, act: doIn, pass, refusal, system} = inspectWorld(two);
	const last = (stream: string): unknown => portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 10}), () => pass(100)).ended;
	const byTime = opened(t, inspect({verb: 'trace', filter: {places: ['test']}, forMs: 50}));
	pass(50);
	t.is(last(byTime), 'time');
	t.is(refusal({verb: 'read', stream: byTime, waitMs: 0, count: 1}), 'ERR_BAD_REQUEST');

	const byCount = opened(t, inspect({verb: 'trace', filter: {places: ['test']}, count: 2}));
	for (let each = 0; each < 3; each++) doIn('a', {});
	const portion = portionOf(t, inspect({verb: 'read', stream: byCount, waitMs: 100, count: 10}), () => pass(100));
	t.deepEqual([portion.entries.length, portion.ended], [2, 'count']);

	const ofActor = opened(t, inspect({verb: 'watch', place: 'test/b'}));
	doIn('', {effects: [{type: 'stopChild', name: 'b'}]});
	t.is(last(ofActor), 'gone');

	const closed = opened(t, inspect({verb: 'watch', place: 'test/a'}));
	inspect({verb: 'close', stream: closed});
	t.is(refusal({verb: 'read', stream: closed, waitMs: 0, count: 1}), 'ERR_BAD_REQUEST');

	const unread = opened(t, inspect({verb: 'trace', filter: {places: ['test']}}));
	t.not(system.kernel.probe, undefined);
	pass(limits.inspectUnreadMs);
	t.is(system.kernel.probe, undefined);
	t.is(refusal({verb: 'read', stream: unread, waitMs: 0, count: 1}), 'ERR_BAD_REQUEST');
});

test('a stream that is read stays on, and a reader that waits is answered at its time', t => {
	const {inspect, pass} = inspectWorld(two);
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test']}, forMs: limits.inspectForMs}));
	for (let reads = 0; reads < 4; reads++) {
		const portion = portionOf(t, inspect({verb: 'read', stream, waitMs: 10_000, count: 10}), () => pass(10_000));
		t.deepEqual([portion.entries, portion.ended], [[], undefined]);
		pass(limits.inspectUnreadMs - 1);
	}
});

test('a reader that waits hears when its stream is closed by another question', t => {
	const {inspect, inspector} = inspectWorld(two);
	const trace = () => opened(t, inspect({verb: 'trace', filter: {places: ['test']}}));
	const stream = trace();
	const read = inspect({verb: 'read', stream, waitMs: 10_000, count: 10});
	const other = inspect({verb: 'read', stream: trace(), waitMs: 10_000, count: 10});
	t.deepEqual(
		portionOf(t, read, () => inspect({verb: 'close', stream})),
		{entries: [], dropped: 0, ended: 'closed'},
	);
	t.is(other.length, 0);
	inspector.close();
	t.is(portionOf(t, other).ended, 'closed');
});

test('streams and traces of a system are bounded in number, and closing the inspector leaves nothing on', t => {
	const {inspect, refusal, system, inspector, clock} = inspectWorld(two);
	for (let each = 0; each < limits.traces; each++) opened(t, inspect({verb: 'trace', filter: {places: ['test']}}));
	t.is(refusal({verb: 'trace', filter: {places: ['test']}}), 'ERR_BUSY');
	for (let each = limits.traces; each < limits.systemStreams; each++) opened(t, inspect({verb: 'watch', place: 'test/a'}));
	t.is(refusal({verb: 'watch', place: 'test/a'}), 'ERR_BUSY');
	inspector.close();
	t.deepEqual([system.kernel.probe, clock.nextAtMs()], [undefined, undefined]);
});

test('the actor by which people look is not traced', t => {
	const {inspect, act: doIn, pass} = inspectWorld({effects: [spawnPuppet('inspector'), spawnPuppet('a')]});
	const stream = opened(t, inspect({verb: 'trace', filter: {places: ['test']}}));
	doIn('inspector', {});
	doIn('a', {});
	t.deepEqual(story(steps(portionOf(t, inspect({verb: 'read', stream, waitMs: 100, count: 9}), () => pass(100)))), ['test/a act done']);
});

test('a trace goes on through a commit, and tells what was not committed', t => {
	const world = recordWorld({});
	const inspector = createInspector(world.durable.system);
	world.create({name: 'x'});
	world.run();
	let stream = '';
	inspector.inspect({verb: 'trace', filter: {places: ['control/x']}}, outcome => {
		if (outcome.ok) ({stream} = outcome.value as {stream: string});
	});
	world.answer('x', {type: 'write', spec: {a: 1}});
	world.refuse(1);
	world.answer('x', {type: 'write', spec: {a: 2}});
	const entries = steps(read(t, inspector, stream, () => world.pass(limits.streamGatherMs)));
	t.deepEqual(story(entries), [
		'control/x write committed',
		'control/x wake done < control/x',
		'control/x write notCommitted',
		'control/x commitFailed done < control/x',
	]);
	t.is(
		world.durable.journal.of('pods/default/x').every(entry => !('span' in entry)),
		true,
	);
	t.is(recordAt('x'), 'troupe://control/x');
});

test('a trace of one name goes on in another system, over a bus that repeats and loses', t => {
	const world = farWorld(3);
	const here = world.join('here', {effects: [spawnPuppet('a')]});
	const there = world.join('there', {effects: [spawnPuppet('b')]});
	world.trouble = {drop: 0.2, repeat: 0.2, delay: 0.2, delayMs: 20};
	const inspectors = [here, there].map(({system}) => createInspector(system));
	const streams = inspectors.map(inspector => {
		let stream = '';
		inspector.inspect({verb: 'trace', filter: {places: ['here/a']}, trace: 'one'}, outcome => {
			if (outcome.ok) ({stream} = outcome.value as {stream: string});
		});
		return stream;
	});
	const question: Effect = {type: 'ask', to: address('there', 'b'), message: act({}), as: 'answered', id: '1'};
	here.act('a', {effects: [question]});
	world.run(5_000);
	// Its end goes along with what led to it as well.
	here.act('a', {effects: [{type: 'watch', address: address('there', 'b')}, tell(address('there', 'b'), act({stops: true}))]});
	world.run(5_000);
	const entries = inspectors.flatMap((inspector, index) => steps(read(t, inspector, streams[index] ?? '', () => world.run(200))));
	t.deepEqual([...story(entries)].sort(), [
		'here/a act done',
		'here/a act done',
		'here/a answered done < there/b',
		'here/a down done < there/b',
		'there/ down done < there/b',
		'there/b act done < here/a',
		'there/b act done < here/a',
		'there/b stop done < there/b',
	]);
});
