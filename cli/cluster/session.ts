// One command's talk with its cluster: the connection found, the namespace settled, the connections closed at the end.

import {clientOf, type Client} from '../client.js';
import type {Invocation} from '../command.js';
import {readConnection, sourcesOf, type Connection} from './kubeconfig.js';
import {withNearest} from './nearest.js';

/** Runs the work with a client and lets go of its connections, whatever happens. */
export async function withClient<Value>(
	invocation: Invocation,
	work: (client: Client, connection: Connection) => Promise<Value>,
): Promise<Value> {
	const {flags, environment, home} = invocation;
	const sources = sourcesOf({kubeconfig: flags.text('kubeconfig'), home: flags.text('home')}, environment, home);
	const connection = await readConnection(sources);
	const client = clientOf(connection, text => invocation.terminal.note(`warning: ${text}`));
	try {
		return await work(client, connection);
	} catch (error) {
		throw await withNearest(client, error);
	} finally {
		client.close();
	}
}

/** `-n`, else the kubeconfig's. */
export const namespaceOf = ({flags}: Invocation, client: Client): string => flags.text('namespace') ?? client.namespace;
