// What mounts file systems of other hosts: mount.nfs(8), which Debian has in nfs-common.
//
// It is done in the mount namespace of each container, by its shim. So this agent never looks into such a file system, which waits as long as its
// server does not answer, and the kernel unmounts it when the last process that sees it is gone, whatever has become of the agent. Containers
// that have the same one share it in the kernel (nfs(5), sharecache).

import {limits} from '../../api/limits.js';
import {findTool} from '../os/tools.js';

/** Absolute paths, and how long a container waits for a server when it starts. */
export type NfsTools = {readonly mount: string; readonly timeout: string; readonly waitMs: number};

/** Undefined where this host lacks one. */
export function findNfsTools(): NfsTools | undefined {
	const [mount, timeout] = [findTool('mount.nfs'), findTool('timeout')];
	return mount === undefined || timeout === undefined ? undefined : {mount, timeout, waitMs: limits.nfsMountMs};
}

/** As mount.nfs takes it. */
export const exportOf = (server: string, path: string): string => `${server.includes(':') ? `[${server}]` : server}:${path}`;

/** Why a node has none. */
export const noNfs = (isRoot: boolean): string =>
	isRoot ? 'NFS needs mount.nfs (of the package nfs-common) on this node' : 'NFS needs an agent that is root';
