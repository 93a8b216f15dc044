// The Secrets of a node, as its edge keeps them: fetched once per version, sealed with the node's own key in a folder of their own.
// So a node starts and serves with no control plane; and the folder without the key opens nothing. Certificates of routes are kept apart from
// Secrets that pods name, since of them a node gets no other entry.

import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, rmSync} from 'node:fs';
import {readFile, readdir, rm} from 'node:fs/promises';
import path from 'node:path';
import {failed, succeeded, type Outcome} from '../api/errors.js';
import {secretKey} from '../actors/config-references.js';
import {certificateKey} from '../actors/network-references.js';
import type {
	FetchedSecret,
	FetchSecret,
	NodeSecrets,
	OpenCertificate,
	SecretData,
	WantedSecret,
} from '../actors/node/runtime/secrets-port.js';
import {writeFileAtomic} from '../system/files/atomic-file.js';
import {hasCode} from '../system/files/errno.js';
import {openBytes, sealBytes} from '../system/files/sealing.js';
import {explained} from './os/explained.js';

export type SecretCacheOptions = {
	/** Where sealed values are kept; made when it is not there. */
	readonly directory: string;
	/** Of `data/node.key`. */
	readonly key: Uint8Array;
	readonly fetch: FetchSecret;
	readonly fetchCertificate: FetchSecret;
	readonly onWarning: (message: string) => void;
};

export type SecretCache = NodeSecrets & {readonly openCertificate: OpenCertificate};

/** Throws errno exceptions when the folder cannot be made. */
export function createSecretCache({directory, key, fetch, fetchCertificate, onWarning}: SecretCacheOptions): SecretCache {
	mkdirSync(directory, {recursive: true, mode: 0o700});
	for (const name of readdirSync(directory)) if (isUnfinished(name)) rmSync(path.join(directory, name), {force: true});
	/** Fetches under way, by key and version: pods that start together ask once. */
	const open = new Map<string, Promise<Outcome<FetchedSecret>>>();
	const fileOf = (place: string): string => path.join(directory, createHash('sha256').update(place).digest('hex'));

	/** Undefined: there is none that this key opens. */
	async function kept(place: string): Promise<FetchedSecret | undefined> {
		try {
			return JSON.parse(openBytes(key, place, await readFile(fileOf(place), 'latin1')).toString()) as FetchedSecret;
		} catch (error) {
			if (!hasCode(error, 'ENOENT')) onWarning(`what was kept of ${place} cannot be read and is fetched again`);
			return undefined;
		}
	}

	/** The next start can do without, if control can be asked then. */
	async function keep(place: string, secret: FetchedSecret): Promise<void> {
		try {
			await writeFileAtomic(fileOf(place), sealBytes(key, place, Buffer.from(JSON.stringify(secret))), 0o600);
		} catch (error) {
			onWarning(`${place} could not be kept: ${explained(error)}`);
		}
	}

	async function get(place: string, {namespace, name, version}: WantedSecret, from: FetchSecret): Promise<Outcome<FetchedSecret>> {
		const present = await kept(place);
		if (present?.version === version) return succeeded(present);
		const fetched = await ask(from, namespace, name);
		if (fetched.ok) {
			await keep(place, fetched.value);
			return fetched;
		}
		// An older value is better than none while control cannot be asked.
		return fetched.error.code === 'ERR_CONFIG_MISSING' || present === undefined ? fetched : succeeded(present);
	}

	function openAt(place: string, wanted: WantedSecret, from: FetchSecret): Promise<Outcome<FetchedSecret>> {
		const run = `${place} ${wanted.version}`;
		const underWay = open.get(run) ?? get(place, wanted, from).finally(() => open.delete(run));
		open.set(run, underWay);
		return underWay;
	}

	return {
		open(wanted, done) {
			const opened = openAt(secretKey(wanted.namespace, wanted.name), wanted, fetch);
			void opened.then(outcome => done(dataOf(outcome)));
		},
		openCertificate(wanted, done) {
			void openAt(certificateKey(wanted.namespace, wanted.name), wanted, fetchCertificate).then(done);
		},
		retain(keys, done) {
			void forgetOthers(directory, new Set(keys.map(fileOf))).then(done);
		},
	};
}

/** Left by an agent that died while it wrote, or just being written. */
const isUnfinished = (name: string): boolean => name.startsWith('.');

/** Without a cache: for nodes that only pretend. */
export const uncachedSecrets = (fetch: FetchSecret): NodeSecrets => ({
	open: ({namespace, name}, done) => void ask(fetch, namespace, name).then(outcome => done(dataOf(outcome))),
	retain: (_keys, done) => done(succeeded(null)),
});

const dataOf = (outcome: Outcome<FetchedSecret>): Outcome<SecretData> => (outcome.ok ? succeeded(outcome.value.data) : outcome);

/** `ERR_CONFIG_MISSING` where there is no such Secret for this node; any other failure may pass. */
async function ask(fetch: FetchSecret, namespace: string, name: string): Promise<Outcome<FetchedSecret>> {
	try {
		const fetched = await fetch(namespace, name);
		if (fetched.ok || !isAbsent(fetched.error.code)) return fetched;
		return failed('ERR_CONFIG_MISSING', {message: `secret "${name}" not found`});
	} catch (error) {
		return failed('ERR_NOT_REACHABLE', {message: `secret "${name}" cannot be fetched: ${explained(error)}`});
	}
}

const isAbsent = (code: string): boolean => code === 'ERR_NOT_FOUND' || code === 'ERR_FORBIDDEN';

async function forgetOthers(directory: string, wanted: ReadonlySet<string>): Promise<Outcome<null>> {
	try {
		const files = (await readdir(directory)).filter(name => !isUnfinished(name)).map(name => path.join(directory, name));
		await Promise.all(files.filter(file => !wanted.has(file)).map(file => rm(file, {force: true})));
		return succeeded(null);
	} catch (error) {
		return failed('ERR_RUNTIME', {message: `Secrets that are not named any more were not removed: ${explained(error)}`});
	}
}
