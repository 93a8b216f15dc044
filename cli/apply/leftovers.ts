// What a compose file's project still has in the cluster though the file has it no more: told, and left to people.

import {projectLabel} from '../../api/compose/convert.js';
import {AppError} from '../../api/errors.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {displayName, resourceOf} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import type {Planned} from './plan.js';

/** All that a compose file may become. */
const kinds = [
	...['deployments', 'statefulsets', 'daemonsets', 'jobs', 'services'],
	...['configmaps', 'secrets', 'persistentvolumeclaims'],
];

/** Names what is left of the project that was applied, if it was one. */
export async function tellLeftovers(client: Client, all: readonly Planned[], terminal: Terminal): Promise<void> {
	const [first] = all.filter(({prepared}) => prepared.document.project !== undefined);
	const project = first?.prepared.document.project;
	if (first === undefined || project === undefined) return;
	const {namespace} = first.prepared;
	const given = new Set(all.map(({prepared: {resource, name}}) => displayName(resource, name)));
	const lists = await Promise.all(kinds.map(kind => foundOf(client, kind, namespace, project)));
	const left = lists.flat().filter(name => !given.has(name));
	if (left.length === 0) return;
	const where = namespace === 'default' ? '' : ` -n ${namespace}`;
	terminal.note(`note: the project ${project} has these, and the file has them no more: troupe delete ${left.join(' ')}${where}`);
}

/** Whoever may not list a kind is told nothing of it. */
async function foundOf(client: Client, kind: string, namespace: string, project: string): Promise<readonly string[]> {
	const resource = resourceOf(kind);
	try {
		const objects = await listAll(client, resource, namespace, {labelSelector: `${projectLabel}=${project}`});
		return objects.filter(isMeant).map(({metadata: {name}}) => displayName(resource, name));
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_FORBIDDEN') return [];
		throw error;
	}
}

/** What is going, or was made by another object, needs no word. */
const isMeant = ({metadata: {deletionTimestamp, ownerReferences = []}}: Awaited<ReturnType<typeof listAll>>[number]): boolean =>
	deletionTimestamp === undefined && ownerReferences.length === 0;
