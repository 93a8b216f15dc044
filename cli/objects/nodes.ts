// Nodes as the commands about them take them: by name, by label, or all.

import type {NodeObject} from '../../api/kinds/node.js';
import {AppError} from '../../api/errors.js';
import type {JsonObject} from '../../api/object.js';
import {didYouMean} from '../../api/suggest.js';
import type {Client} from '../client.js';
import {type Flags, usageError} from '../command.js';
import {getOne, listAll} from '../cluster/lists.js';
import {pathOf, resourceOf} from '../cluster/resources.js';

export const nodes = resourceOf('nodes');

/** Which nodes are meant; `node/a` is as good as `a`. */
export type NodeChoice = {readonly names: readonly string[]; readonly selector: string | undefined; readonly all: boolean};

/** Throws ERR_USAGE unless exactly one of names, `-l` and, where the command has it, `--all` says which. */
export function nodeChoice(command: string, words: readonly string[], flags: Flags, all = false): NodeChoice {
	const names = [...new Set(words.map(word => word.replace(/^(nodes?|no)\//i, '')))];
	const selector = flags.text('selector');
	const ways = [names.length > 0, selector !== undefined, all].filter(Boolean).length;
	if (ways === 0) throw usageError(`which nodes? give names or -l, as in: troupe ${command} node-a`);
	if (ways > 1) throw usageError('names, -l and --all each say which nodes; give one of them');
	const odd = names.find(name => name === '' || name.includes('/'));
	if (odd !== undefined) throw usageError(`"${odd}" is no name of a node`);
	return {names, selector, all};
}

/** The names that are meant, in the order given, else as listed. Throws ERR_NOT_FOUND when a selector leaves none. */
export async function chosenNames(client: Client, {names, selector}: NodeChoice): Promise<readonly string[]> {
	if (names.length > 0) return names;
	const found = await listAll(client, nodes, undefined, {labelSelector: selector});
	if (found.length > 0) return found.map(({metadata}) => metadata.name);
	const error = new AppError('ERR_NOT_FOUND', {resource: 'nodes', name: selector ?? ''});
	error.message = selector === undefined ? 'there are no nodes' : `no node has the labels ${selector}`;
	throw error;
}

/** One node. Throws ERR_NOT_FOUND, with the nearest name there is. */
export async function getNode(client: Client, name: string): Promise<NodeObject> {
	try {
		return (await getOne(client, nodes, '', name)) as NodeObject;
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_NOT_FOUND') error.message += await nearestNode(client, name);
		throw error;
	}
}

async function nearestNode(client: Client, name: string): Promise<string> {
	const known = (await listAll(client, nodes, undefined).catch(() => [])).map(({metadata}) => metadata.name);
	return didYouMean(name, known);
}

/** Changes the spec of a node by a merge patch, if it is still as it was read. Throws ERR_CONFLICT otherwise. */
export const patchSpec = (client: Client, {metadata}: NodeObject, spec: object, dryRun: boolean): Promise<unknown> =>
	client.json({
		method: 'PATCH',
		path: pathOf(nodes, undefined, metadata.name),
		query: dryRun ? {dryRun: 'All'} : {},
		contentType: 'application/merge-patch+json',
		body: JSON.parse(JSON.stringify({metadata: {resourceVersion: metadata.resourceVersion}, spec})) as JsonObject,
	});

/** What stands behind a line about something that was only tried. */
export const dryRunText = (dryRun: boolean): string => (dryRun ? ' (dry run)' : '');

const attempts = 5;

/** Reads a node and changes it; again when another writer was faster. */
export async function changeNode<Done>(client: Client, name: string, change: (node: NodeObject) => Promise<Done>): Promise<Done> {
	for (let left = attempts; ; left--) {
		try {
			return await change(await getNode(client, name));
		} catch (error) {
			if (!(error instanceof AppError && error.code === 'ERR_CONFLICT') || left === 1) throw error;
		}
	}
}
