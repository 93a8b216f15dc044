// Where an agent's login comes from: the one its home has, or a new one for a token.

import {X509Certificate} from 'node:crypto';
import {readFileSync} from 'node:fs';
import type {Credential} from '../../../agent/credential.js';
import {isServers, readCredential, writeCredential} from '../../../agent/credential.js';
import {isKnown, join} from '../../../agent/join.js';
import type {AgentOptions} from '../serving-options.js';
import {failedError} from '../../command.js';

export type Login = {
	readonly credential: Credential;
	/** By a token, just now: the person who gave it means this cluster, whatever the node remembers. */
	readonly isNew: boolean;
	/** What was asked for and does not matter any more. */
	readonly notes: readonly string[];
};

/** Throws AppError that says what to do. */
export async function loginFor(options: AgentOptions, file: string): Promise<Login> {
	const kept = keptIn(file);
	if (kept === undefined) return {credential: await joined(options, file), isNew: true, notes: []};
	if (options.node !== undefined && kept.node !== options.node)
		throw failedError(
			`this home belongs to node "${kept.node}"; for "${options.node}" choose another with --home (${leaving(options)} makes this host leave)`,
		);
	const credential = withServers(kept, options.join);
	// A node that was deleted is let in again only with a token, and then under the name it had.
	if (options.token === undefined || (await isKnown(credential)) !== false)
		return {credential, isNew: false, notes: notesOf(options, kept)};
	return {credential: await joined({...options, join: credential.servers, node: kept.node}, file), isNew: true, notes: []};
}

function notesOf(options: AgentOptions, {node, servers}: Credential): readonly string[] {
	const strange = options.join.filter(server => !servers.includes(server));
	const unused = [...(options.token === undefined ? [] : ['the token']), ...(options.caFile === undefined ? [] : ['--ca'])];
	if (unused.length === 0 && strange.length === 0) return [];
	return [
		[
			`this host is node "${node}" of ${servers[0] ?? ''} already`,
			...(unused.length === 0 ? [] : [`${unused.join(' and ')} ${unused.length === 1 ? 'is' : 'are'} not used`]),
			...(strange.length === 0 ? [] : [`${strange.join()} is looked at for the same cluster, no other is joined`]),
			`to leave it: ${leaving(options)}`,
		].join('; '),
	];
}

const leaving = ({home}: AgentOptions): string => `troupe uninstall --home ${home}`;

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
			`this host has not joined a cluster yet${token === undefined ? '' : ', and a token alone does not say where it is'}: troupe agent --join https://HOST:PORT --token TOKEN (troupe token create --join makes one)`,
		);
	const credential = await join({servers, token, node: node ?? hostNode, ca: caFile === undefined ? undefined : readCa(caFile)});
	const all = withServers(credential, servers);
	await writeCredential(file, all);
	return all;
}

/** Those that a person names are tried first. */
function withServers(credential: Credential, servers: readonly string[]): Credential {
	return {...credential, servers: [...new Set([...servers, ...credential.servers])]};
}

function readCa(file: string): string {
	const text = textOfCa(file);
	try {
		new X509Certificate(text);
	} catch {
		throw failedError(`--ca ${file} holds no certificate: what is wanted is ca.crt of the server's home`);
	}
	return text;
}

function textOfCa(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch (error) {
		throw failedError(`--ca ${file} cannot be read: ${(error as Error).message}`);
	}
}
