import test from 'ava';
import {eventsStoreKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {EventLog, type ObjectEvent} from '../../../system/commit/event-log.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {recordKey, recordWorld} from './record-world.js';

const key = recordKey('web');

function aLog(clock = new ManualClock()) {
	const stored = new Map<string, string>();
	const waiting: (() => void)[] = [];
	let takes = true;
	let defers = false;
	let writes = 0;
	const gone = new Set<string>();
	const heard: ObjectEvent[] = [];
	const log = new EventLog({
		clock,
		onEvent: (_key, event) => heard.push(event),
		isThere: each => !gone.has(each),
		put(storeKey, body, done) {
			writes++;
			const taken = takes;
			const write = (): void => {
				if (taken && body === undefined) stored.delete(storeKey);
				else if (taken && body !== undefined) stored.set(storeKey, body());
				done(taken);
			};
			if (defers) waiting.push(write);
			else write();
		},
	});
	return {
		log,
		clock,
		stored,
		gone,
		heard,
		writes: () => writes,
		refuse: (refused: boolean) => (takes = !refused),
		defer: () => (defers = true),
		settle: () => {
			for (const write of waiting.splice(0)) write();
		},
		record: (reason: string, message = reason, about = key) => log.record(about, {event: 'Normal', reason, message}),
	};
}

test('an object begins without the events of another that had its name', t => {
	const {log, record, stored} = aLog();
	record('Crashed');
	log.flush();
	t.is(stored.size, 1);
	log.forget(key);
	t.deepEqual([log.of(key), stored.size], [[], 0]);
	record('Started');
	t.deepEqual(
		log.of(key).map(({reason, count}) => [reason, count]),
		[['Started', 1]],
	);
});

test('of too many objects that are gone, the events of those gone first are forgotten, also in the store; of the others they are told', t => {
	const {log, record, stored, gone} = aLog();
	record('Created');
	const keys = Array.from({length: limits.goneObjects + 10}, (_, index) => recordKey(`gone-${index}`));
	for (const [index, each] of keys.entries()) {
		record('Created', 'Created', each);
		gone.add(each);
		log.left(each);
		// What is told of it later is forgotten with it.
		if (index % 2 === 0) record('Stopped', 'Stopped', each);
	}
	log.flush();
	t.deepEqual(
		keys.filter(each => log.of(each).length === 0),
		keys.slice(0, 10),
	);
	t.is(stored.size, limits.goneObjects + 1);
	t.is(log.of(key).length, 1);
});

test('events of one reason are one, with a count, the newest words, and both times', t => {
	const {log, clock, record} = aLog();
	const firstAtMs = clock.nowMs();
	record('Pulled', 'first');
	record('Started');
	clock.advance(1_000);
	record('Pulled', 'second');
	log.record(key, {event: 'Warning', reason: 'Pulled', message: 'another type'});
	t.deepEqual(
		log.of(key).map(({type, reason, message, count}) => [type, reason, message, count]),
		[
			['Normal', 'Started', 'Started', 1],
			['Normal', 'Pulled', 'second', 2],
			['Warning', 'Pulled', 'another type', 1],
		],
	);
	t.like(log.of(key)[1], {firstAtMs, lastAtMs: firstAtMs + 1_000});
});

test('what happens to several parts of an object, or in several ways, is counted apart, also after a start', t => {
	const {log, stored} = aLog();
	const of = (fieldPath: string, message: string, aspect?: string): void =>
		log.record(key, {event: 'Warning', reason: 'Unhealthy', message, fieldPath, ...(aspect === undefined ? {} : {aspect})});
	of('spec.containers{a}', 'one');
	of('spec.containers{b}', 'two');
	of('spec.containers{b}', 'three', 'liveness');
	log.flush();
	const again = aLog().log;
	for (const body of stored.values()) again.load(key, body);
	for (const each of [log, again]) {
		each.record(key, {event: 'Warning', reason: 'Unhealthy', message: 'four', fieldPath: 'spec.containers{a}'});
		t.deepEqual(
			each.of(key).map(({fieldPath, message, count}) => [fieldPath, message, count]),
			[
				['spec.containers{b}', 'two', 1],
				['spec.containers{b}', 'three', 1],
				['spec.containers{a}', 'four', 2],
			],
		);
	}
});

test('different causes of one reason are kept apart, and leave room for the rest', t => {
	const {log, record} = aLog();
	record('Scheduled');
	const end = (aspect: string): void => log.record(key, {event: 'Warning', reason: 'Crashed', message: aspect, aspect});
	for (const code of ['143', '7', '137 (OOMKilled)', '7']) end(`exit ${code}`);
	const told = (): unknown => log.of(key).map(({message, count}) => [message, count]);
	t.deepEqual(told(), [
		['Scheduled', 1],
		['exit 143', 1],
		['exit 137 (OOMKilled)', 1],
		['exit 7', 2],
	]);
	for (let code = 0; code < 100; code++) end(`exit ${code}`);
	t.deepEqual(told(), [
		['Scheduled', 1],
		...Array.from({length: limits.eventAspects}, (_, at) => [`exit ${100 - limits.eventAspects + at}`, 1]),
	]);
});

test('of many alike the first are told one by one, the others are one event that counts, until the first are forgotten', t => {
	const {log, clock, record, heard} = aLog();
	const make = (name: string): void =>
		log.record(key, {event: 'Normal', reason: 'Created', message: `made ${name}`, aspect: name, isOneOfMany: true});
	record('Created', 'something else');
	const names = Array.from({length: 5_000}, (_, at) => `pod-${at}`);
	for (const name of names) make(name);
	make('pod-2');
	t.is(heard.length, limits.eventAspects, 'of the many nothing is heard before they are written');
	log.flush();
	t.like(heard.at(-1), {message: '(combined from similar events): made pod-4999', count: 4_997});
	t.is(heard.length, limits.eventAspects + 1);
	const told = (): unknown => log.of(key).map(({message, count}) => [message, count]);
	const single = limits.eventAspects - 2;
	t.deepEqual(told(), [
		['something else', 1],
		...names.slice(0, single).flatMap(name => (name === 'pod-2' ? [] : [[`made ${name}`, 1]])),
		['(combined from similar events): made pod-4999', names.length - single],
		['made pod-2', 2],
	]);
	clock.advance(limits.eventTtlMs + 1);
	make('another');
	t.deepEqual(told(), [['made another', 1]]);
});

test('an object has at most so many events: the oldest goes', t => {
	const {log, record} = aLog();
	for (let index = 0; index < limits.eventsPerObject + 5; index++) record(`Reason${index}`);
	t.is(log.of(key).length, limits.eventsPerObject);
	t.is(log.of(key)[0]?.reason, 'Reason5');
});

test('an event is written after 5 s, together with all of its object, and no sooner', t => {
	const {clock, stored, writes, record} = aLog();
	record('One');
	clock.advance(limits.eventFlushMs - 1);
	record('Two');
	t.is(writes(), 0);
	clock.advance(1);
	t.is(writes(), 1);
	t.deepEqual(
		(JSON.parse(stored.get(eventsStoreKey(key)) ?? '[]') as {reason: string}[]).map(({reason}) => reason),
		['One', 'Two'],
	);
	clock.advance(10 * limits.eventFlushMs);
	t.is(writes(), 1, 'nothing new is nothing written');
});

test('the commit of an object takes its events along, once', t => {
	const {log, clock, writes, record} = aLog();
	record('One');
	log.flushWith(key);
	log.flushWith(key);
	log.flushWith(recordKey('other'));
	t.is(writes(), 1);
	clock.advance(limits.eventFlushMs);
	t.is(writes(), 1);
});

test('a write that fails is tried again after 5 s, until it is taken', t => {
	const {clock, stored, writes, refuse, record} = aLog();
	refuse(true);
	record('One');
	clock.advance(3 * limits.eventFlushMs);
	t.is(writes(), 3);
	refuse(false);
	clock.advance(limits.eventFlushMs);
	t.is(stored.size, 1);
	clock.advance(10 * limits.eventFlushMs);
	t.is(writes(), 4);
});

test('after an hour an event is not shown, and its record is removed at the next write', t => {
	const {log, clock, stored, record} = aLog();
	record('Old');
	clock.advance(limits.eventTtlMs);
	t.is(log.of(key).length, 1);
	clock.advance(1);
	t.deepEqual(log.of(key), []);
	t.true(stored.has(eventsStoreKey(key)));
	record('Fresh', 'fresh', recordKey('other'));
	clock.advance(limits.eventFlushMs);
	t.deepEqual([...stored.keys()], [eventsStoreKey(recordKey('other'))]);
	t.deepEqual([...log.keys()], [recordKey('other')]);
});

test('an event that comes back after an hour counts from one', t => {
	const {log, clock, record} = aLog();
	record('Again');
	record('Again');
	clock.advance(limits.eventTtlMs + 1);
	record('Again');
	t.like(log.of(key), [{count: 1, firstAtMs: clock.nowMs()}]);
});

test('what the store holds is read back; what is torn is left out', t => {
	const {log, record, stored} = aLog();
	record('One');
	log.flush();
	const [body = ''] = stored.values();
	const {log: next} = aLog();
	for (const torn of ['', '{', 'null', '7', '[1, null, {"reason": "x"}]', body.replace('"Normal"', '"Loud"')]) next.load(key, torn);
	t.deepEqual([...next.keys()], []);
	next.load(key, body);
	t.deepEqual(next.of(key), log.of(key));
});

test('at the end everything is written, and the end waits for it', t => {
	const {log, clock, stored, defer, settle, record} = aLog();
	defer();
	record('Earlier');
	log.flush();
	record('Last');
	let finished = 0;
	log.finish(() => finished++);
	t.is(finished, 0);
	settle();
	t.is(finished, 1);
	t.regex(stored.get(eventsStoreKey(key)) ?? '', /Last/);
	record('Too late');
	t.is(clock.nextAtMs(), undefined);
});

test('a store that refuses at the end does not hold it up', t => {
	const {log, clock, refuse, record} = aLog();
	refuse(true);
	record('One');
	let finished = 0;
	log.finish(() => finished++);
	t.is(finished, 1);
	t.is(clock.nextAtMs(), undefined);
});

// ---- inside a system --------------------------------------------------------------------------------------------------------------

const event = (reason: string) => ({type: 'event', event: 'Normal', reason, message: reason}) as const;

test('events go with the next commit of their object, in one batch, and take a version of their own', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	world.answer('web', {type: 'act', effects: [event('Seen')]});
	const batches = world.batches();
	world.answer('web', {type: 'write', spec: {n: 1}});
	t.is(world.batches(), batches + 1);
	t.true(world.data.bodies.has(eventsStoreKey(key)));
	t.is(world.durable.index.entry(key)?.version, 2);
	t.is(world.durable.index.version, 3);
	t.deepEqual(
		world.events.map(([about, {reason}]) => [about, reason]),
		[[key, 'Seen']],
	);
});

test('events survive a restart, also those of the last moment before a stop', t => {
	const world = recordWorld();
	world.create({name: 'web'});
	world.answer('web', {type: 'act', effects: [event('Seen')]});
	world.answer('web', {type: 'write', spec: {n: 1}});
	world.hold();
	world.ask('web', {type: 'write', spec: {n: 2}, effects: [event('Last')]});
	world.run();
	t.is(world.stop(), 0);
	world.release();
	t.true(world.durable.events.of(key).some(({reason}) => reason === 'Last'));
	const again = recordWorld({data: world.data, clock: world.clock});
	t.deepEqual(
		again.durable.events.of(key).map(({reason}) => reason),
		['Seen', 'Last'],
	);
});
