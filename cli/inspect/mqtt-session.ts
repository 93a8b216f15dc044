// The inspector's talk over MQTT, as any tool can have it (docs/topics.md): requests on one topic each, answers on another.
//
// A question that only looks is asked again when the connection comes back; one that changes is not: whether it was carried out is then unknown.

import {AppError} from '../../api/errors.js';
import {
	isChange,
	isStream,
	type InspectReply,
	type RequestSequel,
	type OfSystem,
	type OfSystems,
	type StreamPortion,
	type ToolRequest,
} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {formatTopic, inspectRepliesFilter, parseTopic} from '../../api/topics.js';
import type {MqttLink} from '../../system/links/mqtt-link.js';
import type {Clock} from '../../system/time/clock.js';
import {interruption} from './interruptible.js';
import type {Session} from './session.js';
import {UnreadPortions} from './unread-portions.js';

type MqttSessionOptions = {
	readonly login: string;
	/** In front of the number of each request: no other session of this login has it. */
	readonly prefix: string;
	/** The cluster and the login, as in `Session`; asked each time, since a cluster may come back at another address. */
	readonly about: () => string;
	readonly clock: Clock;
};

type MqttSession = Session & {
	/** To be told by the link: everything is subscribed, for the first time or again. */
	readonly connected: () => void;
	/** The connection is gone; `why` may be an empty text. */
	readonly disconnected: (why: string) => void;
	/** A line for those who listen to news. */
	readonly say: (line: string) => void;
};

type Link = Pick<MqttLink, 'publish' | 'subscribe' | 'connected' | 'close'>;

/** A question under way, or a stream. */
type Call = {
	readonly id: string;
	readonly request: ToolRequest;
	readonly onReply: (reply: InspectReply) => void;
	/** The connection was lost; false: it is asked again. */
	readonly onLost: () => boolean;
};

type State = {
	readonly link: Link;
	readonly options: MqttSessionOptions;
	readonly calls: Map<string, Call>;
	readonly listeners: Set<(line: string) => void>;
	count: number;
	wasLost: boolean;
};

export function createMqttSession(link: Link, options: MqttSessionOptions): MqttSession {
	const state: State = {link, options, calls: new Map(), listeners: new Set(), count: 0, wasLost: false};
	const {login, about} = options;
	const forget = link.subscribe(inspectRepliesFilter(login), (topic, payload) => hear(state, topic, payload));
	const news = (line: string): void => state.listeners.forEach(listener => listener(line));
	return {
		get about() {
			return about();
		},
		ask: async (question, signal) => (await parts(state, question, signal)).at(-1) as never,
		async askAll(question, signal) {
			return ((await parts(state, question, signal)) as readonly OfSystems<never>[]).flatMap(
				({systems}): readonly OfSystem<never>[] => systems,
			);
		},
		stream: (request, signal) => stream(state, request, signal),
		onNews: listener => void state.listeners.add(listener),
		say: news,
		async close() {
			for (const {id, request} of state.calls.values()) if (isStream(request.verb)) send(state, id, {verb: 'close'});
			forget();
			await link.close();
		},
		connected() {
			if (state.wasLost) news(`connected again: ${about()}`);
			state.wasLost = false;
			for (const {id, request} of state.calls.values()) send(state, id, request);
		},
		disconnected(why) {
			if (!state.wasLost) news(`the connection is lost${why === '' ? '' : ` (${why})`}; trying again`);
			state.wasLost = true;
			for (const call of [...state.calls.values()]) if (call.onLost()) state.calls.delete(call.id);
		},
	};
}

function hear({calls}: State, topic: string, payload: string): void {
	const parsed = parseTopic(topic);
	const call = parsed?.type === 'inspectReply' ? calls.get(parsed.id) : undefined;
	const reply = call === undefined ? undefined : parseReply(payload);
	if (call === undefined || reply === undefined) return;
	if (reply.end) calls.delete(call.id);
	call.onReply(reply);
}

function parseReply(payload: string): InspectReply | undefined {
	try {
		return JSON.parse(payload) as InspectReply;
	} catch {
		return undefined; // Not of this protocol.
	}
}

type Sent = ToolRequest | RequestSequel;

/** What cannot be sent now is sent when the connection is there. */
function send({link, options: {login}}: State, id: string, request: Sent): void {
	if (link.connected()) link.publish(formatTopic({type: 'inspectRequest', login, id}), JSON.stringify(request), {retain: false});
}

function begin(state: State, call: Omit<Call, 'id'>): string {
	const id = `${state.options.prefix}.${(state.count += 1)}`;
	state.calls.set(id, {...call, id});
	send(state, id, call.request);
	return id;
}

/** All that is answered, until the end. Rejects with the failure, when nothing comes for too long, or when the signal fires. */
function parts(state: State, request: ToolRequest, signal: AbortSignal | undefined): Promise<readonly Json[]> {
	if (signal?.aborted === true) return Promise.reject(interruption(request.verb));
	const {options, calls} = state;
	const values: Json[] = [];
	return new Promise((resolve, reject) => {
		const asked = 'deadlineMs' in request ? (request.deadlineMs ?? 0) : 0;
		const waitMs = asked + limits.inspectPatienceMs;
		const giveUp = (error: Error): void => {
			cancel();
			calls.delete(id);
			reject(error);
		};
		const interrupt = (): void => giveUp(interruption(request.verb));
		const cancelWait = options.clock.after(waitMs, () =>
			giveUp(new AppError('ERR_NOT_REACHABLE', {message: `${options.about()} did not answer within ${waitMs / 1_000} s`})),
		);
		signal?.addEventListener('abort', interrupt);
		const cancel = (): void => {
			cancelWait();
			signal?.removeEventListener('abort', interrupt);
		};
		const id = begin(state, {
			request,
			onReply(reply) {
				if (reply.ok) values.push(reply.value);
				if (!reply.end) return;
				cancel();
				if (!reply.ok) reject(AppError.of(reply.error));
				else if (values.length !== reply.seq + 1) reject(lost(options));
				else resolve(values);
			},
			onLost() {
				if (!isChange(request.verb)) {
					values.length = 0;
					return false;
				}
				cancel();
				reject(new AppError('ERR_OUTCOME_UNKNOWN', {address: 'place' in request ? request.place : ''}));
				return true;
			},
		});
	});
}

const lost = ({about}: MqttSessionOptions): AppError =>
	new AppError('ERR_NOT_REACHABLE', {message: `a part of the answer of ${about()} was lost; ask for less, or again`});

/** Portions as they come. Throws ERR_NOT_REACHABLE when the connection or the server is lost: what went on meanwhile is not known. */
async function* stream(state: State, request: ToolRequest, signal: AbortSignal): AsyncGenerator<StreamPortion> {
	const {calls, options} = state;
	const unread = new UnreadPortions();
	const id = begin(state, {
		request,
		onReply: reply => unread.take(reply),
		onLost() {
			unread.fail(new AppError('ERR_NOT_REACHABLE', {message: 'the connection was lost'}));
			return true;
		},
	});
	const end = (): void => unread.end();
	signal.addEventListener('abort', end);
	if (signal.aborted) end();
	const cancelRenewal = every(options.clock, limits.inspectRenewMs, () => send(state, id, {verb: 'renew'}));
	try {
		for (let portion = await unread.next(); portion !== undefined; portion = await unread.next()) yield portion;
	} finally {
		cancelRenewal();
		signal.removeEventListener('abort', end);
		if (calls.delete(id)) send(state, id, {verb: 'close'});
	}
}

function every(clock: Clock, ms: number, act: () => void): () => void {
	let cancel = clock.after(ms, again);
	function again(): void {
		act();
		cancel = clock.after(ms, again);
	}
	return () => cancel();
}
