// The words that make a program run where another one runs: in its namespaces, as a user, with groups.

import {readFileSync, readlinkSync} from 'node:fs';
import type {Host} from '../host/host.js';
import {parentOf} from '../../os/process-tree.js';
import {dropInView, rightsOf} from '../start/rights.js';
import type {Drop} from '../users/privileges.js';

/** Whether a process has the agent's own namespace of that sort. Throws errno exceptions where it is gone. */
const isShared = (pid: number, sort: 'mnt' | 'pid'): boolean =>
	readlinkSync(`/proc/${pid}/ns/${sort}`) === readlinkSync(`/proc/self/ns/${sort}`);

/** Whether the kernel ends with the container whatever joins this process of it. Throws as above. */
export const endsWithContainer = (pid: number): boolean => !isShared(pid, 'pid');

/** How a program gets to where another one runs. */
export type Entering = {
	/** Where to begin: the folder of the running program, unless the words enter it. */
	readonly folder: string;
	/** `/proc/<pid>/ns` of a program whose view root enters, by the descriptor of it below. It must be in no user namespace of its own. */
	readonly view: string | undefined;
	/** Before a program. */
	readonly words: readonly string[];
};

/** Of the view while it is entered; the program does not get it. */
export const viewDescriptor = 9;

/**
 * `network`: words before all others, which take it to the network of its pod.
 *
 * What an agent has started before it could make namespaces, or one that could not, is joined where it is. Throws an Error where that user cannot
 * be had, and errno exceptions where the process is gone.
 */
export function enteringOf(host: Host, pid: number, drop: Drop, network: readonly string[] = []): Entering {
	const rights = rightsOf(host, drop);
	if (!rights.ok) throw new Error(rights.reason);
	if (isShared(pid, 'mnt')) return {folder: `/proc/${pid}/cwd`, view: undefined, words: [...network, ...(rights.drop ?? [])]};
	const nsenter = host.namespaces?.nsenter ?? host.mountTools?.nsenter;
	if (nsenter === undefined) throw new Error('the container has namespaces of its own, and this node has no nsenter(1) that works');
	const folder = '/';
	if (host.agent.uid !== 0) return {folder, view: undefined, words: [...enterByUser(nsenter, pid), ...(rights.drop ?? [])]};
	const processes = isShared(pid, 'pid') ? [] : ['--pid'];
	const enter = [nsenter, `--target=${pid}`, ...processes, `--mount=/proc/self/fd/${viewDescriptor}`, '--wd', '--'];
	return {folder, view: `/proc/${pid}/ns`, words: [...network, ...enter, ...(dropInView(host, rights.drop, drop) ?? [])]};
}

/**
 * The user namespace of what is over the program comes first, for the others belong to it; that of the program last, by its number there.
 * nsenter would become root in each.
 */
function enterByUser(nsenter: string, pid: number): readonly string[] {
	const above = `--user=/proc/${parentOf(pid)}/ns/user`;
	const others = [`--pid=/proc/${pid}/ns/pid`, `--mount=/proc/${pid}/ns/mnt`, `--wd=/proc/${pid}/cwd`];
	const keep = '--preserve-credentials';
	return [nsenter, above, ...others, keep, '--', nsenter, `--target=${innermostPid(pid)}`, '--user', keep, '--'];
}

/** The number of a process in its own namespace. */
const innermostPid = (pid: number): number => Number(/^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
