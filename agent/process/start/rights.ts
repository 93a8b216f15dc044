// The words that make a process one of a user: what drops the rights of the agent before a program.

import type {Host} from '../host/host.js';
import type {MountTools} from '../mounts/mount-script.js';
import {isSameUser} from '../../os/user.js';
import {noGainWords, obstacleToGroups, setprivWords, type Drop} from '../users/privileges.js';

/** The words that make a process one of that user, with just these groups; undefined: it is one already. */
export type Rights = {readonly ok: true; readonly drop: readonly string[] | undefined} | {readonly ok: false; readonly reason: string};

export function rightsOf(host: Pick<Host, 'agent' | 'groups' | 'dropper' | 'noGain'>, drop: Drop): Rights {
	const {user, groups, mayGain} = drop;
	const obstacle = obstacleToGroups(host.agent, host.groups, groups);
	if (obstacle !== undefined) return {ok: false, reason: obstacle};
	const isAgent = isSameUser(user, host.agent);
	const keeping = mayGain || host.noGain === undefined ? undefined : noGainWords(host.noGain);
	if (isAgent && (host.agent.uid !== 0 || groups.length === 0)) return {ok: true, drop: keeping};
	if (host.dropper === undefined && groups.length > 0)
		return {ok: false, reason: 'it asks for groups, and no program of this node can give them'};
	return {ok: true, drop: host.dropper === undefined ? keeping : host.dropper(drop)};
}

/** The same in a view of its own, which has made sure of setpriv. */
export function rightsInView({setpriv}: MountTools, drop: Drop): readonly string[] | undefined {
	const {user, groups, mayGain} = drop;
	const isRoot = user.uid === 0 && user.gid === 0 && groups.length === 0;
	if (isRoot) return mayGain ? undefined : noGainWords(setpriv);
	return setprivWords(setpriv, drop);
}

/** Where the program is in a user namespace of its own it has no rights to drop. */
export const dropInView = (
	{agent, mountTools}: Pick<Host, 'agent' | 'mountTools'>,
	words: readonly string[] | undefined,
	drop: Drop,
): readonly string[] | undefined => (agent.uid !== 0 || mountTools === undefined ? words : rightsInView(mountTools, drop));
