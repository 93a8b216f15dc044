// The mounts of a container as binds for the Engine, which mounts by path: later than this agent looks, and following links.
//
// So where a program may exchange what is on the way, what was found is mounted at a place that only the agent can change, by way of its
// descriptor: the kernel takes just that folder or file, wherever it is called something else by now. That mount is gone once the container has
// its own. Source: proc(5); CVE-2021-25741 for what goes wrong without it.

import {closeSync, existsSync, mkdirSync, openSync, readdirSync, rmdirSync, statSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {limits} from '../../../api/limits.js';
import type {MountSpec} from '../../../actors/node/runtime/runtime-port.js';
import {reach, statsOf} from '../../os/beneath.js';
import {explained} from '../../os/explained.js';
import {runTool} from '../../os/tools.js';
import type {HostPaths} from '../../volumes/host-paths.js';
import {placeIn, Refusal} from '../../volumes/mount-source.js';
import type {VolumeRecord} from '../../volumes/volumes.js';
import type {Bind} from './container-options.js';

/** Where what is mounted for a start is held. */
export type Holds = {
	/** Mounts what has just this path, which must lead through no link, at one of its own. Rejects with Refusals, Errors and errno exceptions. */
	readonly hold: (place: string, isDeep: boolean) => Promise<Held>;
	/** What an earlier agent has left is gone, or that was warned of. Never rejects. */
	readonly swept: Promise<void>;
};

type Held = {readonly path: string; readonly release: () => Promise<void>};

export type Binds = {
	readonly binds: readonly Bind[];
	/** A text in which places that only the agent knows are told as people know them. */
	readonly told: (text: string) => string;
	/** After the start: what is mounted by then stays. Never rejects. */
	readonly release: () => Promise<void>;
};

/** Only a place, for which no permission to read is needed: asm-generic/fcntl.h. */
const O_PATH = 0o10000000;

const holdsName = '.binds';

/** Of a runtime's directory. What an earlier agent has left goes first. */
export function openHolds(directory: string, onWarning: (message: string) => void): Holds {
	const folder = path.join(directory, holdsName);
	let count = 0;
	const swept = sweepHolds(directory).catch((error: unknown) => onWarning(String(error)));
	return {
		swept,
		async hold(place, isDeep) {
			await swept;
			const descriptor = reach(place, (at, {real, missing}) => {
				if (missing.length > 0 || real !== place) throw new Refusal(`"${place}" was exchanged while it was looked at`);
				return openSync(at, O_PATH);
			});
			const source = `/proc/${process.pid}/fd/${descriptor}`;
			const target = path.join(folder, String(count++));
			try {
				mkdirSync(folder, {recursive: true, mode: 0o700});
				if (statSync(source).isDirectory()) mkdirSync(target);
				else writeFileSync(target, '', {flag: 'wx'});
				// With the path as it is: made canonical it would be a name again.
				await runTool('mount', ['--no-canonicalize', isDeep ? '--rbind' : '--bind', source, target]);
				await keepApart(target);
				return {path: target, release: () => release(target)};
			} catch (error) {
				throw new Error(`it cannot be mounted: ${explained(error).replaceAll(target, place).replaceAll(source, place)}`);
			} finally {
				closeSync(descriptor);
			}
		},
	};
}

/** Takes away what is held, when no start is under way. Rejects with Errors. */
export async function sweepHolds(directory: string): Promise<void> {
	const folder = path.join(directory, holdsName);
	if (!existsSync(folder)) return;
	for (const name of readdirSync(folder)) await release(path.join(folder, name));
	rmdirSync(folder);
}

/**
 * What is taken away there stays where it was mounted first: a copy of a shared mount hands an unmount on to all others of its group. Source:
 * mount_namespaces(7).
 */
const keepApart = (target: string): Promise<unknown> => runTool('mount', ['--no-canonicalize', '--make-rslave', target]);

/** Nothing behind a mount is ever removed: only an empty folder or file goes. */
async function release(target: string): Promise<void> {
	// An agent may have died before it said so. Where nothing is mounted, both say that.
	const isApart = await keepApart(target).then(
		() => true,
		() => false,
	);
	if (isApart) await runTool('umount', ['--lazy', '--no-canonicalize', target]).catch(() => undefined);
	const {dev, size} = statSync(target);
	const isDirectory = statSync(target).isDirectory();
	if (dev !== statSync(path.dirname(target)).dev) throw new Error(`"${target}" cannot be unmounted`);
	if (isDirectory) rmdirSync(target);
	else if (size === 0) unlinkSync(target);
}

/**
 * `holds` is undefined for an agent that may mount nothing. Rejects with Refusals; then nothing is held.
 */
export async function bindsOf(
	mounts: readonly MountSpec[],
	find: (volume: string) => VolumeRecord | undefined,
	hostPaths: HostPaths,
	holds: Holds | undefined,
): Promise<Binds> {
	const tellings: Telling[] = [];
	if (mounts.length > limits.containerMounts)
		throw new Refusal(`it has ${mounts.length} mounts, at most ${limits.containerMounts} can be made`);
	const held: Held[] = [];
	const releaseAll = async (): Promise<void> => {
		for (const each of held.splice(0)) await each.release().catch(() => undefined);
	};
	try {
		const binds: Bind[] = [];
		for (const spec of mounts) {
			const record = find(spec.volume);
			const bind = await bindOf(spec, record, hostPaths, holds, held).catch((error: unknown) => {
				throw error instanceof Refusal ? error : new Refusal(`volume "${spec.volume}": ${explained(error)}`);
			});
			binds.push(bind);
			tellings.push({place: bind.source, words: wordsOf(spec, record)});
		}
		return {binds, told: toldBy(tellings), release: releaseAll};
	} catch (error) {
		await releaseAll();
		throw error;
	}
}

type Telling = {readonly place: string; readonly words: string};

/** The path of a hostPath, and the name of any other volume. */
const wordsOf = ({volume, subPath = ''}: MountSpec, record: VolumeRecord | undefined): string =>
	record?.type === 'hostPath' ? path.join(record.path, subPath) : [`volume ${volume}`, ...(subPath === '' ? [] : [subPath])].join(': ');

/** The longest first: one may be the beginning of another. */
const toldBy =
	(tellings: readonly Telling[]) =>
	(text: string): string =>
		tellings
			.toSorted((one, other) => other.place.length - one.place.length)
			.reduce((told, {place, words}) => told.replaceAll(place, () => words), text);

async function bindOf(
	{volume, path: wanted, subPath = '', readOnly}: MountSpec,
	record: VolumeRecord | undefined,
	hostPaths: HostPaths,
	holds: Holds | undefined,
	held: Held[],
): Promise<Bind> {
	const refused = (reason: string): Refusal => new Refusal(`volume "${volume}": ${reason}`);
	if (record === undefined) throw refused('it is not there');
	if (record.type === 'nfs') throw refused('pods of class docker have no volumes of NFS');
	if (!path.isAbsolute(wanted) || path.resolve(wanted) === '/') throw refused(`it cannot be mounted at "${wanted}"`);
	const place = placeIn(record, subPath, hostPaths, refused);
	const bind = {
		source: place,
		target: path.resolve(wanted),
		readOnly: readOnly || record.type === 'files',
		// What is mounted below a folder of the host would stay writable in one that is not.
		isDeep: record.type === 'hostPath' && !readOnly && statsOf(place).isDirectory(),
	};
	// What is in a volume of files only the agent changes, as the folders of all volumes of its own.
	const isSafe = record.type === 'files' || (record.type === 'scratch' && subPath === '');
	if (isSafe) return bind;
	if (holds === undefined) {
		if (subPath !== '') throw refused('subPath needs an agent that is root, which can see to it that no link leads it elsewhere');
		return bind;
	}
	const found = await holds.hold(place, bind.isDeep);
	held.push(found);
	return {...bind, source: found.path};
}
