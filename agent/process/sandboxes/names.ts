// What the programs of a pod find of names: a resolv.conf and a hosts of the pod's own, in its folder, where it is to have others than its host.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {valueOr} from '../../../api/value-or.js';
import {hostsOf, podNamesOf, resolvConfOf} from '../../pod-network/pod-names.js';
import type {PodNetwork} from '../../pod-network/pod-network.js';
import type {SandboxRecord} from './sandboxes.js';

/** What a program sees in place of a file of its host. */
export type OwnFile = {
	/** Without links. */
	readonly file: string;
	/** What of the host it stands for, absolute. */
	readonly place: string;
	/** Its pod asks for it; otherwise it is left out where the host has no such file. */
	readonly isAsked: boolean;
};

/** Written anew for each start. `folder`: the pod's, without links. Throws errno exceptions. */
export function namesIn(record: SandboxRecord | undefined, network: PodNetwork | undefined, folder: string): readonly OwnFile[] {
	if (record === undefined) return [];
	const {dns, hostAliases} = record;
	const resolvConf = resolvConfFor(record, network);
	return [
		...(resolvConf === undefined ? [] : [ownFile(folder, '/etc/resolv.conf', resolvConf, dns !== undefined)]),
		...(hostAliases.length === 0 ? [] : [ownFile(folder, '/etc/hosts', hostsOf(textOf('/etc/hosts'), hostAliases), true)]),
	];
}

/** Undefined: it has the host's. */
function resolvConfFor({namespace, dns, network: {type}}: SandboxRecord, network: PodNetwork | undefined): string | undefined {
	// Of the pods that share the network of their host for want of another the cluster knows no resolver.
	const resolver = type === 'shared' ? undefined : network?.resolver(type);
	const wish = {namespace, dns, hostNetwork: type === 'host', seesLoopback: type !== 'routed', resolver};
	const names = podNamesOf(wish, textOf('/etc/resolv.conf'));
	return names === undefined ? undefined : resolvConfOf(names);
}

function ownFile(folder: string, place: string, text: string, isAsked: boolean): OwnFile {
	const file = path.join(folder, `.${path.basename(place)}`);
	// Programs of before have it mounted.
	if (textOf(file) !== text) writeFileSync(file, text, {mode: 0o644});
	return {file, place, isAsked};
}

const textOf = (file: string): string => valueOr('', () => readFileSync(file, 'utf8'));
