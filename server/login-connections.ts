// HTTP connections that have logged in: how many there may be, of all and of one login. Those that wait for their next request make
// room for new ones, the one that has waited longest first.

import type {Socket} from 'node:net';

export type LoginConnections = {
	/** For a request of this login; false: all there may be are busy. */
	readonly claim: (socket: Socket, login: string) => boolean;
	/** Its answer is out. */
	readonly release: (socket: Socket) => void;
};

type Held = {readonly login: string; readonly isBusy: boolean};

export function createLoginConnections(bounds: {readonly connections: number; readonly perLogin: number}): LoginConnections {
	/** What was used last is last. */
	const held = new Map<Socket, Held>();
	const counts = new Map<string, number>();
	const forget = (socket: Socket): void => {
		const login = held.get(socket)?.login;
		if (login === undefined) return;
		held.delete(socket);
		const left = (counts.get(login) ?? 0) - 1;
		if (left > 0) counts.set(login, left);
		else counts.delete(login);
	};
	const endIdle = (of: (login: string) => boolean): boolean => {
		for (const [socket, {login, isBusy}] of held) {
			if (isBusy || !of(login)) continue;
			forget(socket);
			socket.destroy();
			return true;
		}
		return false;
	};
	return {
		claim(socket, login) {
			const isNew = !held.has(socket);
			forget(socket);
			if ((counts.get(login) ?? 0) >= bounds.perLogin && !endIdle(each => each === login)) return false;
			if (held.size >= bounds.connections && !endIdle(() => true)) return false;
			held.set(socket, {login, isBusy: true});
			counts.set(login, (counts.get(login) ?? 0) + 1);
			if (isNew) socket.once('close', () => forget(socket));
			return true;
		},
		release(socket) {
			const found = held.get(socket);
			if (found === undefined) return;
			held.delete(socket);
			held.set(socket, {...found, isBusy: false});
		},
	};
}
