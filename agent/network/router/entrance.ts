// A place where the router listens, from the first time on that there is something to serve there. One that is taken is said, and tried again.

import type {Socket} from 'node:net';
import {formatHostPort, type HostPort} from '../../../api/host-port.js';
import {limits} from '../../../api/limits.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {Listeners, TcpListener} from '../listeners/listeners.js';

export type EntranceOptions = {
	/** The flag that says where it listens: `router`. */
	readonly flag: string;
	/** Undefined: nowhere. */
	readonly place: HostPort | undefined;
	readonly listeners: Listeners;
	readonly clock: Clock;
	readonly onProblem: (key: string, problem: string | undefined) => void;
	/** `at`: where it listens. */
	readonly onConnection: (socket: Socket, at: HostPort) => void;
};

export type Entrance = {
	/** Begins to listen, if it does not; resolves when it does, or has said why it cannot. */
	readonly listen: () => Promise<void>;
	/** Where it listens; undefined while it does not. */
	readonly place: () => HostPort | undefined;
	readonly close: () => void;
};

export function openEntrance({flag, place: asked, listeners, clock, onProblem, onConnection}: EntranceOptions): Entrance {
	let listener: TcpListener | undefined;
	let cancel: Cancel | undefined;
	let hasBegun = false;
	let isClosed = false;
	const begin = async (at: HostPort): Promise<void> => {
		const {host: address, port} = at;
		cancel = undefined;
		try {
			listener = await listeners.tcp({address, port}, socket => onConnection(socket, listener === undefined ? at : hostPortOf(listener)));
			onProblem(flag, undefined);
			if (isClosed) listener.close();
		} catch (error) {
			onProblem(flag, portProblem(error, at, flag));
			if (!isClosed) cancel = clock.after(limits.routerPortMs, () => void begin(at));
		}
	};
	return {
		async listen() {
			if (asked === undefined || hasBegun || isClosed) return;
			hasBegun = true;
			await begin(asked);
		},
		place: () => (listener === undefined ? undefined : hostPortOf(listener)),
		close() {
			isClosed = true;
			cancel?.();
			listener?.close();
		},
	};
}

const hostPortOf = ({place: {address, port}}: TcpListener): HostPort => ({host: address, port});

function portProblem(error: unknown, place: HostPort, flag: string): string {
	const where = formatHostPort(place);
	if (hasCode(error, 'EADDRINUSE'))
		return `the router cannot listen on ${where}: another program does; free it, or choose another with --${flag} HOST:PORT`;
	if (hasCode(error, 'EACCES')) return `the router may not listen on ${where}; choose a port above 1023 with --${flag} HOST:PORT`;
	return `the router cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
