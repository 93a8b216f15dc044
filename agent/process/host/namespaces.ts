// Namespaces of its own for each attempt of a container: its processes see each other and no others, and all of them end with it.
//
// unshare(1) stands outside and leads the session; the shim is the first process inside. It takes in what loses its parent, and when it
// ends the kernel kills all that is left. Its /proc shows these processes only; what it writes down are the node's numbers of processes, by a
// descriptor of the node's /proc that no program gets.
//
// Root makes them as it is. An ordinary user makes them as root of a user namespace, for mount(8) works for root only; the program is in a
// further one, in which it is that user again and has no rights over what is around it.

import {codeOf, findTool} from '../../os/tools.js';
import type {User} from '../../os/user.js';

export type Namespaces = {
	/** Absolute paths. */
	readonly unshare: string;
	readonly nsenter: string;
	/** The ordinary user who makes them; undefined: root does. */
	readonly owner: User | undefined;
};

const userFlags = (namespaces: Namespaces | undefined): readonly string[] =>
	namespaces?.owner === undefined ? [] : ['--user', '--map-root-user'];

/** Before what mounts for a program, where no other program sees it; it hears of what is unmounted on the node. `namespaces`: also made for it. */
export const mountWords = (unshare: string, namespaces?: Namespaces): readonly string[] => [
	unshare,
	...userFlags(namespaces),
	'--mount',
	'--propagation',
	'slave',
];

/** Before the shim. unshare ends when it does, with its code; when unshare is killed, so is the shim. `network`: an empty one is made for it, too. */
export const shimWords = (namespaces: Namespaces, network = false): readonly string[] => [
	...mountWords(namespaces.unshare, namespaces),
	...(network ? ['--net'] : []),
	'--pid',
	'--fork',
	'--kill-child',
	'--mount-proc',
	'--',
];

/** Before a program that is to have no rights over its namespaces. */
export const asOwnerWords = ({unshare, owner}: Namespaces): readonly string[] =>
	owner === undefined ? [] : [unshare, '--user', `--map-user=${owner.uid}`, `--map-group=${owner.gid}`, '--'];

const tried = new Map<number, Namespaces | undefined>();

/** Undefined where they do not work: tried once, as a container gets them. */
export function findNamespaces(agent: User): Namespaces | undefined {
	if (!tried.has(agent.uid)) tried.set(agent.uid, trial(agent));
	return tried.get(agent.uid);
}

function trial(agent: User): Namespaces | undefined {
	const unshare = findTool('unshare');
	const nsenter = findTool('nsenter');
	if (unshare === undefined || nsenter === undefined) return undefined;
	const namespaces = {unshare, nsenter, owner: agent.uid === 0 ? undefined : agent};
	// The shim, and in it a program that is the second process there.
	const text = '("$@"); exit $?';
	const program = [...asOwnerWords(namespaces), '/bin/sh', '-c', 'read -r pid rest </proc/self/stat && [ "$pid$$" = 22 ]'];
	return codeOf([...shimWords(namespaces), '/bin/sh', '-c', text, 'sh', ...program]) === 0 ? namespaces : undefined;
}
