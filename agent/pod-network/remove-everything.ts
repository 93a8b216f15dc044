// Takes away all that is of an agent's pod network, by name: when pods are to leave nothing, and what ended in the middle of something.

import {closeForward, endForwarding, isMarked, removeRules} from './host-rules.js';
import type {Names} from './names.js';
import {removeInterface, removeNamespace} from './pod-link.js';
import {linksThere, podsThere, routesThere} from './there.js';
import {ensureNodeAddress} from './ways.js';
import {batch, findNetworkTools, type NetworkTools} from './tools.js';

/** Cables, devices and namespaces that no pod has; `isKept` is asked of uids and of names of interfaces. Rejects as `call`. */
export async function sweep(tools: NetworkTools, names: Names, isKept: (name: string) => boolean): Promise<void> {
	for (const link of await linksThere(tools, names)) if (!isKept(link)) await removeInterface(tools, link);
	for (const uid of podsThere(names)) if (!isKept(uid)) await removeNamespace(tools, names, uid);
}

/** Nothing is done where the agent of the folder never had any. Rejects with Errors that say what could not be removed. */
export async function removePodNetwork(folder: string, names: Names): Promise<void> {
	if (!isMarked(folder)) return;
	const tools = findNetworkTools();
	if (typeof tools === 'string') throw new Error(`the networks of pods cannot be removed: ${tools}`);
	await sweep(tools, names, () => false);
	const routes = await routesThere(tools, names);
	await batch(
		tools.ip,
		routes.map(route => `route del ${route} proto ${names.protocol}`),
		{goesOn: true},
	);
	await ensureNodeAddress(tools, names, undefined);
	await removeRules(tools, names);
	await closeForward(tools, names);
	await endForwarding(tools, names, folder);
}
