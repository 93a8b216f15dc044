// Supervisors of each strategy over puppets, and actors whose commits the test holds in its hand.

import {parseObjectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import type {Persistent} from '../../../system/kernel/actor-options.js';
import {next, type AnyBehavior, type Behavior, type Effect, type Message, type Strategy} from '../../../system/kernel/behavior.js';
import {ObjectIndex} from '../../../system/index/object-index.js';
import {actorWorld, type ActorWorld} from './actor-world.js';
import {puppet, type Play} from './puppet.js';

type Submission = Parameters<Persistent['submit']>[0];

/** Keeps one object, which every `write` commits anew. */
export const keeper = (log: (line: string) => void): Behavior<null, {readonly object: ApiObject | undefined}, Message> => ({
	kind: 'Keeper',
	init: (_input, {self}) => {
		log(`${pathOf(self)}: init`);
		return next({object: undefined});
	},
	receive: (state, {type}, {self}) => {
		if (type !== 'write') return next(state);
		const metadata = {name: nameOf(pathOf(self)), namespace: 'x', uid: 'u', resourceVersion: '', generation: 1, creationTimestamp: ''};
		return next({object: {apiVersion: 'v1', kind: 'Kept', metadata}});
	},
	signal: (state, {type}, {self}) => {
		if (type === 'stop') log(`${pathOf(self)}: signal stop`);
		return next(state);
	},
	persistence: {
		key: ({object}) => `kept/x/${object?.metadata.name ?? ''}`,
		objectOf: ({object}) => object,
		withObject(state, object) {
			log(`${object.metadata.name.replaceAll('.', '/')}: committed`);
			return {...state, object};
		},
		restore: object => ({object}),
	},
});

/** A path that has no slash. */
const nameOf = (path: string): string => path.replaceAll('/', '.');

const pathOf = (self: string): string => self.slice(self.indexOf('/', 'troupe://'.length) + 1);

/** A place for objects that decides nothing by itself. */
export type Holding = {
	readonly persistent: Persistent;
	readonly isCommitting: (path: string) => boolean;
	/** Decides the commit of that actor. */
	readonly settle: (path: string, succeeds?: boolean) => void;
};

export function holding(): Holding {
	const held = new Map<string, Submission>();
	const index = new ObjectIndex(() => []);
	return {
		persistent: {
			known: index,
			submit: submission => void held.set(parseObjectKey(submission.key).name, submission),
			recordEvent: () => undefined,
		},
		isCommitting: path => held.has(nameOf(path)),
		settle(path, succeeds = true) {
			const submission = held.get(nameOf(path));
			held.delete(nameOf(path));
			if (submission === undefined) return;
			const {key, object, done} = submission;
			done(succeeds ? {ok: true, change: index.apply(key, index.version + 1, object, () => '{}')} : full);
		},
	};
}

const full = {ok: false, error: {code: 'ERR_STORE', message: 'the disk is full', details: {}}} as const;

export type SupervisionWorld = ActorWorld & {
	/** Writes down what happens from here on. */
	readonly forget: () => void;
	readonly isCommitting: (path: string) => boolean;
	/** Lets the commit of that actor fail. */
	readonly refuse: (path: string) => void;
	/** Lets it pass. */
	readonly accept: (path: string) => void;
};

export const strategies: readonly Strategy[] = ['oneForOne', 'oneForAll', 'restForOne'];

/** The root is a puppet that was told `first`; `oneForAll` and the like are puppets that supervise so, `keeper` keeps an object. */
export function supervisionWorld(first: Play, behaviors: {readonly [name: string]: AnyBehavior} = {}): SupervisionWorld {
	const log: string[] = [];
	const write = (line: string): void => void log.push(line);
	const {persistent, isCommitting, settle} = holding();
	const supervisors = strategies.map((strategy): [string, AnyBehavior] => [strategy, {...puppet(write), strategy}]);
	const world = actorWorld(
		first,
		{persistent},
		{puppet: puppet(write), keeper: keeper(write), ...Object.fromEntries(supervisors), ...behaviors},
	);
	return {
		...world,
		log,
		forget: () => void (log.length = 0),
		isCommitting,
		refuse(path) {
			settle(path, false);
			world.run();
		},
		accept(path) {
			settle(path);
			world.run();
		},
	};
}

/** A supervisor of that strategy at `s`, with these children. */
export const supervisor = (strategy: Strategy, children: readonly Effect[]): Effect => ({
	type: 'spawn',
	name: 's',
	behavior: strategy,
	input: {effects: children},
});
