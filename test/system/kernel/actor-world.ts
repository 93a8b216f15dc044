// One actor system in time of its own: nothing runs until the test says so, turns in the order in which they were asked for.

import type {Outcome} from '../../../api/errors.js';
import {address} from '../../../api/keys.js';
import type {ActorSystemOptions} from '../../../system/kernel/actor-options.js';
import {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {AnyBehavior, Message} from '../../../system/kernel/behavior.js';
import type {Executor} from '../../../system/kernel/executor.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import type {DeadLetter, LifecycleEvent} from '../../../system/kernel/observer.js';
import {seededRandom} from '../../../system/time/random.js';
import {puppet, type Play} from './puppet.js';

export type FifoExecutor = Executor & {
	/** Runs all that can run without time passing; throws when that never ends. */
	readonly run: () => void;
	readonly runOne: () => boolean;
	/** Turns that were given. */
	readonly turns: () => number;
};

const endless = 1_000_000;

export function createFifo(): FifoExecutor {
	const ready: (() => void)[] = [];
	let turns = 0;
	const runOne = (): boolean => {
		const next = ready.shift();
		next?.();
		return next !== undefined;
	};
	return {
		seat(turn) {
			let requested = false;
			let gone = false;
			const run = (): void => {
				requested = false;
				if (gone) return;
				turns++;
				if (turn()) request();
			};
			const request = (): void => {
				if (requested || gone) return;
				requested = true;
				ready.push(run);
			};
			return {request, leave: () => void (gone = true)};
		},
		defer: callback => void ready.push(callback),
		close: () => void (ready.length = 0),
		runOne,
		run() {
			for (let steps = 0; runOne(); steps++) if (steps > endless) throw new Error('it never comes to rest');
		},
		turns: () => turns,
	};
}

/** What was seen of a system: for assertions. */
export type Seen = {
	readonly lifecycle: LifecycleEvent[];
	readonly deadLetters: DeadLetter[];
	readonly escalations: string[];
};

export type ActorWorld = Seen & {
	readonly system: ActorSystem;
	readonly clock: ManualClock;
	readonly executor: FifoExecutor;
	/** What puppets wrote down, in order: `path: line`. */
	readonly log: string[];
	readonly run: () => void;
	/** Lets time pass, and everything run that falls due. */
	readonly pass: (ms: number) => void;
	readonly tell: (path: string, message: Message) => void;
	/** Outcomes appear in the list as they come. */
	readonly ask: (path: string, message: Message, deadlineMs?: number) => Outcome<unknown>[];
	/** Tells a puppet what to do and lets everything run. */
	readonly act: (path: string, play: Play) => void;
	readonly at: (path: string) => string;
	/** Behaviour, state and children of each actor below, as indented lines. */
	readonly states: () => readonly string[];
};

export const at = (path: string): string => address('test', path);

export const lifecycleOf = ({lifecycle}: Seen): readonly string[] =>
	lifecycle.map(event => `${event.type} ${event.address.slice(at('').length)}`);

export const lettersOf = ({deadLetters}: Seen): readonly string[] =>
	deadLetters.map(({to, messageType, why}) => `${messageType} to ${to.slice(at('').length)}: ${why}`);

export const observing = (): Seen & Pick<ActorSystemOptions, 'observer' | 'onEscalation'> => {
	const lifecycle: LifecycleEvent[] = [];
	const deadLetters: DeadLetter[] = [];
	const escalations: string[] = [];
	return {
		lifecycle,
		deadLetters,
		escalations,
		observer: {lifecycle: event => lifecycle.push(event), deadLetter: letter => deadLetters.push(letter)},
		onEscalation: ({message}) => escalations.push(message),
	};
};

/** Lets time pass in small steps, so that what a timer sets going runs before the next timer. */
export function passing(clock: ManualClock, executor: FifoExecutor): (ms: number) => void {
	return ms => {
		const untilMs = clock.nowMs() + ms;
		executor.run();
		for (let due = clock.nextAtMs(); due !== undefined && due <= untilMs; due = clock.nextAtMs()) {
			clock.fireNext();
			executor.run();
		}
		clock.advance(untilMs - clock.nowMs());
	};
}

/** A system called `test` whose root is a puppet that was told `first`. */
export function actorWorld(
	first: Play = {},
	over: Partial<ActorSystemOptions> = {},
	behaviors: {readonly [name: string]: AnyBehavior} = {},
): ActorWorld {
	const clock = new ManualClock();
	const executor = createFifo();
	const log: string[] = [];
	const {observer, onEscalation, ...seen} = observing();
	const system = new ActorSystem({
		name: 'test',
		executor,
		clock,
		random: seededRandom(1),
		behaviors: {puppet: puppet(line => log.push(line)), ...behaviors},
		...(observer === undefined ? {} : {observer}),
		...(onEscalation === undefined ? {} : {onEscalation}),
		...over,
	});
	system.start('puppet', first);
	executor.run();
	const tell = (path: string, message: Message): void => system.tell(at(path), message, 'test');
	return {
		...seen,
		system,
		clock,
		executor,
		log,
		run: executor.run,
		pass: passing(clock, executor),
		tell,
		ask(path, message, deadlineMs = 1_000) {
			const outcomes: Outcome<unknown>[] = [];
			system.ask(at(path), message, {deadlineMs, cause: 'test'}, outcome => outcomes.push(outcome));
			return outcomes;
		},
		act(path, play) {
			tell(path, {type: 'act', play} as Message);
			executor.run();
		},
		at,
		states: () => [...system.addresses()].map(each => each.slice(at('').length)),
	};
}
