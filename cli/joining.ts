// Where an agent's login comes from: the one its home has, or a new one for a token.

import {readFileSync} from 'node:fs';
import type {Credential} from '../agent/credential.js';
import {isServers, readCredential, writeCredential} from '../agent/credential.js';
import {isKnown, join} from '../agent/join.js';
import type {AgentOptions} from './up-options.js';
import {failedError} from './usage.js';

/** Throws AppError that says what to do. */
export async function credentialFor(options: AgentOptions, file: string): Promise<Credential> {
	const kept = keptIn(file);
	if (kept === undefined) return joined(options, file);
	if (options.node !== undefined && kept.node !== options.node)
		throw failedError(`this home belongs to node "${kept.node}"; for "${options.node}" choose another with --home`);
	const credential = withServers(kept, options.join);
	// A node that was deleted is let in again only with a token, and then under the name it had.
	if (options.token === undefined || (await isKnown(credential)) !== false) return credential;
	return joined({...options, node: kept.node}, file);
}

function keptIn(file: string): Credential | undefined {
	try {
		return readCredential(file);
	} catch (error) {
		throw failedError(`${file} cannot be used: ${(error as Error).message}; without it a join token is needed`);
	}
}

async function joined({join: servers, token, node, caFile, hostNode}: AgentOptions, file: string): Promise<Credential> {
	if (token === undefined || !isServers(servers))
		throw failedError(
			'this host has not joined a cluster yet: troupe agent --join https://HOST:PORT --token TOKEN (troupe token create --join makes one)',
		);
	const credential = await join({servers, token, node: node ?? hostNode, ca: caFile === undefined ? undefined : readCa(caFile)});
	const all = withServers(credential, servers);
	await writeCredential(file, all);
	return all;
}

/** Those that a person names are tried first. */
export function withServers(credential: Credential, servers: readonly string[]): Credential {
	return {...credential, servers: [...new Set([...servers, ...credential.servers])]};
}

function readCa(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch (error) {
		throw failedError(`--ca ${file} cannot be read: ${(error as Error).message}`);
	}
}
