// Cells against raw nact, in turn: the same messages to the same number of actors, once through a cell with its behaviour, mailbox and
// supervision, once through a bare nact actor that does nothing but count.

import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {dispatch, spawn, start, stop} from 'nact';
import {address, type Address} from '../api/keys.js';
import {ActorSystem} from '../system/kernel/actor-system.js';
import {next, tell, type AnyBehavior, type Behavior, type Effect, type Message} from '../system/kernel/behavior.js';
import {systemClock} from '../system/time/clock.js';
import {createNactExecutor} from '../system/kernel/nact-executor.js';
import {systemRandom} from '../system/time/random.js';
import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import {ratios, type Row} from './harness/table.js';

const defaultRounds = 5;
const messages = 100_000;
const roundRobinActors = 1_000;
const roundTrips = 50_000;
const idleActors = 20_000;
const runnableActors = 10_000;
const runnableMs = 1_000;
const answerMs = 60_000;

/** One side: cells, or nact alone. Rates are messages a second. */
type Side = {
	readonly oneActor: () => Promise<number>;
	readonly roundRobin: () => Promise<number>;
	readonly pingPong: () => Promise<number>;
	/** Heap bytes of one actor that has nothing to do. */
	readonly idleBytes: () => Promise<number>;
	/** The longest time in which no timer had its turn while all actors had something to do, in milliseconds. */
	readonly silenceMs: () => Promise<number>;
};

export const cellsBenchmark: Benchmark = {
	name: 'cells',
	about: 'messages through cells, and through nact alone',
	async run({rounds = defaultRounds}) {
		const table = measures.map(({what, unit, of}) => ({what, unit, of, ours: [] as number[], bare: [] as number[]}));
		for (let round = 0; round < rounds; round++) {
			for (const {of, ours, bare} of table) {
				ours.push(await within(answerMs, 'the cells', of(cells)));
				bare.push(await within(answerMs, 'nact', of(nactAlone)));
			}
		}
		return table.flatMap(({what, unit, ours, bare}): Row[] => [
			{what, values: ours, unit},
			{what: `${what}, nact alone`, values: bare, unit},
			{what: `${what}: cells / nact`, values: ratios(ours, bare), unit: 'x'},
		]);
	},
};

const measures: readonly {readonly what: string; readonly unit: string; readonly of: (side: Side) => Promise<number>}[] = [
	{what: 'one actor', unit: 'messages/s', of: side => side.oneActor()},
	{what: `${roundRobinActors} actors in turn`, unit: 'messages/s', of: side => side.roundRobin()},
	{what: 'ping-pong, one under way', unit: 'messages/s', of: side => side.pingPong()},
	{what: 'idle actor', unit: 'bytes', of: side => side.idleBytes()},
	{what: `longest silence, ${runnableActors} runnable`, unit: 'ms', of: side => side.silenceMs()},
];

/** Messages a second of a run that calls back when the last was handled. */
function rateOf(count: number, run: (done: () => void) => void): Promise<number> {
	return new Promise(resolve => {
		const startedAt = performance.now();
		run(() => resolve((count * 1_000) / (performance.now() - startedAt)));
	});
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Finalisers and weak references may need a second look. */
async function heapBytes(): Promise<number> {
	for (let look = 0; look < 6; look++) {
		collectGarbage();
		await new Promise(resolve => setImmediate(resolve));
	}
	return process.memoryUsage().heapUsed;
}

async function bytesEach(fill: () => Promise<() => void>): Promise<number> {
	const before = await heapBytes();
	const empty = await fill();
	const after = await heapBytes();
	empty();
	return (after - before) / idleActors;
}

/** The longest gap between two turns of a timer of 1 ms. */
async function longestSilenceMs(begin: () => () => void): Promise<number> {
	const end = begin();
	const endsAt = performance.now() + runnableMs;
	let longest = 0;
	for (let last = performance.now(); last < endsAt;) {
		await new Promise(resolve => setTimeout(resolve, 1));
		const now = performance.now();
		longest = Math.max(longest, now - last);
		last = now;
	}
	end();
	return longest;
}

// ---- cells -----------------------------------------------------------------------------------------------------------------

type Count = Message & {readonly left?: number};

/** Calls its owner in the benchmark when the last message of a run was handled. */
let whenCounted: () => void = () => undefined;
let counted = 0;
let awaited = 0;
/** Whether runnable actors go on. */
let running = false;

function count(): void {
	if (++counted === awaited) whenCounted();
}

function awaitCount(messagesAwaited: number, done: () => void): void {
	counted = 0;
	awaited = messagesAwaited;
	whenCounted = done;
}

const counter: Behavior<null, null, Message> = {
	kind: 'Counter',
	init: () => next(null),
	receive(state) {
		count();
		return next(state);
	},
};

/** Sends back until nothing is left. */
const player: Behavior<Address, Address, Count> = {
	kind: 'Player',
	init: other => next(other),
	receive(other, {left = 0}) {
		count();
		return next(other, left === 0 ? [] : [tell<Count>(other, {type: 'ball', left: left - 1})]);
	},
};

/** Has always something to do. */
const runner: Behavior<null, null, Message> = {
	kind: 'Runner',
	init: () => next(null),
	receive: (state, message, {self}) => next(state, running ? [tell(self, message)] : []),
};

/** Starts the others and sends to them: what comes from outside a system is bounded. */
const parent: Behavior<readonly Effect[], null, Message & {readonly effects?: readonly Effect[]}> = {
	kind: 'Parent',
	init: children => next(null, children),
	receive: (state, {effects = []}) => next(state, effects),
};

const behaviors: {readonly [name: string]: AnyBehavior} = {Parent: parent, Counter: counter, Player: player, Runner: runner};

const name = 'bench';
const child = (index: number): string => `a${index}`;
const childAddress = (index: number): Address => address(name, child(index));

const spawns = (number: number, behavior: string, input: (index: number) => unknown = () => null): Effect[] =>
	Array.from({length: number}, (_, index) => ({type: 'spawn', name: child(index), behavior, input: input(index)}));

type Tree = {readonly send: (effects: readonly Effect[]) => void; readonly close: () => void};

async function treeOf(children: readonly Effect[]): Promise<Tree> {
	const executor = createNactExecutor(systemClock);
	const system = new ActorSystem({name, executor, clock: systemClock, random: systemRandom, behaviors});
	system.start('Parent', children);
	// Every first step is behind those that are asked for now.
	await new Promise<void>(resolve => executor.defer(resolve));
	return {
		send: effects => system.tell(address(name, ''), {type: 'send', effects} as Message, 'bench'),
		close() {
			system.close();
			executor.close();
		},
	};
}

async function rateOfCells(children: readonly Effect[], effects: readonly Effect[], total: number): Promise<number> {
	const tree = await treeOf(children);
	const rate = await rateOf(total, done => {
		awaitCount(total, done);
		tree.send(effects);
	});
	tree.close();
	return rate;
}

const cells: Side = {
	oneActor: () => rateOfCells(spawns(1, 'Counter'), tells(1), messages),
	roundRobin: () => rateOfCells(spawns(roundRobinActors, 'Counter'), tells(roundRobinActors), messages),
	pingPong: () =>
		rateOfCells(
			spawns(2, 'Player', index => childAddress(1 - index)),
			[tell<Count>(childAddress(0), {type: 'ball', left: roundTrips - 1})],
			roundTrips,
		),
	idleBytes: () => bytesEach(async () => (await treeOf(spawns(idleActors, 'Counter'))).close),
	async silenceMs() {
		const tree = await treeOf(spawns(runnableActors, 'Runner'));
		return longestSilenceMs(() => {
			running = true;
			tree.send(Array.from({length: runnableActors}, (_, index) => tell(childAddress(index), {type: 'run'})));
			return () => {
				running = false;
				tree.close();
			};
		});
	},
};

const tells = (actors: number): Effect[] =>
	Array.from({length: messages}, (_, index) => tell(childAddress(index % actors), {type: 'count'}));

// ---- nact alone ------------------------------------------------------------------------------------------------------------

type NactRef = ReturnType<typeof spawnCounter>;
type NactSystem = ReturnType<typeof start>;

const spawnCounter = (system: NactSystem, index: number) =>
	spawn(
		system,
		(state: null, _message: Message): null => {
			count();
			return state;
		},
		child(index),
		{initialState: null},
	);

function counters(number: number): {readonly system: NactSystem; readonly refs: readonly NactRef[]} {
	const system = start();
	return {system, refs: Array.from({length: number}, (_, index) => spawnCounter(system, index))};
}

async function rateOfNact(actors: number): Promise<number> {
	const {system, refs} = counters(actors);
	const rate = await rateOf(messages, done => {
		awaitCount(messages, done);
		for (let sent = 0; sent < messages;) {
			for (const ref of refs) {
				dispatch(ref, {type: 'count'});
				if (++sent === messages) break;
			}
		}
	});
	stop(system);
	return rate;
}

function nactPlayers(): {readonly system: NactSystem; readonly first: {readonly ref: NactRef}} {
	const system = start();
	const refs: NactRef[] = [];
	for (let index = 0; index < 2; index++) {
		const play = (state: null, message: Message): null => {
			count();
			const {left = 0} = message as Count;
			const other = refs[1 - index];
			if (left > 0 && other !== undefined) dispatch(other, {type: 'ball', left: left - 1} as Message);
			return state;
		};
		refs.push(spawn(system, play, child(index), {initialState: null}));
	}
	const [ref] = refs;
	if (ref === undefined) throw new Error('nact gave no actor');
	return {system, first: {ref}};
}

const nactAlone: Side = {
	oneActor: () => rateOfNact(1),
	roundRobin: () => rateOfNact(roundRobinActors),
	async pingPong() {
		const {system, first} = nactPlayers();
		const rate = await rateOf(roundTrips, done => {
			awaitCount(roundTrips, done);
			dispatch(first.ref, {type: 'ball', left: roundTrips - 1} as Message);
		});
		stop(system);
		return rate;
	},
	idleBytes: () =>
		bytesEach(() => {
			const {system, refs} = counters(idleActors);
			return Promise.resolve(() => {
				for (const ref of refs) stop(ref);
				stop(system);
			});
		}),
	silenceMs: () =>
		longestSilenceMs(() => {
			const system = start();
			running = true;
			for (let index = 0; index < runnableActors; index++) {
				const run = (state: null, message: Message, {self}: {self: Parameters<typeof dispatch>[0]}): null => {
					if (running) dispatch(self, message);
					return state;
				};
				dispatch(spawn(system, run, child(index), {initialState: null}), {type: 'run'});
			}
			return () => {
				running = false;
				stop(system);
			};
		}),
};
