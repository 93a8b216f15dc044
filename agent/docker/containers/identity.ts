// Which user and groups a container gets: from its spec, its image's USER and the image's /etc/passwd and /etc/group. Pure.
//
// The Engine adds the groups that the image gives a user just when no group is named (runc, libcontainer/user). So Strict names one, and Merge
// beside a runAsGroup lists them.

import type {ContainerSpec} from '../../../actors/node/runtime/runtime-port.js';

/** What an image says of its users; the files are empty where it has none. */
export type ImageUsers = {readonly user: string; readonly passwd: string; readonly group: string};

export type Identity = {
	/** As the Engine takes it: `1000`, `1000:1000`; '': the image's. */
	readonly user: string;
	/** Beside its own group. */
	readonly groups: readonly number[];
};

type Wanted = Pick<ContainerSpec, 'runAsUser' | 'runAsGroup' | 'runAsNonRoot' | 'groups' | 'groupsPolicy'>;

/** Whether the image has to be looked at. */
export const needsImage = ({runAsUser, runAsGroup, runAsNonRoot, groupsPolicy}: Wanted): boolean =>
	groupsPolicy === 'Strict'
		? runAsUser === undefined || runAsGroup === undefined
		: runAsGroup !== undefined || (runAsNonRoot && runAsUser === undefined);

export type Identified = {readonly ok: true; readonly identity: Identity} | {readonly ok: false; readonly reason: string};

/** `image` is undefined where `needsImage` says so. */
export function identityOf(wanted: Wanted, image: ImageUsers = {user: '', passwd: '', group: ''}): Identified {
	const {runAsUser, runAsGroup, runAsNonRoot, groups, groupsPolicy} = wanted;
	const [imageUser = '', imageGroup] = image.user.split(':');
	const name = runAsUser === undefined ? imageUser : String(runAsUser);
	const entry = entryOf(image.passwd, name === '' ? '0' : name);
	if (runAsNonRoot) {
		const uid = runAsUser ?? uidOf(imageUser, entry);
		if (uid === undefined)
			return {
				ok: false,
				reason: `runAsNonRoot is set, and user "${imageUser}" of its image is not in that image's /etc/passwd: set runAsUser`,
			};
		if (uid === 0) return {ok: false, reason: 'runAsNonRoot is set and it would run as root: set runAsUser to another user'};
	}
	if (runAsGroup === undefined && groupsPolicy === 'Merge')
		return {ok: true, identity: {user: runAsUser === undefined ? '' : name, groups}};
	const ofImage = runAsUser === undefined ? imageGroup : undefined;
	const group = runAsGroup ?? ofImage ?? entry?.gid ?? 0;
	const more = groupsPolicy === 'Merge' && entry !== undefined ? groupsWith(image.group, entry.name) : [];
	return {ok: true, identity: {user: `${name === '' ? '0' : name}:${group}`, groups: [...new Set([...groups, ...more])]}};
}

function uidOf(user: string, entry: Entry | undefined): number | undefined {
	if (user === '') return 0;
	return /^\d+$/.test(user) ? Number(user) : entry?.uid;
}

type Entry = {readonly name: string; readonly uid: number; readonly gid: number};

/** By name or number: passwd(5). */
function entryOf(passwd: string, user: string): Entry | undefined {
	for (const line of passwd.split('\n')) {
		const [name = '', , uid = '', gid = ''] = line.split(':');
		if (!/^\d+$/.test(uid) || !/^\d+$/.test(gid)) continue;
		if (name === user || uid === user) return {name, uid: Number(uid), gid: Number(gid)};
	}
	return undefined;
}

/** Numbers of the groups that list a user: group(5). */
const groupsWith = (group: string, user: string): readonly number[] =>
	group.split('\n').flatMap(line => {
		const [, , gid = '', members = ''] = line.split(':');
		return /^\d+$/.test(gid) && members.split(',').includes(user) ? [Number(gid)] : [];
	});
