// What there is of a cluster on this machine and in its Engine: the same once all pods are gone, however often something was killed.

import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import {groupFolders} from '../../../agent/docker/cgroups/pod-cgroup.js';
import {readOwner} from '../../../agent/docker/owner.js';
import {readMountinfo} from '../../../agent/os/mountinfo.js';
import {valueOr} from '../../../api/value-or.js';
import {homeOf} from '../../../cli/files/home.js';
import {processesOf} from '../cluster/processes.js';
import type {Dockerd} from '../servers/dockerd.js';
import {mountsBelow} from '../servers/mounts.js';

/** Of each sort what there is. */
export type Census = {readonly [sort: string]: readonly string[]};

export type Counted = {readonly dockerd: Dockerd; readonly agentHome: string; readonly pids: {readonly [part: string]: number}};

export async function takeCensus({dockerd, agentHome, pids}: Counted): Promise<Census> {
	const {docker, folder} = dockerd;
	const linesOf = async (...words: readonly string[]): Promise<readonly string[]> =>
		(await docker(...words)).split('\n').filter(Boolean).toSorted();
	const {docker: podsFolder, data} = homeOf(agentHome);
	const owner = readOwner(podsFolder) ?? '';
	const parts = Object.entries(pids);
	return {
		containers: await linesOf('ps', '--all', '--quiet', '--no-trunc'),
		// dockerd makes its own anew at each start: other ids, the same names.
		networks: await linesOf('network', 'ls', '--format', '{{.Driver}} {{.Name}}'),
		volumes: await linesOf('volume', 'ls', '--quiet'),
		images: await linesOf('image', 'ls', '--all', '--quiet', '--no-trunc'),
		mounts: [...mountsBelow(agentHome), ...mountsBelow(folder)].toSorted(),
		'control groups': groupFolders(`/troupe-${owner}`, readMountinfo()).flatMap(foldersBelow),
		'processes with files of the home': processesOf(agentHome)
			.filter(({role}) => role !== 'cluster')
			.map(({pid, words}) => `${pid} ${words.join(' ')}`),
		'processes that name the home or the Engine': processesNaming([agentHome, folder]),
		'files of pods': [podsFolder, path.join(data, 'runtime'), path.join(data, 'secrets')].flatMap(filesBelow),
		zombies: parts.flatMap(([part, pid]) => zombiesOf(pid).map(zombie => `${part}'s ${zombie}`)),
		descriptors: parts.flatMap(([part, pid]) => descriptorsOf(pid).map(descriptor => `${part}: ${descriptor}`)),
	};
}

/** What there is more of than before. Of sockets, which connections that are kept have, so many may be. */
export function differences(before: Census, after: Census, sockets: number): readonly string[] {
	return Object.entries(after).flatMap(([sort, now]) => {
		const more = surplus(now, before[sort] ?? []);
		const isFew = more.every(each => each.endsWith(': socket')) && more.length <= sockets;
		return isFew ? [] : more.map(each => `${sort}: ${each}`);
	});
}

/** Of equals as many as there are more. */
function surplus(of: readonly string[], over: readonly string[]): readonly string[] {
	const rest = [...over];
	return of.filter(each => {
		const at = rest.indexOf(each);
		if (at >= 0) rest.splice(at, 1);
		return at < 0;
	});
}

const foldersBelow = (folder: string): readonly string[] =>
	valueOr([], () => readdirSync(folder, {recursive: true, withFileTypes: true}))
		.filter(entry => entry.isDirectory())
		.map(entry => path.join(entry.parentPath, entry.name));

/** What is made in stock has numbers, and is as much as is left of it. */
function filesBelow(folder: string): readonly string[] {
	const names = valueOr([], () => readdirSync(folder, {recursive: true, encoding: 'utf8'}));
	return [...new Set(names.map(name => path.join(folder, name.replace(/\b\d+\b/g, 'N'))))];
}

const pidsThere = (): readonly number[] => readdirSync('/proc').map(Number).filter(Boolean);

/** What serves aside: the Engine, its containerd, the agent. */
function processesNaming(folders: readonly string[]): readonly string[] {
	return pidsThere().flatMap(pid => {
		const words = valueOr([], () => readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0'));
		if (!words.some(word => folders.some(folder => word.includes(folder)))) return [];
		const program = path.basename(words[0] ?? '').split(' ')[0] ?? '';
		return ['dockerd', 'containerd', 'troupe', 'node'].includes(program) ? [] : [`${pid} ${words.join(' ')}`];
	});
}

function zombiesOf(parent: number): readonly string[] {
	return pidsThere().flatMap(pid => {
		const stat = valueOr('', () => readFileSync(`/proc/${pid}/stat`, 'latin1'));
		const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return state === 'Z' && Number(ppid) === parent ? [stat.split(' ').slice(0, 2).join(' ')] : [];
	});
}

/** By what they are; of an inotify also how much it watches. */
function descriptorsOf(pid: number): readonly string[] {
	const folder = `/proc/${pid}/fd`;
	return valueOr([], () => readdirSync(folder)).flatMap(descriptor => {
		const target = valueOr('', () => readlinkSync(path.join(folder, descriptor)));
		if (target === '') return [];
		if (target !== 'anon_inode:inotify') return [target.replace(/:\[\d+\]$/, '').replace(/\d{6}/g, 'N')];
		const watched = valueOr('', () => readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1')).match(/^inotify /gm)?.length ?? 0;
		return [`${target} of ${watched}`];
	});
}
