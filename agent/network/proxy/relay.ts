// Two sockets as one connection: what comes in at one goes out at the other, the end of each direction by itself, and no faster than it is taken.

import type {Counters} from './counters.js';
import type {HeldBytes} from './held-bytes.js';
import type {Reachable} from './reach.js';

export type Relay = {
	/** Rises with what has passed. */
	readonly moved: () => number;
	/** Whether the server has said all: what is left is on its way to the client. */
	readonly isAnswered: () => boolean;
	/** Both sides see that the connection was cut. */
	readonly cut: () => void;
};

/** `onOver` is called once, when both are closed. */
export function relay(client: Reachable, server: Reachable, counters: Counters, held: HeldBytes, onOver: () => void): Relay {
	let moved = 0;
	let answered = false;
	let open = 2;
	const cut = (): void => {
		reset(client);
		reset(server);
	};
	const pump = (from: Reachable, to: Reachable, count: (bytes: number) => void): void => {
		from.on('data', (chunk: Buffer) => {
			moved += chunk.length;
			count(chunk.length);
			if (to.write(chunk)) return;
			from.pause();
			held.add(from, to.writableLength + from.readableHighWaterMark, cut);
		});
		to.on('drain', () => {
			held.remove(from);
			from.resume();
		});
		from.on('end', () => void to.end());
		// Not all has come: whoever reads the other side is not to take that for an end.
		from.on('error', () => reset(to));
		from.on('close', () => {
			held.remove(from);
			if (!from.readableEnded) reset(to);
			open -= 1;
			if (open === 0) onOver();
		});
	};
	server.on('end', () => (answered = true));
	pump(client, server, bytes => (counters.bytesIn += bytes));
	pump(server, client, bytes => (counters.bytesOut += bytes));
	return {moved: () => moved, isAnswered: () => answered, cut};
}

/** Ends a connection as a refusal or a loss, not as an end. */
export function reset(socket: Reachable): void {
	if (!socket.destroyed) socket.resetAndDestroy();
}
