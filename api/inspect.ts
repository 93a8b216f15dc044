// What an inspector may ask of the actors of a cluster, and what it is answered: one protocol between systems, over MQTT
// (`docs/topics.md`), over HTTP for what only looks, and in `troupe repl`.
//
// A place is `<system>` or `<system>/<path>`: `control`, `control/pods/default.web-1`, `vm/pods/default.web-1/nginx`. Where a tool asks for a
// `tree`, `top`, `stats`, `deadletters` or `faults`, the empty place stands for every system; each system's answer is then told by itself (`OfSystem`).

import type {Failure, Outcome} from './errors.js';
import type {Address} from './keys.js';
import type {Json, JsonObject} from './object.js';

export type ActorState = 'running' | 'committing' | 'restarting' | 'parked' | 'paused' | 'stopping';

/** One actor, as it is at a moment. Times are of its own system's clock, in milliseconds. */
export type ActorLook = {
	readonly name: string;
	readonly address: Address;
	/** The kind of its behaviour. */
	readonly behavior: string;
	readonly state: ActorState;
	/** What it says it is doing. */
	readonly about: string;
	/** What keeps it from what it is for, as it says itself: a container that cannot start, a pod that no node fits. Left out: nothing. */
	readonly trouble?: string | undefined;
	readonly restarts: number;
	/** Messages in its mailbox. */
	readonly waiting: number;
	/** Messages it has taken since it was started, and what its steps took in all. */
	readonly handled: number;
	readonly stepMs: number;
	/** The last crash, if there was one. */
	readonly failure?: string | undefined;
	/** How long ago that was. */
	readonly failedAgoMs?: number | undefined;
	/** How long a pause still lasts if it is not resumed; only where `state` is `paused`. */
	readonly pausedForMs?: number | undefined;
	/** Faults that are on here, a line each. */
	readonly faults?: readonly string[] | undefined;
	/** How many children it has, whether they are shown or not. */
	readonly childCount: number;
	/**
	 * Of a `tree`: of those below it so many are parked, restarting, paused, under a fault, in trouble, or have crashed within `limits.actorWellMs`.
	 * Left out: none.
	 */
	readonly wrongBelow?: number | undefined;
};

/** An actor with those below it, as deep and as many as was asked for: fewer than `childCount` where they are left out. */
export type ActorTree = ActorLook & {readonly children: readonly ActorTree[]};

/**
 * A value as it can be shown: bounded, and without what is secret. What JSON has not is an object with a member `$` that says what it is:
 *
 * - `{$: 'map', size, of: {key: value, …}}`; where a key is no text, `of` is a list of pairs. `{$: 'set', size, of: [item, …]}`
 * - `{$: '<class>', of: {member: value, …}}`: an instance; `{$: 'object', of: {…}}`: a plain object that has a member `$` itself
 * - `{$: 'undefined'}` in lists and maps (as a member of an object it is left out), `{$: 'number', of: 'NaN'}`, `{$: 'bigint', of: '12'}`,
 *   `{$: 'date', of: '2026-…'}`, `{$: 'bytes', size}`, `{$: 'function', of: 'its name'}`, `{$: 'symbol', of: 'its name'}`, `{$: 'getter'}`
 * - `{$: 'secret'}`
 * - `{$: 'unreadable', of: {error: '…'}}`: it throws when it is looked at, as a Proxy may; in a container, from the member `…` or the last item on
 * - `{$: 'cycle', up: 2}`: the very object that is two levels above
 * - `{$: 'text', of: 'its beginning', characters: 5000}`, and where it is too deep `{$: 'deeper', of: 'list' | 'map' | 'set' | 'object' | '<class>',
 *   size: 3}` (of an instance without a size). Ask for it with `at`.
 * - `{$: 'more', count: 7}`: so many are left out here: as the last item of a list or set, in an object or map as the member `…`
 */
export type Shown = null | boolean | number | string | readonly Shown[] | {readonly [member: string]: Shown};

// ---- what only looks -------------------------------------------------------------------------------------------------------

export type LookRequest =
	/** `depth` levels below the place; of one crowd of children at most `children`, those that are wrong or busy first. */
	| {readonly verb: 'tree'; readonly place: string; readonly depth?: number | undefined; readonly children?: number | undefined}
	/** Its state; `at` leads to a part of it, a member or a key a level. */
	| {readonly verb: 'state'; readonly place: string; readonly at?: readonly string[] | undefined; readonly depth?: number | undefined}
	| {readonly verb: 'mailbox'; readonly place: string}
	| {readonly verb: 'links'; readonly place: string}
	| {readonly verb: 'supervise'; readonly place: string}
	/** The commits of its object; empty for an actor that keeps none. */
	| {readonly verb: 'journal'; readonly place: string}
	/** The actors at and below the place that have most of something. */
	| {readonly verb: 'top'; readonly place: string; readonly by: TopBy; readonly limit?: number | undefined}
	| {readonly verb: 'stats'; readonly place: string}
	/** Messages that reached no actor, newest last. */
	| {readonly verb: 'deadletters'; readonly place: string}
	/** The faults that are on in the system of the place. */
	| {readonly verb: 'faults'; readonly place: string};

export type TopBy = 'mailbox' | 'rate' | 'time' | 'restarts' | 'memory';

export type LookAnswer = {
	readonly tree: ActorTree;
	readonly state: StateLook;
	readonly mailbox: MailboxLook;
	readonly links: LinksLook;
	readonly supervise: SuperviseLook;
	readonly journal: {readonly entries: readonly JournalLook[]};
	/** `counted`: among how many actors. Fewer than there are, where the time was over. */
	readonly top: {readonly actors: readonly TopLook[]; readonly counted: number};
	readonly stats: SystemStats;
	readonly deadletters: {readonly letters: readonly DeadLetterLook[]; readonly total: number};
	readonly faults: FaultsLook;
};

/** `value`: messages, messages a second, milliseconds in steps, restarts, or bytes, roughly. */
export type TopLook = ActorLook & {readonly value: number};

/** `atMs`: wall time. */
export type StateLook = {readonly address: Address; readonly behavior: string; readonly atMs: number; readonly state: Shown};

export type MessageLook = {
	readonly message: Shown & {readonly type: string};
	readonly from: Address;
	readonly cause: string;
};

/** The oldest; `waiting` counts all. */
export type MailboxLook = {readonly waiting: number; readonly signals: readonly string[]; readonly messages: readonly MessageLook[]};

/** Of long lists the first items; the numbers of all are in `counts`. An actor of another system that watches is known by its system alone. */
export type LinksLook = {
	readonly counts: {readonly [list in 'watchers' | 'watching' | 'asks' | 'timers' | 'pending']: number};
	readonly parent: Address | undefined;
	readonly childCount: number;
	readonly watchers: readonly Address[];
	readonly watching: readonly Address[];
	/** Questions that it waits for. */
	readonly asks: readonly {readonly as: string; readonly id: string; readonly to: Address; readonly cause: string}[];
	readonly timers: readonly {readonly name: string; readonly inMs: number}[];
	/** Writes of other objects that it waits for. */
	readonly pending: readonly {readonly id: string; readonly type: 'create' | 'update' | 'delete'; readonly what: string}[];
};

export type SuperviseLook = {
	readonly restart: 'permanent' | 'transient' | 'temporary';
	readonly strategy: 'oneForOne' | 'oneForAll' | 'restForOne';
	readonly pastIntensity: 'escalate' | 'backOff' | 'park';
	/** So many restarts within so long are borne; so many are left now. */
	readonly intensity: number;
	readonly periodMs: number;
	readonly left: number;
	readonly restarts: number;
	readonly lastCrash: {readonly message: string; readonly agoMs: number} | undefined;
	readonly parked: {readonly error: string; readonly retries: number} | undefined;
	readonly supervisor: Address | undefined;
	readonly shutdown: number | 'brutalKill' | 'infinity';
};

export type JournalLook = {
	readonly version: number;
	readonly atMs: number;
	readonly type: string;
	readonly from: Address;
	readonly cause: string;
};

export type DeadLetterLook = {
	readonly atMs: number;
	readonly to: Address;
	readonly from: Address;
	readonly type: string;
	readonly cause: string;
	readonly why: 'noActor' | 'stopped' | 'busy' | 'crashed' | 'notUnderstood' | 'dropped';
};

export type SystemStats = {
	readonly system: string;
	readonly actors: number;
	readonly upMs: number;
	/** By name: messages, commits, crashes, dead letters, slow steps, late answers. */
	readonly counters: {readonly [name: string]: number};
	readonly memoryBytes: number;
	/** CPU time of its process since that began, and which share of the time its event loop was busy since the last look (0 to 1). */
	readonly cpuMs: number;
	readonly loopBusy: number;
};

// ---- what goes on ----------------------------------------------------------------------------------------------------------

/** Which actors a trace begins at: those whose path is, or lies below, one of these; or whose behaviour is of that kind. `*` stands for any part of a name. */
export type TraceFilter = {readonly places: readonly string[]; readonly behaviors?: readonly string[] | undefined};

export type StreamRequest =
	/** Changes of a state, as they are made. */
	| {
			readonly verb: 'watch';
			readonly place: string;
			readonly at?: readonly string[] | undefined;
			readonly forMs?: number | undefined;
			readonly count?: number | undefined;
	  }
	/** Steps of the actors of the filter, and of all that follows from them, in every system. `record`: with all that `replay` needs. */
	| {
			readonly verb: 'trace';
			readonly filter: TraceFilter;
			readonly forMs?: number | undefined;
			readonly count?: number | undefined;
			readonly record?: boolean | undefined;
			/** Its name, the same in every system, by which what goes on from one to another is told in both. The server gives it. */
			readonly trace?: string | undefined;
	  };

export type StreamEntry = WatchEntry | TraceEntry | SystemEntry;

/** Of a trace of several systems: this one is not traced, not any more, or from now on. */
export type SystemEntry = {readonly type: 'system'; readonly system: string; readonly problem: string};

/** The state after a step, and what led to it. The first entry is the state as it is. */
export type WatchEntry = {
	readonly type: 'state';
	readonly atMs: number;
	readonly message: string;
	readonly from: Address;
	readonly cause: string;
	readonly state: Shown;
};

/** One step. Spans are unique in the cluster: `<system>:<number>`. */
export type TraceEntry = {
	readonly type: 'step';
	readonly span: string;
	/** The step that sent the message; undefined where that was not traced. */
	readonly parent: string | undefined;
	readonly atMs: number;
	readonly address: Address;
	readonly behavior: string;
	readonly from: Address;
	readonly message: Shown & {readonly type: string};
	readonly cause: string;
	/** How long it waited in the mailbox, and how long the step took. */
	readonly waitedMs: number;
	readonly tookMs: number;
	readonly outcome: 'done' | 'committed' | 'notCommitted' | 'notUnderstood' | 'crashed' | 'deadLetter';
	readonly error?: string | undefined;
	/** What it asked for: an effect a line, such as `tell troupe://…  wake`. */
	readonly effects: readonly string[];
	/** With `record`: see `system/inspect/replay.ts`. */
	readonly recorded?: Json | undefined;
};

/** Why nothing more comes: the time is over, so many were told, its reader went, or the system did. */
export type StreamEnd = 'time' | 'count' | 'closed' | 'unread' | 'gone';

export type StreamPortion = {
	readonly entries: readonly StreamEntry[];
	/** Left out since the last portion, because too much happened at once. */
	readonly dropped: number;
	readonly ended?: StreamEnd | undefined;
};

// ---- what changes ----------------------------------------------------------------------------------------------------------

export type ChangeRequest =
	| {readonly verb: 'tell'; readonly place: string; readonly message: JsonObject & {readonly type: string}}
	| {
			readonly verb: 'ask';
			readonly place: string;
			readonly message: JsonObject & {readonly type: string};
			readonly deadlineMs?: number | undefined;
	  }
	/** It takes no message until it is resumed, or the time is over. */
	| {readonly verb: 'pause'; readonly place: string; readonly forMs?: number | undefined}
	/** A paused actor takes so many messages. */
	| {readonly verb: 'step'; readonly place: string; readonly count?: number | undefined}
	| {readonly verb: 'resume'; readonly place: string}
	/** As a crash: its supervisor does what its strategy says. */
	| {readonly verb: 'kill'; readonly place: string}
	/** Ends it in order, children first, and begins it anew. It does not count against the intensity. */
	| {readonly verb: 'restart'; readonly place: string}
	| {
			readonly verb: 'fault';
			readonly place: string;
			readonly fault: Fault;
			readonly forMs?: number | undefined;
			/** The login that asks for it. The server gives it. */
			readonly by?: string | undefined;
	  }
	/** Ends the faults of a place before their time; without one all of the system. */
	| {readonly verb: 'heal'; readonly place: string};

export type Fault =
	/** The next step throws. */
	| {readonly type: 'crash'}
	/** Each step begins so much later. */
	| {readonly type: 'slow'; readonly ms: number}
	/** Messages to it are lost, each with this chance; its timers are not. */
	| {readonly type: 'drop'; readonly share: number}
	/** Of a system: nothing passes between it and the others. */
	| {readonly type: 'partition'}
	| {readonly type: 'pause'};

/** `text` says what it is and how long it lasts; `by` is the login that made it. */
export type FaultLook = {
	readonly address: Address;
	readonly fault: Fault;
	readonly leftMs: number;
	readonly text: string;
	readonly by?: string | undefined;
};

/** `areAllowed`: the process was started with `--faults`. */
export type FaultsLook = {readonly areAllowed: boolean; readonly faults: readonly FaultLook[]};

export type ChangeAnswer = {readonly done: string; readonly value?: Shown | undefined};

export type InspectRequest = LookRequest | StreamRequest | ChangeRequest;

export type Verb = InspectRequest['verb'];

/** What a tool may ask: the same of any system, and which systems there are. Places below the root of a system need no such question. */
export type ToolRequest = InspectRequest | {readonly verb: 'systems'};

/** The verbs that may be asked of every system: their place may be empty. */
export const verbsOfAll = ['tree', 'top', 'stats', 'deadletters', 'faults'] as const;

/** In order of their names, `control` first. One that does not answer, or not yet, has a problem. */
export type SystemsLook = {readonly systems: readonly {readonly name: string; readonly problem?: string | undefined}[]};

/**
 * What one system is asked, of its own actors. The answer to `watch` and `trace` is a stream, which is then pulled: `read` answers when there
 * are entries, or after `waitMs`, with a `StreamPortion`. A stream that is not read for `limits.inspectUnreadMs` ends.
 */
export type SystemRequest =
	| InspectRequest
	| {readonly verb: 'read'; readonly stream: string; readonly waitMs: number; readonly count: number}
	| {readonly verb: 'close'; readonly stream: string};

export type StreamOpened = {readonly stream: string};

/**
 * Looks into one system. Calls back once, with plain JSON that is bounded in bytes; it never throws. `cause`: the login that asks for it,
 * which is the cause of what a change leads to.
 */
export type Inspect = (request: SystemRequest, done: (outcome: Outcome<Json>) => void, cause?: string) => void;

/** What one of several systems answered, or why it did not. `faults`: a partition that keeps its answers away, as it was made. */
export type OfSystem<Answer> =
	| {readonly system: string; readonly value: Answer}
	| {readonly system: string; readonly problem: string; readonly faults?: readonly FaultLook[] | undefined};

/** One part of what every system was asked. */
export type OfSystems<Answer = Json> = {readonly systems: readonly OfSystem<Answer>[]};

/**
 * What a tool is answered: a look or a change in one message; of several systems in one or more, with `OfSystems` in each; a stream in any
 * number of portions. The last message says `end`.
 */
export type InspectAnswer =
	{readonly ok: true; readonly value: Json; readonly end: boolean} | {readonly ok: false; readonly error: Failure; readonly end: true};

/**
 * What may be said of a request over MQTT, on its own topic, once it was sent: a stream goes on for as long as it is renewed within
 * `limits.inspectUnreadMs`, and ends when it is closed.
 */
export type RequestSequel = {readonly verb: 'renew' | 'close'};

/** As it goes over MQTT, numbered from 0 on: where a number is missing, the broker has dropped something. */
export type InspectReply = InspectAnswer & {readonly seq: number};

/** Over HTTP, for looks: all of them there, one below. */
export const actorsPath = '/apis/troupe.dev/v1/actors';

export const lookVerbs = ['tree', 'state', 'mailbox', 'links', 'supervise', 'journal', 'top', 'stats', 'deadletters', 'faults'] as const;
export const streamVerbs = ['watch', 'trace'] as const;
export const changeVerbs = ['tell', 'ask', 'pause', 'step', 'resume', 'kill', 'restart', 'fault', 'heal'] as const;

/** Whether a verb changes anything. */
export const isChange = (verb: string): verb is ChangeRequest['verb'] => changeVerbs.some(each => each === verb);

/** Whether its answer is a stream. */
export const isStream = (verb: string): verb is StreamRequest['verb'] => streamVerbs.some(each => each === verb);

/** The system and the path of a place; undefined when the text is none. */
export function parsePlace(text: string): {readonly system: string; readonly path: string} | undefined {
	const slash = text.indexOf('/');
	const system = slash < 0 ? text : text.slice(0, slash);
	return system === '' ? undefined : {system, path: slash < 0 ? '' : text.slice(slash + 1)};
}
