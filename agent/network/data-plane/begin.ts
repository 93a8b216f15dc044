// The life of the process: its signals, its settings, and the word that it serves.

import {parseSettings} from '../feed/settings.js';
import {runDataPlane} from './data-plane.js';
import {inherit, sayToPredecessor} from './inherit.js';
import type {OpenServers} from './servers.js';

/** Resolves when it serves. Otherwise the process ends, and its last words say why. */
export async function beginDataPlane(openServers: OpenServers): Promise<void> {
	process.title = 'troupe data-plane';
	// A terminal's signals are not for it, and whoever read its words may be gone.
	process.on('SIGINT', () => undefined).on('SIGHUP', () => undefined);
	process.on('SIGTERM', () => process.exit(0));
	for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
	try {
		const settings = parseSettings(process.argv[2]);
		await runDataPlane(settings, openServers, process.send === undefined ? nothing : await inherit());
		sayToPredecessor({type: 'serving'});
		process.stdout.write('serving\n');
	} catch (error) {
		process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	}
}

const nothing = {changes: [], sockets: []};
