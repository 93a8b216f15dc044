// `troupe server`: a control plane without a node of its own. Of several on one store one leads and the others stand by.

import {faultNotes, serve} from './process/serve.js';
import {readyText, type Endpoints} from '../files/endpoints.js';
import {kubeconfigNotes} from '../files/home-flag.js';
import {openControlServer} from './control/control-server.js';
import {isShared} from './control/stores.js';
import {graceSetting, type ServerOptions} from './serving-options.js';

/** Runs until it is told to stop; the exit code. Throws when it cannot start, with nothing left open. */
export function runServer(options: ServerOptions): Promise<number> {
	return serve('server', options, async context => {
		const {log, fail} = context;
		const {url, doors} = await openControlServer({
			context,
			options,
			settings: graceSetting(options),
			ownNodes: new Map(),
			onStandby(reason) {
				if (isShared(options.store)) log.warn(`this server does not lead any more: ${reason}`);
				else fail(`the store is lost: ${reason}`);
			},
		});
		const endpoints: Endpoints = {
			command: 'server',
			api: url,
			...doors,
			pid: process.pid,
			notes: [...kubeconfigNotes(), ...faultNotes(options)],
		};
		return {endpoints, text: readyText(options.home, endpoints, false), farewell: 'the server has stopped; agents and their pods run on'};
	});
}
