// What makes this host a node: its own login, and where its cluster is. One file in its home (0600), so that a restart needs no token.

import {readFileSync} from 'node:fs';
import {isObject} from '../api/object.js';
import type {JoinAnswer} from '../api/join.js';
import {parsedJson} from '../api/value-or.js';
import {writeFileAtomic} from '../system/files/atomic-file.js';
import {valueOrFor} from '../system/files/errno.js';

export type Credential = JoinAnswer;

/** Undefined: there is none. Throws when there is a file that is none of ours. */
export function readCredential(file: string): Credential | undefined {
	const text = valueOrFor(undefined, ['ENOENT'], () => readFileSync(file, 'utf8'));
	if (text === undefined) return undefined;
	// What the parser would say of a broken file shows a piece of it.
	const credential = credentialOf(parsedJson(text));
	if (credential === undefined) throw new Error('it does not hold what a server gave');
	return credential;
}

/** What a server answers to a join, or the file says; undefined for anything else. */
export function credentialOf(value: unknown): Credential | undefined {
	if (!isObject(value)) return undefined;
	const {node, credential, ca, servers, broker} = value;
	if (typeof node !== 'string' || typeof credential !== 'string' || typeof ca !== 'string' || !isServers(servers)) return undefined;
	return {node, credential, ca, servers, ...(typeof broker === 'string' ? {broker} : {})};
}

/** At least one, each an https URL. */
export const isServers = (value: unknown): value is readonly [string, ...string[]] =>
	Array.isArray(value) &&
	value.length > 0 &&
	value.every(each => typeof each === 'string' && URL.canParse(each) && new URL(each).protocol === 'https:');

export const writeCredential = (file: string, credential: Credential): Promise<void> =>
	writeFileAtomic(file, `${JSON.stringify(credential)}\n`, 0o600);

/** Writes one after the other: at the end the file has what was given last. */
export function credentialWriter(file: string): (credential: Credential) => Promise<void> {
	let last: Promise<void> = Promise.resolve();
	return credential => {
		const written = last.then(() => writeCredential(file, credential));
		last = written.catch(() => undefined);
		return written;
	};
}
