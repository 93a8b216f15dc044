// A hand with its sandbox and containers, played together: tells are delivered in order, commands wait for the test to answer
// them, timers for the test to move the clock. Commits succeed at once unless the test says otherwise.

import {failure, type Outcome} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import {hand} from '../../actors/node/pods/hand.js';
import type {Assign} from '../../actors/node/pods/hand-state.js';
import {nodeBehaviors} from '../../actors/node/root.js';
import type {RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import type {AnyBehavior, Context, Effect, Message, Next} from '../../system/kernel/behavior.js';
import {emptyIndex} from '../../system/index/object-index.js';
import {playContext} from '../../system/kernel/play.js';
import {nowMs} from './_objects.js';

type Actor = {
	readonly behavior: AnyBehavior;
	state: unknown;
	object: ApiObject | undefined;
	readonly timers: Map<string, {atMs: number; message: Message}>;
};
type Open = {readonly to: string; readonly as: string; readonly command: RuntimeCommand};
type Sent = {readonly to: string; readonly message: Message & {readonly [member: string]: unknown}};

export const handAddress = 'troupe://node-a/pods/default.web';

export type Tree = {
	readonly tell: (to: string, message: Message) => void;
	/** Open commands by their key. */
	readonly open: ReadonlyMap<string, Open>;
	readonly answer: (key: string, outcome: Outcome<unknown>) => void;
	readonly pass: (ms: number) => void;
	readonly crash: (address: string) => void;
	/** What went to other actors of the node: node sync, the hands' supervisor. */
	readonly sent: Sent[];
	readonly replies: Outcome<unknown>[];
	readonly lives: (address: string) => boolean;
	/** Whether commits fail from now on. */
	failCommits: boolean;
};

const step = <State>(make: () => Next<State>): Next<State> => make();

/** A hand that was just assigned; with `restore`, one that resumes from the node's cache after a restart. */
export function openTree(assign: Assign, restore: 'fresh' | 'resumed' = 'fresh', known: Context['known'] = emptyIndex): Tree {
	const actors = new Map<string, Actor>();
	const queue: Sent[] = [];
	const open = new Map<string, Open>();
	let clockMs = nowMs;
	const contextOf = (self: string) => {
		const context = playContext({self, nowMs: clockMs, known});
		return {...context, hasChild: (name: string): boolean => actors.has(`${self}/${name}`)};
	};

	function adopt(address: string, actor: Actor, next: Next<unknown>): void {
		const object = actor.behavior.persistence?.objectOf(next.state);
		if (object !== actor.object && tree.failCommits) {
			const signal = {type: 'commitFailed', error: failure('ERR_STORE', {message: 'disk full'})} as const;
			const failed = actor.behavior.signal?.(actor.state, signal, contextOf(address)) as Next<unknown> | undefined;
			if (failed !== undefined) adopt(address, actor, failed);
			return;
		}
		const isRemoved = actor.object !== undefined && object === undefined;
		actor.state = next.state;
		actor.object = object;
		for (const effect of next.effects) runEffect(address, actor, effect);
		if (isRemoved) for (const other of [...actors.keys()]) if (other.startsWith(address)) actors.delete(other);
	}

	function runEffect(address: string, actor: Actor, effect: Effect): void {
		switch (effect.type) {
			case 'tell':
				queue.push({to: effect.to, message: effect.message});
				return;
			case 'reply':
				tree.replies.push(effect.outcome);
				return;
			case 'spawn':
				spawn(`${address}/${effect.name}`, nodeBehaviors[effect.behavior] as AnyBehavior, effect.input);
				return;
			case 'stopChild':
				end(`${address}/${effect.name}`);
				return;
			case 'perform':
				if (!open.has(effect.key)) open.set(effect.key, {to: address, as: effect.as, command: effect.command as RuntimeCommand});
				return;
			case 'wakeAt':
				actor.timers.set(effect.name, {atMs: effect.atMs, message: effect.message});
				return;
			case 'cancelWake':
				actor.timers.delete(effect.name);
				return;
			default:
				throw new Error(`no hand asks for "${effect.type}"`);
		}
	}

	function spawn(address: string, behavior: AnyBehavior, input: unknown): void {
		if (actors.has(address)) return;
		const actor: Actor = {behavior, state: undefined, object: undefined, timers: new Map()};
		actors.set(address, actor);
		adopt(
			address,
			actor,
			step(() => behavior.init(input, contextOf(address)) as Next<unknown>),
		);
		inputs.set(address, input);
	}

	/** With its children. */
	function end(address: string): void {
		for (const other of [...actors.keys()]) if (other === address || other.startsWith(`${address}/`)) actors.delete(other);
	}

	const inputs = new Map<string, unknown>();

	function drain(): void {
		for (let envelope = queue.shift(); envelope !== undefined; envelope = queue.shift()) {
			const {to, message} = envelope;
			const actor = actors.get(to);
			if (actor === undefined) tree.sent.push(envelope);
			else
				adopt(
					to,
					actor,
					step(() => actor.behavior.receive(actor.state, message, contextOf(to)) as Next<unknown>),
				);
		}
	}

	const tree: Tree = {
		open,
		sent: [],
		replies: [],
		failCommits: false,
		lives: address => actors.has(address),
		tell(to, message) {
			queue.push({to, message: message});
			drain();
		},
		answer(key, outcome) {
			const asked = open.get(key);
			if (asked === undefined) throw new Error(`"${key}" is not open; ${[...open.keys()].join(', ')} are`);
			open.delete(key);
			tree.tell(asked.to, {type: asked.as, id: key, outcome} as Message);
		},
		pass(ms) {
			clockMs += ms;
			for (const [address, {timers}] of [...actors]) {
				for (const [name, {atMs, message}] of [...timers]) {
					if (atMs > clockMs) continue;
					timers.delete(name);
					tree.tell(address, message);
				}
			}
		},
		crash(address) {
			const actor = actors.get(address);
			if (actor === undefined) throw new Error(`nobody lives at ${address}`);
			end(address);
			for (const [key, {to}] of [...open]) if (to === address) open.delete(key);
			spawn(address, actor.behavior, inputs.get(address));
			drain();
		},
	};

	if (restore === 'fresh') spawn(handAddress, hand, assign);
	else resume();
	drain();
	return tree;

	function resume(): void {
		const fresh = hand.init(assign, contextOf(handAddress)).state;
		const object = hand.persistence?.objectOf(fresh);
		if (object === undefined) throw new Error('a hand keeps its assignment');
		const state = hand.persistence?.restore(object, undefined) ?? fresh;
		const actor: Actor = {behavior: hand, state, object, timers: new Map()};
		actors.set(handAddress, actor);
		adopt(handAddress, actor, hand.resume?.(state, contextOf(handAddress)) ?? {state, effects: []});
	}
}
