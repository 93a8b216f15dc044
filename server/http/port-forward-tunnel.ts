// kubectl's tunnel to ports of one pod: for each connection two streams of SPDY, one of its data and one for what is wrong with it.
//
// What it keeps true: each connection goes its way alone, what goes wrong with it is a text on its own stream; nothing is read of the node faster
// than the client takes it, nor of the client faster than the pod does; with the tunnel everything in it ends.

import type {Duplex} from 'node:stream';
import {failed, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';
import {serveSpdy, type SpdyStream} from '../spdy/connection.js';
import {resets} from '../spdy/frames.js';
import {inputQueue} from './remote-input.js';
import {whileKept, type Remote} from './remote-session.js';

type Connected = Pick<Remote, 'read' | 'write' | 'keep' | 'close'>;

export type TunnelOptions = {
	readonly clock: Clock;
	/** Counts one connection, until what comes back is called; undefined: there are too many. */
	readonly addForward: () => (() => void) | undefined;
	readonly open: (port: number) => Promise<Outcome<Connected>>;
};

/** The streams of one connection; the first that came waits for the other. */
type Pair = {error?: SpdyStream; data?: SpdyStream; readonly cancel: () => void};

/** Runs until the client goes, or `end` is called. */
export function runTunnel(socket: Duplex, options: TunnelOptions): {readonly end: () => void} {
	const pairs = new Map<string, Pair>();

	function take(stream: SpdyStream): void {
		const [role, id, port] = ['streamtype', 'requestid', 'port'].map(name => stream.headers.get(name) ?? '');
		if ((role !== 'error' && role !== 'data') || id === undefined || id === '' || pairs.get(id)?.[role] !== undefined)
			return stream.reset(resets.protocolError);
		const pair = pairs.get(id) ?? {cancel: options.clock.after(limits.forwardPairMs, () => giveUp(id))};
		pair[role] = stream;
		pairs.set(id, pair);
		const {error, data} = pair;
		if (error === undefined || data === undefined) {
			// Nothing is said before there is a way to hear what is wrong with it; the other half of an error stream is over from the first.
			stream.listen({onData: () => void (role === 'data' && giveUp(id)), onReset: () => forget(id)});
			return;
		}
		forget(id);
		forward(options, error, data, Number(port));
	}

	function forget(id: string): void {
		pairs.get(id)?.cancel();
		pairs.delete(id);
	}

	function giveUp(id: string): void {
		const {error, data} = pairs.get(id) ?? {};
		forget(id);
		for (const each of [error, data]) each?.reset(resets.cancel);
	}

	return serveSpdy(socket, take);
}

/** What TCP has. */
export const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

const wrongPort = failed('ERR_BAD_REQUEST', {message: 'port must be a whole number from 1 to 65535'});
const tooMany = failed('ERR_BUSY', {address: 'port-forward', waiting: limits.forwardConnections});

/** One connection, from its opening to its end. */
function forward({clock, addForward, open}: TunnelOptions, error: SpdyStream, data: SpdyStream, port: number): void {
	let isOver = false;
	const release = addForward();

	function over(): void {
		if (isOver) return;
		isOver = true;
		reading.resume();
		release?.();
		void opened.then(outcome => outcome.ok && outcome.value.close());
	}

	/** As its client hears it: what it has had so far was all there was. */
	const finish = (): void => {
		over();
		data.end();
		error.end();
	};
	const fail = (text: string): void => {
		if (isOver) return;
		over();
		void error.send(Buffer.from(text));
		error.end();
		data.reset(resets.internalError);
	};
	/** It was there and broke, which is no fault of the tunnel: kubectl goes on with others. */
	const breakOff = (): void => {
		over();
		data.reset(resets.cancel);
		error.end();
	};
	const guard = (work: Promise<void>): void => void work.catch(() => fail('the node answered with something that is no connection'));
	const reading = holding(clock, data, () => fail(`port ${port} of the pod takes nothing of what is sent to it`));
	const opened = release === undefined ? Promise.resolve(tooMany) : isPort(port) ? open(port) : Promise.resolve(wrongPort);
	const put = inputQueue({
		write: async (bytes, isLast) => {
			const outcome = await opened;
			return outcome.ok ? outcome.value.write(bytes, isLast) : outcome;
		},
		reading,
		isOver: () => isOver,
		guard,
	});
	// The error stream first: what has come of the data already is told at once.
	error.listen({onData: () => undefined, onReset: breakOff});
	data.listen({onData: put, onReset: breakOff});

	async function pump(): Promise<void> {
		const outcome = await opened;
		if (!outcome.ok) return fail(outcome.error.message);
		for (const remote = outcome.value; !isOver;) {
			const look = await remote.read();
			if (isOver) return;
			if (!look.ok) return fail(look.error.message);
			const {parts, isLast, end} = look.value;
			for (const {stream, data: text} of parts)
				if (stream === 'stdout' && text !== '') await whileKept(remote, clock, data.send(Buffer.from(text, 'base64')));
			if (isLast === true) data.end();
			if (end !== undefined) return end.exitCode === 0 ? finish() : breakOff();
		}
	}
	guard(pump());
}

/** Holds the tunnel up for one that is slow, and for no longer than others are to wait for it. */
function holding(clock: Clock, stream: SpdyStream, onStall: () => void): {readonly pause: () => void; readonly resume: () => void} {
	let cancel: (() => void) | undefined;
	return {
		pause() {
			if (cancel !== undefined) return;
			stream.hold(true);
			cancel = clock.after(limits.forwardStallMs, onStall);
		},
		resume() {
			cancel?.();
			cancel = undefined;
			stream.hold(false);
		},
	};
}
