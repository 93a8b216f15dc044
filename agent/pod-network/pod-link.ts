// The network of one pod in the kernel: its namespace, its cable, its route. Made so that whatever was begun and not finished is made anew.

import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {valueOr} from '../../api/value-or.js';
import {networkInode, type NetworkOfProcess} from '../os/network-namespace.js';
import {cableLines, insideLines, type PodLink} from './link-commands.js';
import {linkOf, namespaceFile, namespaceOf, type Names} from './names.js';
import {routeTo} from './there.js';
import {batch, call, type NetworkTools} from './tools.js';

export type LinkWish = PodLink & {
	/** A process that has the namespace already; undefined: one is made. */
	readonly process: NetworkOfProcess | undefined;
};

/** Makes it, or finds it whole. Rejects as `call`, and with errno exceptions. */
export async function ensureLink(tools: NetworkTools, names: Names, wish: LinkWish): Promise<void> {
	const {uid, address, process} = wish;
	const link = linkOf(names, address);
	if (isNamespaceOf(names, uid, process?.pid) && isWhole(link) && (await routeTo(tools, address)) === link) return;
	await removeLink(tools, names, uid, address);
	// Its number may be that of another process by now, which has another network, perhaps the host's.
	if (process?.inode !== undefined && networkInode(process.pid) !== process.inode)
		throw new Error(`process ${process.pid}, whose network the pod was to have, has ended`);
	await batch(tools.ip, cableLines(names, wish, process?.pid));
	await batch(tools.ip, insideLines(wish), {namespace: namespaceOf(names, uid)});
	// Nothing is said of IPv6 by these rules, so the host takes none of it from pods.
	const ipv6 = `/proc/sys/net/ipv6/conf/${link}/disable_ipv6`;
	if (existsSync(ipv6)) writeFileSync(ipv6, '1');
	// Where Services and ports of the host are; all else that a pod sends there is dropped, see `rulesText`.
	writeFileSync(loopbackFile(link), '1');
}

/** The last that is written: where it is set, all was made. */
const loopbackFile = (link: string): string => `/proc/sys/net/ipv4/conf/${link}/route_localnet`;

/** Whether the host has an interface of that name. */
export const isLink = (link: string): boolean => existsSync(loopbackFile(link));

const isWhole = (link: string): boolean => valueOr('', () => readFileSync(loopbackFile(link), 'utf8')).trim() === '1';

/** Whether the name stands for the namespace of that process, or for any. */
function isNamespaceOf(names: Names, uid: string, pid: number | undefined): boolean {
	const file = namespaceFile(names, uid);
	if (!existsSync(file)) return false;
	return pid === undefined || statSync(file).ino === statSync(`/proc/${pid}/ns/net`).ino;
}

/** Its cable first: the namespace lives on while anything has it, and may be the namespace of a pod that is not to be reached any more. */
export async function removeLink(tools: NetworkTools, names: Names, uid: string, address: string): Promise<void> {
	const link = linkOf(names, address);
	if (isLink(link)) await removeInterface(tools, link);
	await removeNamespace(tools, names, uid);
}

/** Fine where it is gone. Rejects as `call`. */
export const removeInterface = async ({ip}: NetworkTools, link: string): Promise<void> => {
	await call(ip, ['link', 'del', link]).catch((error: unknown) => {
		if (!/Cannot find device/.test(String(error))) throw error;
	});
};

/** Fine where it is gone. Rejects as `call`. */
export async function removeNamespace({ip}: NetworkTools, names: Names, uid: string): Promise<void> {
	if (existsSync(namespaceFile(names, uid))) await call(ip, ['netns', 'del', namespaceOf(names, uid)]);
}

/** Connections of an address that another pod is to get some day. What cannot be forgotten ends with its time. */
export async function forgetConnections({conntrack}: NetworkTools, address: string): Promise<void> {
	if (conntrack === undefined) return;
	// It fails where there is none.
	for (const side of ['--orig-src', '--reply-src']) await call(conntrack, ['--delete', side, address]).catch(() => undefined);
}
