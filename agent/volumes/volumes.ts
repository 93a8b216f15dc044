// The volumes of pods, as folders: `<uid>/.volumes/<name>/` has a small file that says what it is, and its data unless that is elsewhere.
//
// The files are the truth: a later agent finds what an earlier one made. Nothing of a host's own is ever mounted or linked in these
// folders, so that removing a sandbox removes what is its own and nothing else.

import {lstatSync, readFileSync} from 'node:fs';
import {chmod, chown, rename, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {AppError, failed, succeeded, type Outcome} from '../../api/errors.js';
import {valueOr} from '../../api/value-or.js';
import type {RuntimeCommand, VolumeSource, VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import {keyMissing, openSecrets, secretMissing, type OpenedSecrets} from '../secret-open.js';
import {isRelativeDown} from '../os/beneath.js';
import {explained} from '../os/explained.js';
import {removeTree} from '../os/trees.js';
import {foldersIn} from '../os/folders.js';
import type {User} from '../os/user.js';
import type {FolderUsage} from './folder-usage.js';
import {hostPathOf, type HostPaths} from './host-paths.js';
import type {LocalVolumes} from './local-volumes.js';
import type {Memory, VolumeOwner} from './memory.js';
import {exportOf, noNfs} from './nfs.js';
import {putFiles, type FileContent} from './volume-files.js';
import {makeFolder} from './volume-folder.js';

/** What the file of a volume says. */
export type VolumeRecord =
	| {readonly type: 'hostPath'; readonly path: string; readonly check: string}
	/** `place`: absolute. Its programs may write into it. */
	| {readonly type: 'scratch'; readonly place: string}
	/** `place`: an empty folder that stands for it, into which nobody looks. */
	| {readonly type: 'nfs'; readonly place: string; readonly from: string; readonly readOnly: boolean}
	/** Only the agent writes. */
	| {readonly type: 'files'; readonly place: string};

type Command = Extract<RuntimeCommand, {type: 'volumes.ensure'}>;
type Removal = Omit<Extract<RuntimeCommand, {type: 'volume.remove'}>, 'type'>;

export type Volumes = {
	/** Answers with `ERR_CONFIG_MISSING` for a Secret or an entry that is not there and `ERR_RUNTIME` for what this node cannot do. */
	readonly ensure: (command: Command, done: (outcome: Outcome<null>) => void) => void;
	/** Undefined: there is no such volume, or its file is damaged. */
	readonly find: (uid: string, name: string) => VolumeRecord | undefined;
	/** After what is under way for the pod. Rejects with errno exceptions and Errors. */
	readonly remove: (uid: string) => Promise<void>;
	/** Removes the folder of a `local` volume, or says that it could be; answers with `ERR_RUNTIME` while a pod has it. */
	readonly removeLocal: (command: Removal, done: (outcome: Outcome<null>) => void) => void;
	/** How much of the disk it takes; answers with `ERR_RUNTIME` when that cannot be counted. */
	readonly measureLocal: (volume: string, done: (outcome: Outcome<{readonly usedBytes: number}>) => void) => void;
};

export type VolumesOptions = {
	readonly folderOf: (uid: string) => string;
	/** Undefined: it was removed. */
	readonly find: (uid: string) => {readonly owner: {readonly user: User} | undefined} | undefined;
	/** Undefined: nothing can be kept in memory only. */
	readonly memory: Memory | undefined;
	/** Undefined: this node has none. */
	readonly local: LocalVolumes | undefined;
	readonly usage: FolderUsage;
	/** The pods there are. */
	readonly list: () => readonly string[];
	readonly secrets: NodeSecrets;
	readonly hostPaths: HostPaths;
	/** Whether file systems of other hosts can be mounted. */
	readonly hasNfs: boolean;
	/** Who the agent is: only root gives files away. */
	readonly isRoot: boolean;
};

const volumesName = '.volumes';
const recordName = 'volume.json';

/** A reason that is told. */
const refusal = (message: string, code: 'ERR_RUNTIME' | 'ERR_CONFIG_MISSING' | 'ERR_BAD_REQUEST' = 'ERR_RUNTIME'): AppError =>
	new AppError(code, {message});

type State = VolumesOptions & {
	/** What is under way, by pod: one after the other. */
	readonly queues: Map<string, Promise<unknown>>;
};

export function createVolumes(options: VolumesOptions): Volumes {
	const state: State = {...options, queues: new Map()};
	const answer = <Value>(result: Promise<Value>, done: (outcome: Outcome<Value>) => void): void =>
		void result.then(
			value => done(succeeded(value)),
			(error: unknown) => done(failed(error instanceof AppError ? error.code : 'ERR_RUNTIME', {message: explained(error)})),
		);
	return {
		ensure: (command, done) =>
			answer(
				inTurn(state, command.uid, () => ensureAll(state, command)).then(() => null),
				done,
			),
		removeLocal: (removal, done) =>
			answer(
				inTurn(state, turnOf(removal.volume), () => removeLocal(state, removal)).then(() => null),
				done,
			),
		measureLocal: (volume, done) => answer(measureLocal(state, volume), done),
		find: (uid, name) => find(state, uid, name),
		remove: uid =>
			inTurn(state, uid, async () => {
				await state.memory?.remove(uid);
				await removeTree(path.join(state.folderOf(uid), volumesName));
			}),
	};
}

function inTurn<Value>({queues}: State, uid: string, run: () => Promise<Value>): Promise<Value> {
	const current = (queues.get(uid) ?? Promise.resolve()).then(run, run);
	const settled = current
		.catch(() => undefined)
		.then(() => {
			if (queues.get(uid) === settled) queues.delete(uid);
		});
	queues.set(uid, settled);
	return current;
}

const isFolder = (place: string): boolean => lstatSync(place, {throwIfNoEntry: false})?.isDirectory() === true;

/** No pod is called like that. */
const turnOf = (volume: string): string => `volume/${volume}`;

function find(state: State, uid: string, name: string): VolumeRecord | undefined {
	const file = path.join(folderOfVolume(state, uid, name), recordName);
	return valueOr(undefined, () => JSON.parse(readFileSync(file, 'utf8')) as VolumeRecord);
}

/** Beside whatever else is done with it: nothing waits for a count. */
async function measureLocal({local, usage}: State, volume: string): Promise<{readonly usedBytes: number}> {
	const place = local?.placeOf(volume);
	if (place === undefined || !isFolder(place)) throw refusal(`there is no volume "${volume}"`);
	return {usedBytes: await usage.count(place)};
}

/** A sandbox that is there may have it mounted, whatever has become of its pod. */
async function removeLocal(state: State, {volume, onlyCheck = false}: Removal): Promise<void> {
	const {local, list, folderOf} = state;
	if (local === undefined) return;
	const place = local.placeOf(volume);
	for (const uid of list()) {
		const names = foldersIn(path.join(folderOf(uid), volumesName));
		const hasIt = names.some(name => {
			const record = find(state, uid, name);
			return record?.type === 'scratch' && record.place === place;
		});
		if (hasIt) throw refusal(`volume "${volume}" is still used by the pod with uid ${uid}`);
	}
	if (!onlyCheck) await local.remove(volume);
}

const folderOfVolume = ({folderOf}: State, uid: string, name: string): string => path.join(folderOf(uid), volumesName, name);

async function ensureAll(state: State, {uid, namespace, volumes, fsGroup}: Command): Promise<void> {
	const pod = state.find(uid);
	if (pod === undefined) throw refusal(`the sandbox "${uid}" is not there any more`);
	if (volumes.length > 0) await makeFolder(path.join(state.folderOf(uid), volumesName), 0o700);
	const owner = state.isRoot ? ownerOf(pod.owner?.user, fsGroup) : undefined;
	for (const volume of volumes) {
		try {
			await ensureOne(state, uid, namespace, volume, owner);
		} catch (error) {
			if (error instanceof AppError) throw new AppError(error.code, {message: `volume "${volume.name}": ${error.message}`});
			throw refusal(`volume "${volume.name}" cannot be made: ${explained(error)}`);
		}
	}
}

async function ensureOne(
	state: State,
	uid: string,
	namespace: string,
	{name, source}: VolumeSpec,
	owner: VolumeOwner | undefined,
): Promise<void> {
	const folder = folderOfVolume(state, uid, name);
	await makeFolder(folder, 0o700);
	const record = await recordOf(state, uid, namespace, name, source, owner);
	// All at once: a container may start just now.
	await writeFile(path.join(folder, `${recordName}.new`), JSON.stringify(record), {mode: 0o600});
	await rename(path.join(folder, `${recordName}.new`), path.join(folder, recordName));
}

async function recordOf(
	state: State,
	uid: string,
	namespace: string,
	name: string,
	source: VolumeSource,
	owner: VolumeOwner | undefined,
): Promise<VolumeRecord> {
	const onDisk = path.join(folderOfVolume(state, uid, name), 'data');
	switch (source.type) {
		case 'hostPath': {
			const found = hostPathOf(source.path, source.check, state.hostPaths);
			if (!found.ok) throw refusal(found.reason);
			return {type: 'hostPath', path: source.path, check: source.check};
		}
		case 'local': {
			const {local} = state;
			if (local === undefined) throw refusal('this node keeps no volumes of claims');
			const {volume, path: said} = source;
			return {type: 'scratch', place: await inTurn(state, turnOf(volume), () => local.make(volume, said, owner))};
		}
		case 'nfs': {
			if (!state.hasNfs) throw refusal(noNfs(state.isRoot));
			return {type: 'nfs', place: await makeFolder(onDisk, 0o777), from: exportOf(source.server, source.path), readOnly: source.readOnly};
		}
		case 'emptyDir': {
			if (!source.inMemory) return {type: 'scratch', place: await makeFolder(onDisk, 0o777, owner)};
			if (state.memory === undefined) throw refusal('medium Memory needs an agent that is root and may mount file systems');
			return {type: 'scratch', place: await state.memory.makeVolume(uid, name, {sizeBytes: source.sizeLimitBytes, owner})};
		}
		case 'files': {
			const files = source.files.map(({path: file, mode, data}) => ({path: file, mode, data: Buffer.from(data, 'base64')}));
			return {type: 'files', place: await fill(onDisk, files, owner)};
		}
		case 'secret': {
			const files = secretFiles(source, namespace, await openedSecret(source, namespace, state.secrets));
			return {
				type: 'files',
				place: await fill(state.memory === undefined ? onDisk : await state.memory.makeFolder(uid, name), files, owner),
			};
		}
	}
}

/** What is made for a pod is its user's, and its fsGroup's where it names one. */
function ownerOf(user: User | undefined, fsGroup: number | undefined): VolumeOwner | undefined {
	if (user === undefined && fsGroup === undefined) return undefined;
	return {uid: user?.uid ?? -1, gid: fsGroup ?? user?.gid ?? -1, isGroup: fsGroup !== undefined};
}

async function fill(folder: string, files: readonly FileContent[], owner: VolumeOwner | undefined): Promise<string> {
	const wrong = files.find(file => !isRelativeDown(file.path) || file.path === '' || file.path.startsWith('..'));
	if (wrong !== undefined) throw refusal(`the path of a file must lead down, got ${JSON.stringify(wrong.path)}`, 'ERR_BAD_REQUEST');
	const isGroup = owner?.isGroup === true;
	await makeFolder(folder, 0o755, owner);
	if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
	await chmod(folder, isGroup ? 0o2755 : 0o755);
	// As Kubernetes has it: the group reads what the owner reads.
	await putFiles(folder, isGroup ? files.map(file => ({...file, mode: file.mode | 0o440})) : files, owner);
	return folder;
}

type SecretSource = Extract<VolumeSource, {type: 'secret'}>;

const openedSecret = ({ref}: SecretSource, namespace: string, secrets: NodeSecrets): Promise<OpenedSecrets> =>
	new Promise((resolve, reject) =>
		openSecrets([ref], namespace, secrets, opened => {
			if (opened.ok) resolve(opened.value);
			else reject(AppError.of(opened.error));
		}),
	);

function secretFiles({ref, items, mode}: SecretSource, namespace: string, opened: OpenedSecrets): readonly FileContent[] {
	const data = opened.get(ref.secret);
	if (data === undefined) {
		if (ref.optional) return [];
		throw refusal(secretMissing(ref.secret), 'ERR_CONFIG_MISSING');
	}
	const wanted = items ?? Object.keys(data).map(key => ({key, path: key, mode}));
	return wanted.flatMap(({key, path: file, mode: ofFile}) => {
		const value = Object.hasOwn(data, key) ? data[key] : undefined;
		if (value !== undefined) return [{path: file, mode: ofFile, data: Buffer.from(value, 'base64')}];
		if (ref.optional) return [];
		throw refusal(keyMissing(key, namespace, ref.secret), 'ERR_CONFIG_MISSING');
	});
}
