// Behaviours are values, effects are data.
//
// A behaviour is a handful of pure functions from (state, message, context) to a new state and a list of effects. One
// interpreter runs the effects; the same behaviour runs under nact, under `play` and in the virtual world.

import type {Failure, Outcome} from '../../api/errors.js';
import type {Address, ObjectKey} from '../../api/keys.js';
import type {ApiObject, Draft} from '../../api/object.js';
import type {Known} from '../index/object-index.js';
import type {Beside} from '../index/parts.js';
import type {Random} from '../time/random.js';

/** Where an answer goes: it arrives there as `{type: as, id, outcome}`. */
export type ReplyTo = {readonly to: Address; readonly as: string; readonly id: string};

/** Everything that is sent has a type; what expects an answer carries its reply address. */
export type Message = {readonly type: string; readonly replyTo?: ReplyTo | undefined};

/** An answer as it arrives. Only answers carry `id` and `outcome`; one whose question is closed is dropped. */
export type Reply<Value = unknown, As extends string = string> = {
	readonly type: As;
	readonly id: string;
	readonly outcome: Outcome<Value>;
};

/** An answer of whatever value to whatever question. */
export type AnyReply = Message & {readonly id: string; readonly outcome: Outcome<unknown>};

export const isReply = (message: Message): message is AnyReply => 'outcome' in message && 'id' in message;

/** What one actor asks the runtime to do. Plain data: it can be compared, logged, traced and replayed. */
export type Effect =
	/** `cause`: what set it going, where that is not what set this step going. */
	| {readonly type: 'tell'; readonly to: Address; readonly message: Message; readonly cause?: string}
	/** Like tell; the answer comes back as `{type: as, id, outcome}`, a time-out as a failed outcome. One open ask per (as, id). */
	| {
			readonly type: 'ask';
			readonly to: Address;
			readonly message: Message;
			readonly as: string;
			readonly id: string;
			readonly deadlineMs?: number;
			readonly cause?: string;
	  }
	| {readonly type: 'reply'; readonly to: ReplyTo; readonly outcome: Outcome<unknown>}
	/** Answers with the object of this actor as it was committed by this very step. */
	| {readonly type: 'replySelf'; readonly to: ReplyTo}
	/** Starts a child of this actor; a name that lives already is left alone. With `snapshot`, from that committed object. */
	| {
			readonly type: 'spawn';
			readonly name: string;
			readonly behavior: string;
			readonly input?: unknown;
			readonly snapshot?: ObjectKey;
			readonly restart?: Restart;
			readonly shutdownMs?: Shutdown;
	  }
	/** Stops a child, its children first. */
	| {readonly type: 'stopChild'; readonly name: string}
	/** Be told `down` once when the actor ends, here or in another system; at once when there is none. A restart is no end. */
	| {readonly type: 'watch'; readonly address: Address}
	/** No `down` of it any more, not even one that waits. */
	| {readonly type: 'unwatch'; readonly address: Address}
	/** The system at this name is declared gone: actors that watch there or wait for an answer from there are told. */
	| {readonly type: 'declareGone'; readonly system: string}
	/** Writes asked of other objects; each is an open entry of `pending` until its outcome. */
	| {readonly type: 'create'; readonly object: Draft; readonly id: string}
	| {readonly type: 'update'; readonly key: ObjectKey; readonly message: Message; readonly id: string}
	| {readonly type: 'delete'; readonly key: ObjectKey; readonly uid: string; readonly id: string; readonly graceSeconds?: number}
	/** Something at the edge of the process. The key joins a repeat to the one that runs. The outcome is `{type: as, id: key, outcome}`. */
	| {readonly type: 'perform'; readonly command: Command; readonly key: string; readonly as: string; readonly deadlineMs?: number}
	/**
	 * One named timer; a second one of that name replaces it. The message comes at that time, or at once when it is past, and at the
	 * latest after `atMostMs`: a time that was stored must not move away with a clock that was set back. `cause`: what its message says by
	 * itself, where that is not what set the timer; of a round that goes on for days that is no reason any more.
	 */
	| {
			readonly type: 'wakeAt';
			readonly name: string;
			readonly atMs: number;
			readonly message: Message;
			readonly atMostMs?: number;
			readonly cause?: string;
	  }
	| {readonly type: 'cancelWake'; readonly name: string}
	/** What happened and why, on this actor's own object. */
	| ({readonly type: 'event'} & EventNews);

export type EventNews = {
	readonly event: 'Normal' | 'Warning';
	readonly reason: string;
	readonly message: string;
	/** The part of the object it is about, as Kubernetes names it: `spec.containers{web}`. Left out: all of it. */
	readonly fieldPath?: string;
	/** What of that part, where one reason says different things of it, such as a probe or an exit code. Only the same again is counted as one. */
	readonly aspect?: string;
	/** One of perhaps thousands of ever other aspects, each told once: beyond a few of them, the others are one event that counts. */
	readonly isOneOfMany?: true;
};

/** What a child is started with: OTP's child specification. */
export type ChildSpec = Omit<Extract<Effect, {type: 'spawn'}>, 'type'>;

/** A command at the edge; the edge knows its types. */
export type Command = {readonly type: string};

/** What its supervisor does when a child ends: starts it again always, only after a crash, or never. */
export type Restart = 'permanent' | 'transient' | 'temporary';

/** What a stop may take, children included; then the actor is killed. The default is `limits.shutdownMs`. */
export type Shutdown = number | 'brutalKill' | 'infinity';

/** What is started again with a child that is: it alone, all its siblings, or those that were started after it. */
export type Strategy = 'oneForOne' | 'oneForAll' | 'restForOne';

/**
 * Why an actor ended: by its own will, as asked, because that took too long, by a bug. Or why that is not known: there was none, or its
 * system is another by now, is declared gone, or takes no more watchers.
 */
export type DownReason =
	{readonly type: 'normal' | 'stopped' | 'killed' | 'noProcess' | 'noConnection'} | {readonly type: 'crashed'; readonly error: Failure};

/** Told by the runtime itself; before any message. */
export type Signal =
	| {readonly type: 'stop'}
	/** `instance` is unique in the system and its life; undefined where none is known. */
	| {readonly type: 'down'; readonly address: Address; readonly instance: number | undefined; readonly reason: DownReason}
	/** The step's commit did not happen; the state is the old one. */
	| {readonly type: 'commitFailed'; readonly error: Failure};

/** An open write of this actor. */
export type Pending = Extract<Effect, {type: 'create' | 'update' | 'delete'}>;

export type Context = {
	readonly self: Address;
	/** What set this step going, worded where the chain began. */
	readonly cause: string;
	readonly nowMs: number;
	/** For lengths of time: this clock is never set. Of this process only, from an arbitrary beginning. */
	readonly monotonicMs: number;
	/** Names of the living children, oldest first. */
	readonly children: readonly string[];
	readonly hasChild: (name: string) => boolean;
	readonly random: Random;
	/** The committed objects of this system; empty where a system has none. */
	readonly known: Known;
	/** Open writes by their id. */
	readonly pending: ReadonlyMap<string, Pending>;
};

export type Next<State> = {
	readonly state: State;
	readonly effects: readonly Effect[];
	readonly beside?: Beside;
	/** Set when the actor ends by its own will after the effects ran. */
	readonly stop?: true;
};

/**
 * The persistent part of an actor: one object under one key. A step whose object is another reference than before is
 * committed before its effects run; `undefined` removes it.
 */
export type Persistence<State, Input = unknown> = {
	readonly key: (state: State) => ObjectKey;
	readonly objectOf: (state: State) => ApiObject | undefined;
	/** The state with the object as committed (the pipeline sets its resourceVersion). */
	readonly withObject: (state: State, object: ApiObject) => State;
	/** A fresh state around a snapshot; `resume` comes right after it. */
	readonly restore: (object: ApiObject, input: Input | undefined) => State;
};

/** How an actor that keeps crashing is parked, instead of taking its supervisor with it. */
export type Parking<State> = {
	/** Messages that `receive` is not given while parked, nor later: `unpark` does what they were for. All others are handled. */
	readonly rests: (message: Message) => boolean;
	/** What is done all the same for a message that rests. */
	readonly meanwhile?: (state: State, context: Context) => Next<State>;
	/** Whether this message removes an object of which not even a state can be made. All others are refused then. */
	readonly forces?: (object: ApiObject, message: Message) => boolean;
	readonly park: (state: State, error: Failure, context: Context) => Next<State>;
	readonly unpark: (state: State, context: Context) => Next<State>;
};

export type Behavior<Input, State, In extends Message> = {
	readonly kind: string;
	/** The first step. A state is anything but undefined: an actor without one is told no signals. */
	readonly init: (input: Input, context: Context) => Next<State>;
	/** After a crash or a start from a snapshot: what is alive decides, not memory. */
	readonly resume?: (state: State, context: Context) => Next<State>;
	/**
	 * Undefined: it knows no such message. That changes nothing; the message is a dead letter, and an asker is told. From a `switch` over all
	 * types of messages it comes by itself: another one can only come from outside of the program.
	 */
	readonly receive: (state: State, message: In, context: Context) => Next<State> | undefined;
	readonly signal?: (state: State, signal: Signal, context: Context) => Next<State>;
	readonly persistence?: Persistence<State, Input>;
	readonly parking?: Parking<State>;
	/** Of its children. Where they are restarted together, their restarts are counted together. The default is `oneForOne`. */
	readonly strategy?: Strategy;
	/**
	 * What becomes of an actor that crashes past its intensity and cannot be parked: its supervisor fails with it (the
	 * default), or it rests with a growing back-off and is tried for ever, and its siblings never notice.
	 */
	readonly pastIntensity?: 'escalate' | 'backOff';
	/** Messages of one key that wait together: the newest replaces the older. Undefined: each is kept. */
	readonly coalesce?: (message: In) => string | undefined;
	/** One line for `tree`: what it is doing. */
	readonly describe?: (state: State) => string;
	/** What keeps it from what it is for, in a line; undefined where nothing does. Such actors come first in `tree`; it is asked of all, at each look. */
	readonly trouble?: (state: State) => string | undefined;
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the registry holds behaviours of every type; `spawn` is checked by its own helper.
export type AnyBehavior = Behavior<any, any, any>;

export const next = <State>(state: State, effects: readonly Effect[] = []): Next<State> => ({state, effects});
export const stop = <State>(state: State, effects: readonly Effect[] = []): Next<State> => ({state, effects, stop: true});
export const tell = <Told extends Message>(to: Address, message: Told): Effect => ({type: 'tell', to, message});
export const reply = (to: ReplyTo | undefined, outcome: Outcome<unknown>): readonly Effect[] =>
	to === undefined ? [] : [{type: 'reply', to, outcome}];
export const replySelf = (to: ReplyTo | undefined): readonly Effect[] => (to === undefined ? [] : [{type: 'replySelf', to}]);

/** Ends an exhaustive switch: a message type without a case does not compile. */
export function unreachable(message: never): never {
	throw new Error(`unexpected message: ${JSON.stringify(message)}`);
}
