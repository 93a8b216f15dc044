// Trees of supervisors and writers under crashes, ends, kills, and a store that is slow or fails: whatever the seed, every question is
// answered once, no object ever has two writers, and in the end everything is at rest.

import test from 'ava';
import {address} from '../../../api/keys.js';
import {succeeded} from '../../../api/errors.js';
import type {ApiObject} from '../../../api/object.js';
import type {Persistent} from '../../../system/kernel/actor-options.js';
import {ActorSystem} from '../../../system/kernel/actor-system.js';
import {
	next,
	reply,
	replySelf,
	type Behavior,
	type Effect,
	type Message,
	type Shutdown,
	type Strategy,
} from '../../../system/kernel/behavior.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {ObjectIndex} from '../../../system/index/object-index.js';
import {seededRandom, type Random} from '../../../system/time/random.js';
import {createSequencer} from '../../../system/world/sequencer.js';
import type {ActorTree} from '../../../api/inspect.js';
import {strategies} from './supervision-world.js';
import {treeOf} from './actor-tree.js';

type Dice = {
	readonly chance: (share: number) => boolean;
	readonly below: (bound: number) => number;
	readonly pick: <Value>(values: readonly Value[]) => Value;
};

const diceOf = ({next: roll}: Random): Dice => ({
	chance: share => roll() < share,
	below: bound => roll() * bound,
	pick: values => values[Math.floor(roll() * values.length)] as (typeof values)[number],
});

type Children = {readonly children: readonly Effect[]};

/** Starts its children, and anew those that ended. */
const supervisorOf = (strategy: Strategy, {chance}: Dice): Behavior<Children, Children, Message> => ({
	kind: strategy,
	strategy,
	pastIntensity: 'backOff',
	init(input) {
		if (chance(0.05)) throw new Error('born broken');
		return next(input, input.children);
	},
	receive(state, {type, replyTo}) {
		if (type === 'throw') throw new Error('a bug');
		return next(state, [...(type === 'again' ? state.children : []), ...reply(replyTo, succeeded(null))]);
	},
	signal: (state, {type}, {nowMs}) =>
		next(state, type === 'down' ? [{type: 'wakeAt', name: 'again', atMs: nowMs + 500, message: {type: 'again'}}] : []),
});

type Written = {readonly object: ApiObject | undefined};

/** Writes its object when it is told to. */
const writer = ({chance}: Dice): Behavior<{readonly name: string}, Written, Message> => ({
	kind: 'Writer',
	pastIntensity: 'backOff',
	init({name}) {
		const metadata = {name, namespace: 'x', uid: 'u', resourceVersion: '', generation: 1, creationTimestamp: ''};
		return next({object: {apiVersion: 'v1', kind: 'Pod', metadata}});
	},
	resume(state) {
		if (chance(0.1)) throw new Error('cannot be resumed');
		return next(state);
	},
	receive({object}, {type, replyTo}) {
		if (type === 'throw') throw new Error('a bug');
		const state = {object: type === 'write' && object !== undefined ? {...object} : object};
		const {effects} = next(state, replySelf(replyTo));
		return {state, effects, ...(type === 'end' ? {stop: true as const} : {})};
	},
	persistence: {
		key: ({object}) => `pods/x/${object?.metadata.name ?? ''}`,
		objectOf: ({object}) => object,
		withObject: (_state, object) => ({object}),
		restore: object => ({object}),
	},
});

/** Decides commits late, refuses some, and takes longer for a few than anybody waits; `broken` is told of two at a time of one object. */
function slowStore(clock: ManualClock, {chance, below}: Dice, broken: (what: string) => void): Persistent {
	const index = new ObjectIndex(() => []);
	const open = new Set<string>();
	return {
		known: index,
		recordEvent: () => undefined,
		submit({key, object, done}) {
			if (open.has(key)) broken(`"${key}" has two writers`);
			open.add(key);
			clock.after(chance(0.05) ? 8_000 : below(200), () => {
				open.delete(key);
				if (chance(0.15)) done({ok: false, error: {code: 'ERR_STORE', message: 'refused', details: {}}});
				else done({ok: true, change: index.apply(key, index.version + 1, object, () => '{}')});
			});
		},
	};
}

/** Some children with their own, and the paths of all. */
function family({chance, below, pick}: Dice, depth: number, above: string, paths: string[]): Effect[] {
	return Array.from({length: 2 + Math.floor(below(3))}, (): Effect => {
		const name = `c${paths.length}`;
		const path = above === '' ? name : `${above}/${name}`;
		paths.push(path);
		const isSupervisor = depth > 0 && chance(0.5);
		return {
			type: 'spawn',
			name,
			behavior: isSupervisor ? pick(strategies) : 'writer',
			input: isSupervisor ? {children: family({chance, below, pick}, depth - 1, path, paths)} : {name},
			restart: pick(['permanent', 'permanent', 'transient', 'temporary'] as const),
			...(chance(0.3) ? {shutdownMs: pick<Shutdown>(['brutalKill', 300, 'infinity'])} : {}),
		};
	});
}

const restless = (node: ActorTree): readonly string[] => [
	...(node.state === 'running' && node.waiting === 0 ? [] : [`${node.address} is ${node.state}, ${node.waiting} wait`]),
	...node.children.flatMap(restless),
];

/** What is broken after a life as the seed says. */
function lifeOf(seed: number): readonly string[] {
	const random = seededRandom(seed);
	const dice = diceOf(random);
	const clock = new ManualClock();
	const executor = createSequencer(random);
	const broken: string[] = [];
	const system = new ActorSystem({
		name: 'test',
		executor,
		clock,
		random,
		persistent: slowStore(clock, dice, what => broken.push(what)),
		behaviors: {writer: writer(dice), ...Object.fromEntries(strategies.map(strategy => [strategy, supervisorOf(strategy, dice)]))},
	});
	const paths: string[] = [''];
	system.start(dice.pick(strategies), {children: family(dice, 2, '', paths)});
	const run = (ms: number): void => {
		const untilMs = clock.nowMs() + ms;
		for (;;) {
			if (executor.runOne()) continue;
			if ((clock.nextAtMs() ?? Number.POSITIVE_INFINITY) > untilMs || !clock.fireNext()) break;
		}
		clock.advance(untilMs - clock.nowMs());
	};
	const answers: number[] = [];
	for (let act = 0; act < 60; act++) {
		const type = dice.pick(['throw', 'throw', 'write', 'write', 'end', 'look']);
		answers.push(0);
		const answered = (): void => void (answers[act] = (answers[act] ?? 0) + 1);
		system.ask(address('test', dice.pick(paths)), {type}, {deadlineMs: 60_000, cause: 'test'}, answered);
		if (dice.chance(0.7)) run(dice.below(400));
	}
	run(3_600_000);
	const root = treeOf(system);
	if (answers.some(count => count !== 1)) broken.push(`answers: ${answers.join()}`);
	return [...broken, ...(root === undefined ? ['there is no tree'] : restless(root))];
}

test('whatever crashes, ends, hangs or is refused, each question has one answer, each object one writer, and all comes to rest', t => {
	for (let seed = 1; seed <= 60; seed++) t.deepEqual(lifeOf(seed), [], `seed ${seed}`);
});
