// Where a runner of Node.js listens: at a port, or at a path.

import {constants, openSync, renameSync, rmSync} from 'node:fs';
import type {Server} from 'node:http';
import path from 'node:path';
import type {RunnerConfig} from './runner-config.js';

/** What its name ends with until then. */
const first = '.new';

export type Place = {readonly listen: RunnerConfig['listen']; readonly becomes: string | undefined};

/**
 * A relative path is one of where this process runs now, wherever the function goes; by the descriptor of its folder, since the path of a
 * socket has to be short. The socket gets it when it listens. Throws errno exceptions.
 */
export function keptPlace(listen: RunnerConfig['listen']): Place {
	if (!('path' in listen)) return {listen, becomes: undefined};
	if (path.isAbsolute(listen.path)) return {listen: {path: `${listen.path}${first}`}, becomes: listen.path};
	const folder = openSync(path.dirname(listen.path), constants.O_RDONLY | constants.O_DIRECTORY);
	const becomes = `/proc/self/fd/${folder}/${path.basename(listen.path)}`;
	return {listen: {path: `${becomes}${first}`}, becomes};
}

export function listenAt(server: Server, {listen, becomes}: Place, listens: () => void): void {
	server.listen(listen, () => {
		if (becomes !== undefined) {
			renameSync(`${becomes}${first}`, becomes);
			// Node.js removes what it has made, and that has another name now.
			server.once('close', () => rmSync(becomes, {force: true}));
		}
		listens();
	});
}
