// Where each mount of a container comes from and where it goes, and what a private root needs so that it can be there.
//
// A mount point that the node does not have is never made on the node: the folder it would be in is covered, that is, a folder of a small
// file system in memory stands in its place, with all that is in the node's own bound into it. What is covered besides is each folder on
// the way to it, up to the root.

import {accessSync, constants, opendirSync, statSync, type Dirent, type Stats} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {limits} from '../../../api/limits.js';
import {unmountable} from '../../../api/mount-places.js';
import type {MountSpec} from '../../../actors/node/runtime/runtime-port.js';
import {isRelativeDown, isWithin, makeFileBeneath, makeFoldersBeneath, reach, resolved, statsOf, type Resolved} from '../../os/beneath.js';
import {explained} from '../../os/explained.js';
import {realOf, type HostPaths} from '../../volumes/host-paths.js';
import {downOnly, placeIn, Refusal, type Refused} from '../../volumes/mount-source.js';
import type {NfsTools} from '../../volumes/nfs.js';
import type {VolumeRecord} from '../../volumes/volumes.js';
import type {OwnFile} from '../sandboxes/names.js';
import {mountTable} from './mount-table.js';

export type Mount = {
	readonly volume: string;
	/** Without links. What is mounted is this folder, or the file of this name in it. */
	readonly folder: string;
	readonly file: string | undefined;
	/** As it was asked for, and without links: both as the program sees it. */
	readonly path: string;
	readonly target: string;
	readonly readOnly: boolean;
	/** With what is mounted below it. */
	readonly isDeep: boolean;
	/** Mount points of other volumes may be made in it. */
	readonly isScratch: boolean;
	/** What is mounted instead of the folder, which stands for it: a part of what another host exports. */
	readonly remote?: {readonly from: string; readonly subPath: string; readonly tools: NfsTools};
};

/** A folder of the node of which a private root has one of its own. */
export type Cover = {
	readonly folder: string;
	readonly mode: number;
	readonly uid: number;
	readonly gid: number;
	/** Names of what is bound, and of links, which are copied. */
	readonly folders: readonly string[];
	readonly files: readonly string[];
	readonly links: readonly string[];
	/** Others than root could put something else in the place of what is in it. */
	readonly isOpen: boolean;
};

export type MountPlan = {
	/** An empty folder on which a private root is put together. */
	readonly root: string;
	/** A file that the shim may write: what is mounted to hide folders. */
	readonly table: string;
	/** From the root down; none: everything is mounted where the node has a place for it. */
	readonly covers: readonly Cover[];
	/** Mount points that a private root has beside that, absolute. */
	readonly newFolders: readonly string[];
	readonly newFiles: readonly string[];
	readonly mounts: readonly Mount[];
	readonly isReadOnly: boolean;
	/** Where the program would see what it is not to see. */
	readonly hidden: readonly string[];
	/** The folder of the pod, which is there all the same; undefined: there is none, or something is mounted over it. */
	readonly podHome: string | undefined;
};

export type Wanted = Pick<MountPlan, 'root' | 'table'> & {
	readonly mounts: readonly MountSpec[];
	readonly readOnlyRoot: boolean;
	/** Folders of the node, without links and none in another, that the program is not to see. */
	readonly hidden: readonly string[];
	/** The folder of the pod, without links. */
	readonly podHome: string | undefined;
	/** Device files that nothing of it may open. */
	readonly closed?: readonly string[] | undefined;
	readonly find: (volume: string) => VolumeRecord | undefined;
	readonly hostPaths: HostPaths;
	/** In place of files of the host. */
	readonly ownFiles?: readonly OwnFile[];
	/** Undefined: no file system of another host can be mounted. */
	readonly nfs?: NfsTools | undefined;
};

export type Planned = {readonly ok: true; readonly plan: MountPlan | undefined} | {readonly ok: false; readonly reason: string};

/** Undefined: the container has nothing mounted, nothing is hidden from it, and it needs no view of its own. */
export function planMounts(wanted: Wanted): Planned {
	const {mounts, readOnlyRoot, hidden, ownFiles = [], closed = []} = wanted;
	if (!readOnlyRoot && [mounts, hidden, ownFiles, closed].every(({length}) => length === 0)) return {ok: true, plan: undefined};
	try {
		return {ok: true, plan: planned(wanted)};
	} catch (error) {
		return {ok: false, reason: error instanceof Refusal ? error.message : explained(error)};
	}
}

function planned({
	root,
	table,
	mounts: specs,
	readOnlyRoot,
	find,
	hostPaths,
	nfs,
	hidden,
	podHome,
	ownFiles = [],
	closed = [],
}: Wanted): MountPlan {
	if (specs.length > limits.containerMounts)
		throw new Refusal(`it has ${specs.length} mounts, at most ${limits.containerMounts} can be made`);
	const mounts: Mount[] = closed.map(closingMount);
	const covered = new Set<string>();
	const newFolders = new Set<string>();
	const newFiles = new Set<string>();
	for (const spec of [...specs].sort((a, b) => depthOf(a.path) - depthOf(b.path))) {
		const source = sourceOf(spec, find(spec.volume), hostPaths, nfs);
		const {target, missing} = targetOf(spec, source, mounts, hidden);
		mounts.push({...source, path: path.resolve(spec.path), target});
		if (missing === 0) continue;
		const names = target.split('/').slice(1);
		const pathOf = (count: number): string => `/${names.slice(0, count).join('/')}`;
		const there = names.length - missing;
		for (let count = 0; count <= there; count++) covered.add(pathOf(count));
		for (let count = there + 1; count < names.length; count++) newFolders.add(pathOf(count));
		(source.file === undefined ? newFolders : newFiles).add(target);
	}
	for (const own of ownFiles) mounts.push(...ownMount(own, mounts));
	const places = shownAt(hidden, mounts);
	// With a root of its own what is mounted comes from the node as it is: nothing shows by way of another mount.
	if (readOnlyRoot || places.some(place => !hidden.includes(place))) covered.add('/');
	const covers = coversOf(
		[...covered].sort((a, b) => depthOf(a) - depthOf(b)),
		new Set([...newFolders, ...newFiles]),
	);
	refuseLarge(covers, root);
	return {
		root,
		table,
		covers,
		newFolders: [...newFolders],
		newFiles: [...newFiles],
		mounts,
		isReadOnly: readOnlyRoot,
		hidden: places,
		podHome: podHome !== undefined && onNode(mounts, podHome).file === podHome ? podHome : undefined,
	};
}

/** A device file over itself, as it is on a file system whose devices cannot be opened: by root neither. */
function closingMount(file: string): Mount {
	const {place} = resolved(file);
	const source = {volume: file, folder: path.dirname(place), file: path.basename(place)};
	return {...source, path: file, target: place, readOnly: true, isDeep: false, isScratch: false};
}

/** None where the manifest has something there itself. */
function ownMount({file, place: wanted, isAsked}: OwnFile, mounts: readonly Mount[]): readonly Mount[] {
	const {place, missing} = resolved(wanted);
	if (mounts.some(({target, path: asked}) => isWithin(target, place) || isWithin(asked, wanted))) return [];
	if (missing.length > 0 && isAsked)
		throw new Refusal(`its pod is to have an ${wanted} of its own, and this node has none that it could stand for`);
	if (missing.length > 0) return [];
	const source = {volume: wanted, folder: path.dirname(file), file: path.basename(file)};
	return [{...source, path: wanted, target: place, readOnly: true, isDeep: false, isScratch: false}];
}

/** Where the program would see these folders: where they are, and in each folder of the node that is mounted and has them. */
function shownAt(hidden: readonly string[], mounts: readonly Mount[]): readonly string[] {
	const inMounts = mounts.flatMap(({folder, file, target}) =>
		file === undefined ? hidden.filter(each => isWithin(folder, each)).map(each => path.join(target, path.relative(folder, each))) : [],
	);
	return [...new Set([...hidden, ...inMounts])].filter(place => hidden.includes(onNode(mounts, place).file));
}

const depthOf = (file: string): number => path.resolve(file).split('/').filter(Boolean).length;

// ---- where it comes from ---------------------------------------------------------------------------------------------------

type Source = Omit<Mount, 'path' | 'target'>;

function sourceOf(
	{volume, subPath, readOnly}: MountSpec,
	record: VolumeRecord | undefined,
	hostPaths: HostPaths,
	nfs: NfsTools | undefined,
): Source {
	const refused = (reason: string): Refusal => new Refusal(`volume "${volume}": ${reason}`);
	if (record === undefined) throw refused('it is not there');
	if (record.type === 'nfs') {
		if (nfs === undefined) throw refused('this node mounts no NFS any more');
		if (subPath !== undefined && !isRelativeDown(subPath)) throw refused(downOnly(subPath));
		const remote = {from: record.from, subPath: path.normalize(subPath ?? '.'), tools: nfs};
		return {volume, folder: record.place, file: undefined, readOnly: readOnly || record.readOnly, isDeep: false, isScratch: false, remote};
	}
	const place = placeIn(record, subPath, hostPaths, refused);
	const isFolder = statsOf(place).isDirectory();
	return {
		volume,
		folder: isFolder ? place : path.dirname(place),
		file: isFolder ? undefined : path.basename(place),
		readOnly: readOnly || record.type === 'files',
		isDeep: record.type === 'hostPath' && !readOnly && isFolder,
		isScratch: record.type === 'scratch' && !readOnly && isFolder,
	};
}

// ---- where it goes ---------------------------------------------------------------------------------------------------------

/** `missing`: how many of its last names the node does not have. */
function targetOf(
	{path: wanted, volume}: MountSpec,
	source: Source,
	earlier: readonly Mount[],
	hidden: readonly string[],
): {readonly target: string; readonly missing: number} {
	const refused = (reason: string): Refusal => new Refusal(`volume "${volume}" cannot be mounted at "${wanted}": ${reason}`);
	if (!path.isAbsolute(wanted) || wanted.includes('\0')) throw refused('it must be an absolute path');
	const plain = path.resolve(wanted);
	const around = earlier.findLast(mount => isWithin(mount.path, plain));
	// What is in a volume hides what the node has there.
	const {place, missing, real} =
		around === undefined ? resolved(plain) : resolvedIn(path.join(around.target, path.relative(around.path, plain)));
	const never = unmountable(place);
	if (never !== undefined) throw refused(never);
	if (shownAt(hidden, earlier).some(folder => isWithin(folder, place))) throw refused(`that is in ${hiddenNoun}`);
	const outer = earlier.findLast(mount => isWithin(mount.target, place));
	if (outer !== undefined) {
		if (outer.target === place) throw refused(`volume "${outer.volume}" is there`);
		makePlaceIn(outer, path.relative(outer.target, place), source, refused);
		return {target: place, missing: 0};
	}
	const found = statsOf(real);
	if (missing.length > 0 && !found.isDirectory()) throw refused(`"${real}" is not a folder`);
	if (missing.length === 0 && found.isDirectory() !== (source.file === undefined)) throw refused(clash(source));
	return {target: place, missing: missing.length};
}

/** What a program does not see. */
export const hiddenNoun = 'the folder of Troupe itself';

const resolvedIn = (place: string): Resolved => ({place, real: place, missing: []});

const clash = ({file}: Source): string =>
	file === undefined ? 'a file is there, and it is a folder' : 'a folder is there, and it is a file';

/** In a volume a mount point may have to be made, which only a scratch one lets. */
function makePlaceIn(outer: Mount, rest: string, source: Source, refused: Refused): void {
	if (outer.file !== undefined) throw refused(`volume "${outer.volume}" is a file there`);
	const wanted = path.join(outer.folder, rest);
	const {place, missing} = resolved(wanted);
	if (place !== wanted) throw refused(`a link in volume "${outer.volume}" is there`);
	if (missing.length === 0) {
		if (statsOf(place).isDirectory() !== (source.file === undefined)) throw refused(clash(source));
		return;
	}
	if (!outer.isScratch) throw refused(`volume "${outer.volume}" has no such place, and nothing can be made in it`);
	if (source.file === undefined) return makeFoldersBeneath(outer.folder, rest);
	makeFoldersBeneath(outer.folder, path.dirname(rest));
	makeFileBeneath(outer.folder, rest, 0o644);
}

// ---- covers ----------------------------------------------------------------------------------------------------------------

const coversOf = (folders: readonly string[], taken: ReadonlySet<string>): readonly Cover[] =>
	folders.map(folder => coverOf(folder, new Set([...folders, ...taken])));

/** Each entry is a mount, and all of a folder have to be said in one word. */
function refuseLarge(covers: readonly Cover[], root: string): void {
	let entries = 0;
	for (const cover of covers) {
		const {folder, folders, files} = cover;
		entries += sizeOf(cover);
		const bytes = Buffer.byteLength(mountTable([...folders, ...files], path.join(root, folder)));
		if (entries <= limits.privateRootEntries && bytes <= limits.mountTableBytes) continue;
		throw new Refusal(
			`a mount point in "${folder}" is not there, and that folder has ${sizeOf(cover)} or more entries, too many to be shown beside a new one: make the mount point on the node, or mount elsewhere`,
		);
	}
}

const sizeOf = ({folders, files, links}: Cover): number => folders.length + files.length + links.length;

/** No more than it takes to see that there are too many: any program may fill /tmp. */
function entriesOf(folder: string): readonly Dirent[] {
	const entries: Dirent[] = [];
	const open = opendirSync(folder);
	try {
		for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
			entries.push(entry);
			if (entries.length > 2 * limits.privateRootEntries) break;
		}
	} finally {
		open.closeSync();
	}
	return entries;
}

/** Names that are no UTF-8 cannot be said and are left out. */
function coverOf(folder: string, besides: ReadonlySet<string>): Cover {
	const {all, ...owner} = reach(folder, at => ({all: entriesOf(at), ...ownerOf(at)}));
	const entries = all.filter(({name}) => !besides.has(path.join(folder, name)) && !name.includes('\uFFFD'));
	const namesOf = (is: (entry: Dirent) => boolean): string[] => entries.filter(is).map(({name}) => name);
	return {
		folder,
		...owner,
		folders: namesOf(entry => entry.isDirectory()),
		files: namesOf(entry => !entry.isDirectory() && !entry.isSymbolicLink()),
		links: namesOf(entry => entry.isSymbolicLink()),
		isOpen: isOpen(folder),
	};
}

/**
 * Whose a covered folder is. Where the agent is an ordinary user all of it belongs to that user, who is root there: it may write where it
 * may on the node.
 */
function ownerOf(folder: string): Pick<Cover, 'mode' | 'uid' | 'gid'> {
	const {mode, uid, gid} = statSync(folder);
	if (process.getuid?.() === 0) return {mode: mode & 0o7777, uid, gid};
	return {mode: mayWrite(folder) ? mode & 0o7777 : mode & 0o7577, uid: 0, gid: 0};
}

function mayWrite(folder: string): boolean {
	try {
		accessSync(folder, constants.W_OK);
		return true;
	} catch {
		return false;
	}
}

/** Whether others than root may change what is in a folder, or on the way to it. */
export function isOpen(folder: string): boolean {
	const isFixed = ({uid, gid, mode}: Stats): boolean => uid === 0 && (mode & 0o002) === 0 && (gid === 0 || (mode & 0o020) === 0);
	for (let above = folder; ; above = path.dirname(above)) {
		if (!isFixed(statsOf(above))) return true;
		if (above === path.dirname(above)) return false;
	}
}

// ---- as the program sees it ------------------------------------------------------------------------------------------------

/** Where a path of the program is on the node. */
export type Seen = {readonly file: string; readonly isInVolume: boolean};

/** `new`: a folder that only the private root has. `hidden`: the program does not see it. */
export function seenBy(plan: MountPlan | undefined): (file: string) => Seen | 'new' | 'hidden' {
	return file => {
		if (plan === undefined) return {file, isInVolume: false};
		const place = realOf(file);
		const isAtHome = plan.podHome !== undefined && isWithin(plan.podHome, place);
		if (!isAtHome && plan.hidden.some(folder => isWithin(folder, place))) return 'hidden';
		const seen = onNode(plan.mounts, place);
		if (seen.isInVolume) return seen;
		return plan.newFolders.includes(place) ? 'new' : {file, isInVolume: false};
	};
}

function onNode(mounts: readonly Mount[], place: string): Seen {
	const mount = mounts.findLast(({target}) => isWithin(target, place));
	if (mount === undefined) return {file: place, isInVolume: false};
	const top = mount.file === undefined ? mount.folder : path.join(mount.folder, mount.file);
	return {file: path.join(top, path.relative(mount.target, place)), isInVolume: true};
}
