// A real Redis (Debian: redis-server) on a free port of loopback.

import {folder, freePort, isOpen, serverOf, type Server} from '../../bench/rigs/servers/server.js';
import type {Owner} from '../../bench/rigs/owner.js';

export type RedisServer = Server & {readonly port: number};

/** Flushed to disk with every write, so that a killed one comes back with everything. */
export async function startRedis(t: Owner, more: readonly string[] = []): Promise<RedisServer> {
	const port = await freePort();
	const directory = folder(t, 'redis');
	const server = serverOf(
		t,
		'redis-server',
		['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always', ...more],
		() => isOpen(port),
	);
	await server.start();
	return {...server, port};
}
