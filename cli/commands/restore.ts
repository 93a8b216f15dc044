// `troupe restore FILE`: an empty store is filled from a backup, after all of it was read once and found whole, and after the key was
// found to open it.

import {createReadStream, existsSync} from 'node:fs';
import path from 'node:path';
import {kinds} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {parseObjectKey, parseStoreKey, vaultStoreKey} from '../../api/keys.js';
import {authorityName} from '../../server/certificates.js';
import {isForeignKey, openVault} from '../../server/vault.js';
import {writeSynced} from '../../system/files/atomic-file.js';
import {readBackup, type BackupReader} from '../../system/store/backup.js';
import {systemClock} from '../../system/time/clock.js';
import {readKey} from '../../system/files/key-file.js';
import {restore} from '../../system/store/restore.js';
import type {StoreDriver} from '../../system/store/store.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {lineageIn} from '../serving/control/first-start.js';
import {homeOf, type Home} from '../files/home.js';
import {makeFolder} from '../files/make-folder.js';
import {refuseIfRunning} from '../files/processes.js';
import {storeOf} from '../serving/serving-flags.js';
import type {StoreChoice} from '../serving/serving-options.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, home: root, inputs, terminal} = invocation;
	if (flags.on('salvage')) return salvageHome(invocation);
	const [name, ...more] = inputs;
	if (name === undefined || more.length > 0)
		throw usageError('restore takes one file, as in: troupe restore monday.troupe --key cluster.key');
	const store = storeIn(flags);
	const file = path.resolve(name);
	refuseIfRunning(root);
	const home = homeOf(root);
	const sealed = await sealedIn(file);
	const keyFile = flags.text('key');
	await checkKey(keyFile === undefined ? home.clusterKey : path.resolve(keyFile), sealed);
	makeFolder(home.data);
	const driver = await driverOf(store, home.data);
	try {
		if (keyFile !== undefined) await copyKey(path.resolve(keyFile), home.clusterKey);
		const {meta, records} = await restore(driver, await opened(file), lineagesIn(home));
		terminal.out(`restored: version ${meta.version} (${records} records) in ${store === 'level' ? root : store}\n`);
	} finally {
		await driver.close();
	}
	terminal.note(`note: start it with ${store === 'level' ? `troupe up --home ${root}` : `troupe server --home ${root} --store ${store}`}`);
	return 0;
}

/** What can be saved of a damaged store, without a backup. */
async function salvageHome({flags, home: root, inputs, terminal}: Invocation): Promise<number> {
	if (inputs.length > 0 || storeIn(flags) !== 'level')
		throw usageError('--salvage takes no file and no other store: it saves what can be saved of the LevelDB in the home');
	refuseIfRunning(root);
	const home = homeOf(root);
	const directory = path.join(home.data, 'control');
	if (!existsSync(path.join(directory, 'level'))) throw failedError(`there is no store in ${directory}`);
	const {records, lost, missing, writesLost, aside} = await (
		await import('../../system/store/salvage.js')
	).salvage(directory, lineagesIn(home));
	terminal.out(`saved: ${records} records in ${directory}\n`);
	for (const key of lost) terminal.out(`lost: ${nameOfStored(key)}\n`);
	if (missing === undefined) terminal.out('lost: nobody knows how many records more, since the count of them is damaged\n');
	else if (missing > 0) terminal.out(`lost: ${missing} records more, of which not even the keys are left\n`);
	if (writesLost > 0) terminal.out(`lost: the last ${writesLost} writes\n`);
	terminal.note(
		`note: some of what was saved may be an older state of it, and what was deleted may be back; the damaged store is in ${aside}`,
	);
	terminal.note(`note: start it with troupe up --home ${root}`);
	return 0;
}

/** `pod default/web`, `events of node vm`; the key of what is neither, or of no kind there is. */
export function nameOfStored(key: string): string {
	const stored = parseStoreKey(key);
	if (stored === undefined) return key;
	const {plural, namespace, name} = parseObjectKey(stored.key);
	const kind = kinds.find(each => each.plural === plural);
	if (kind === undefined) return key;
	const object = `${kind.singular} ${kind.namespaced ? `${namespace}/` : ''}${name}`;
	return stored.holds === 'object' ? object : `events of ${object}`;
}

function storeIn(flags: Invocation['flags']): StoreChoice {
	const problems: string[] = [];
	const store = storeOf(flags, problems);
	if (store === 'memory') problems.push('--store memory keeps nothing: there is nothing to restore into');
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return store;
}

const opened = (file: string): Promise<BackupReader> => readBackup(bytesOf(file));

async function* bytesOf(file: string): AsyncIterable<Uint8Array> {
	try {
		for await (const chunk of createReadStream(file)) yield chunk as Uint8Array;
	} catch (error) {
		throw failedError(`${file} cannot be read: ${(error as Error).message}`);
	}
}

/** Reads to the end, so that everything is found whole before anything is written. What tells the right key, if there is such. */
async function sealedIn(file: string): Promise<string | undefined> {
	let sealed: string | undefined;
	const {records} = await opened(file);
	for await (const {key, body} of records) if (key === vaultStoreKey(authorityName)) sealed = body;
	return sealed;
}

async function checkKey(keyFile: string, sealed: string | undefined): Promise<void> {
	if ((await readKey(keyFile)) === undefined)
		throw failedError(`${keyFile} is not there; --key FILE names the copy of data/cluster.key that was kept beside the backup`);
	const kept = {get: () => sealed, put: () => Promise.reject(new Error('nothing is written here'))};
	try {
		await openVault(keyFile, kept, authorityName);
	} catch (error) {
		if (!isForeignKey(error)) throw error;
		throw failedError(`${keyFile} is the key of another cluster: it does not open what is sealed in this backup`);
	}
}

async function driverOf(store: StoreChoice, data: string): Promise<StoreDriver> {
	if (store === 'level') return (await import('../../system/store/level-store.js')).openLevelStore(path.join(data, 'control'));
	const [{connectEtcd}, {createEtcdStore}] = await Promise.all([
		import('../../system/store/etcd-client.js'),
		import('../../system/store/etcd-store.js'),
	]);
	return createEtcdStore(connectEtcd(store, systemClock), systemClock);
}

/** Nodes may have gone on to a life of the cluster that began after the backup was made. */
function lineagesIn(home: Home): readonly string[] {
	const lineage = lineageIn(home);
	return lineage === undefined ? [] : [lineage];
}

/** A key that is there already is never replaced: something may be sealed with it. */
async function copyKey(from: string, to: string): Promise<void> {
	const [key, there] = [await readKey(from), await readKey(to)];
	if (key === undefined) throw new AppError('ERR_INTERNAL', {message: `${from} is gone`});
	if (there === undefined) return writeSynced(to, key, 0o600);
	if (!Buffer.from(key).equals(there)) throw failedError(`${to} is another key than ${from}; restore into a new home`);
}
