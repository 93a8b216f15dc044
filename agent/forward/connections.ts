// Connections to ports of pods, for clients far away: each is a session, read and written as those of exec are.
//
// What it keeps true: bytes come as they were sent, each direction ends by itself, what a client does not read holds the pod's program up, and no
// connection outlives its session or the agent.

import net from 'node:net';
import {AppError, failed, failure, type Failure, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ForwardRequest} from '../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import type {Sessions} from '../exec-sessions.js';
import type {Done} from '../handlers.js';
import {explained} from '../os/explained.js';

export type Connections = {
	/** Connects to the first address that takes it. `addresses` are those at which the pod listens at this port, and nothing else does. */
	readonly open: (
		{port, relayedFor}: Pick<ForwardRequest, 'port' | 'relayedFor'>,
		addresses: () => Promise<readonly string[]>,
		done: Done<{readonly session: string}>,
	) => void;
	/** Of what connects, which is given up after a while; the last word for people is why that failed. */
	readonly openWith: (
		connect: (signal: AbortSignal) => Promise<net.Socket | Failure>,
		relayedFor: string | undefined,
		done: Done<{readonly session: string}>,
	) => void;
	/** Nothing is opened any more; what is open is closed with its sessions. */
	readonly end: () => void;
};

export function createConnections(sessions: Sessions, clock: Clock): Connections {
	/** By what ends it, for which node it is relayed. */
	const opening = new Map<AbortController, string | undefined>();
	let isOver = false;
	/** Undefined: there is room for another one. */
	const fullFor = (node: string | undefined): Outcome<never> | undefined => {
		const begun = [...opening.values()];
		if (node === undefined) {
			const count = sessions.connections() + begun.filter(each => each === undefined).length;
			return count >= limits.forwardSessions ? failed('ERR_BUSY', {address: 'port-forward', waiting: count}) : undefined;
		}
		const relayed = sessions.relayed();
		const own = (relayed.get(node) ?? 0) + begun.filter(each => each === node).length;
		const all = [...relayed.values()].reduce((sum, each) => sum + each, 0) + begun.filter(each => each !== undefined).length;
		if (own < limits.relayPerNode && all < limits.relaySessions) return undefined;
		return failed('ERR_BUSY', {address: `connections that are relayed for "${node}"`, waiting: own});
	};
	const openWith: Connections['openWith'] = (connect, relayedFor, done) => {
		const full = fullFor(relayedFor);
		if (full !== undefined) return done(full);
		const giveUp = new AbortController();
		opening.set(giveUp, relayedFor);
		const cancel = clock.after(limits.forwardConnectMs, () => giveUp.abort());
		void connect(giveUp.signal).then(reached => {
			cancel();
			opening.delete(giveUp);
			if (!(reached instanceof net.Socket)) return done({ok: false, error: reached});
			if (isOver) reached.destroy();
			done(isOver ? stopping : {ok: true, value: {session: begin(sessions, reached, relayedFor)}});
		});
	};
	return {
		open({port, relayedFor}, addresses, done) {
			if (!isPort(port)) return done(failed('ERR_BAD_REQUEST', {message: `port must be a whole number from 1 to 65535, got ${port}`}));
			openWith(signal => reach(port, addresses, signal), relayedFor, done);
		},
		openWith,
		end() {
			isOver = true;
			for (const each of opening.keys()) each.abort();
		},
	};
}

const isPort = (port: ForwardRequest['port']): port is number =>
	typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;

const stopping = failed('ERR_NOT_REACHABLE', {message: 'the pod cannot be reached: its agent stops'});

const unreachable = (port: number, why: string): Failure =>
	failure('ERR_NOT_REACHABLE', {message: `port ${port} of the pod cannot be reached: ${why}`});

/** A connection for this process itself. Rejects with AppErrors. */
export async function connectToPort(port: number, addresses: () => Promise<readonly string[]>, clock: Clock): Promise<net.Socket> {
	const giveUp = new AbortController();
	const cancel = clock.after(limits.forwardConnectMs, () => giveUp.abort());
	const reached = await reach(port, addresses, giveUp.signal);
	cancel();
	if (reached instanceof net.Socket) return reached;
	throw AppError.of(reached);
}

async function reach(port: number, addresses: () => Promise<readonly string[]>, signal: AbortSignal): Promise<net.Socket | Failure> {
	let why = 'connection refused, no program of the pod listens there';
	try {
		for (const host of await Promise.race([addresses(), aborted(signal)])) {
			if (signal.aborted) break;
			const tried = await connected(host, port, signal);
			if (tried.ok) return tried.value;
			why = tried.error.message;
		}
	} catch (error) {
		why = explained(error);
	}
	return unreachable(port, signal.aborted ? `no answer within ${limits.forwardConnectMs} ms` : why);
}

const aborted = (signal: AbortSignal): Promise<never> =>
	new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), {once: true}));

const reasons: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'connection refused, no program of the pod listens there',
	EHOSTUNREACH: 'there is no way to its address',
	ENETUNREACH: 'there is no way to its address',
};

function connected(host: string, port: number, signal: AbortSignal): Promise<Outcome<net.Socket>> {
	return new Promise(resolve => {
		// Each direction ends by itself.
		const socket = net.connect({host, port, allowHalfOpen: true, noDelay: true});
		const abort = (): void => void socket.destroy(new Error('aborted'));
		signal.addEventListener('abort', abort);
		const settle = (outcome: Outcome<net.Socket>): void => {
			signal.removeEventListener('abort', abort);
			resolve(outcome);
		};
		socket.once('connect', () => settle({ok: true, value: socket}));
		socket.on('error', (error: NodeJS.ErrnoException) =>
			settle({ok: false, error: failure('ERR_NOT_REACHABLE', {message: reasons[error.code ?? ''] ?? explained(error)})}),
		);
	});
}

/** Makes a connection a session. */
function begin(sessions: Sessions, socket: net.Socket, relayedFor: string | undefined): string {
	const id = systemRandom.uuid();
	const feed = sessions.add({
		id,
		connection: {relayedFor},
		program: {
			pause: paused => void (paused ? socket.pause() : socket.resume()),
			// Where the client was a program that broke off, the pod is not to take it for an end.
			kill: () => void (relayedFor === undefined || socket.writableEnded ? socket.destroy() : socket.resetAndDestroy()),
			drop: () => socket.removeAllListeners('data'),
		},
		stdin: {
			get destroyed() {
				return socket.destroyed || socket.writableEnded;
			},
			write: (data, done) => void socket.write(data, () => done()),
			destroy: () => socket.end(),
		},
		resize: undefined,
		onGone: () => undefined,
	});
	let isBroken = false;
	socket.on('error', error => {
		isBroken = true;
		feed.output('stderr', Buffer.from(`the connection to the pod broke: ${explained(error)}\n`));
	});
	socket.on('end', feed.outputOver);
	socket.on('close', () => feed.end(isBroken ? 1 : 0));
	socket.on('data', data => feed.output('stdout', data));
	return id;
}
