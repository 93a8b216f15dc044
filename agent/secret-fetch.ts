// Fetches Secrets over HTTPS with the node's own credential, from the server that leads.
//
// What is in an answer is never part of a message, whatever is wrong with it.

import https from 'node:https';
import {failed, succeeded, type Outcome} from '../api/errors.js';
import {limits} from '../api/limits.js';
import {isObject} from '../api/object.js';
import {membersOf} from '../api/rules/report.js';
import {parsedJson} from '../api/value-or.js';
import type {FetchedSecret, FetchSecret} from '../actors/node/runtime/secrets-port.js';
import type {Clock} from '../system/time/clock.js';
import {createServerTurns} from './server-turns.js';

export type SecretFetchOptions = {
	readonly node: string;
	/** The node's own, as joining gave it. */
	readonly credential: string;
	/** The authority of the cluster; PEM. */
	readonly ca: string;
	/** `https://host:port` of every server, as known now. */
	readonly servers: () => readonly string[];
	readonly clock: Clock;
	/** What of a Secret is asked for; undefined: all of it, since a pod names it. */
	readonly part?: 'certificate' | undefined;
};

type Answer = {readonly status: number; readonly text: string};

/** Never rejects. */
export function createSecretFetch(options: SecretFetchOptions): FetchSecret {
	const agent = new https.Agent({keepAlive: false});
	const askServers = createServerTurns(options.servers);
	return (namespace, name) =>
		askServers(`secret "${name}" cannot be fetched`, server => fetchFrom(server, namespace, name, options, agent));
}

async function fetchFrom(
	server: string,
	namespace: string,
	name: string,
	options: SecretFetchOptions,
	agent: https.Agent,
): Promise<Outcome<FetchedSecret>> {
	const unreachable = (reason: string): Outcome<FetchedSecret> =>
		failed('ERR_NOT_REACHABLE', {message: `secret "${name}" cannot be fetched from ${server}: ${reason}`});
	try {
		const what = options.part === 'certificate' ? 'certificates' : 'secrets';
		const url = `${server}/troupe/v1/nodes/${options.node}/${what}/${namespace}/${name}`;
		const {status, text} = await get(url, options, agent);
		if (status === 404) return failed('ERR_NOT_FOUND', {resource: 'secrets', name});
		if (status === 403) return failed('ERR_FORBIDDEN', {message: `secret "${name}" is not for this node`});
		if (status !== 200) return unreachable(`it answered with HTTP ${status}`);
		const secret = secretOf(text);
		return secret === undefined ? unreachable('its answer is no Secret') : succeeded(secret);
	} catch (error) {
		return unreachable((error as NodeJS.ErrnoException).code ?? (error as Error).message);
	}
}

/** The whole answer, bounded in size and time. Rejects with errno exceptions and with Errors of ours. */
function get(url: string, {ca, credential, clock}: SecretFetchOptions, agent: https.Agent): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const request = https.get(url, {agent, ca, headers: {authorization: `Bearer ${credential}`}}, response => {
			const chunks: Buffer[] = [];
			let bytes = 0;
			response.on('data', (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes > limits.requestBodyBytes) request.destroy(new Error('its answer is too large'));
				else chunks.push(chunk);
			});
			response.on('error', reject);
			response.on('end', () => resolve({status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8')}));
		});
		const cancel = clock.after(limits.requestTimeoutMs, () => request.destroy(new Error(`no answer in ${limits.requestTimeoutMs} ms`)));
		request.once('close', cancel);
		request.once('error', reject);
	});
}

function secretOf(text: string): FetchedSecret | undefined {
	const {version, data} = membersOf(parsedJson(text));
	const isData = isObject(data) && Object.values(data).every(value => typeof value === 'string');
	return typeof version === 'string' && isData ? {version, data: data as FetchedSecret['data']} : undefined;
}
