// Which nodes a command about images means.

import type {NodeObject} from '../../api/kinds/node.js';
import type {Client} from '../client.js';
import {failedError} from '../command.js';
import {listAll} from '../cluster/lists.js';
import {nodes} from '../objects/nodes.js';

/** Those that are named, else all that are ready and have a Docker Engine that answers. Throws where there is none. */
export async function imageNodes(client: Client, named: readonly string[]): Promise<readonly string[]> {
	if (named.length > 0) return [...new Set(named)];
	const all = (await listAll(client, nodes, undefined)) as readonly NodeObject[];
	const found = all.filter(isMeant).map(({metadata}) => metadata.name);
	if (found.length > 0) return found;
	throw failedError('there is no node that is ready and has a Docker Engine that answers; troupe describe nodes tells more');
}

const isMeant = ({status}: NodeObject): boolean =>
	status?.runtimeClasses?.includes('docker') === true &&
	status.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') === true;
