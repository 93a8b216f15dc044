// Fetches the code of functions over HTTPS with the node's own credential, from the server that leads. The bytes are not looked at here.

import https from 'node:https';
import type {IncomingMessage} from 'node:http';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {hexOfDigest} from '../../api/function-instance.js';
import {limits} from '../../api/limits.js';
import type {SecretFetchOptions} from '../secret-fetch.js';
import {createServerTurns} from '../server-turns.js';
import type {FetchArtifact} from './artifact-cache.js';

export type ArtifactFetchOptions = Omit<SecretFetchOptions, 'part'>;

/** Never rejects; what it hands out may break on the way. */
export function createArtifactFetch(options: ArtifactFetchOptions): FetchArtifact {
	const agent = new https.Agent({keepAlive: false});
	const askServers = createServerTurns(options.servers);
	return digest => askServers(`the code ${digest} cannot be fetched`, server => fetchFrom(server, digest, options, agent));
}

async function fetchFrom(
	server: string,
	digest: string,
	options: ArtifactFetchOptions,
	agent: https.Agent,
): Promise<Outcome<AsyncIterable<Uint8Array>>> {
	const unreachable = (reason: string): Outcome<never> =>
		failed('ERR_NOT_REACHABLE', {message: `the code ${digest} cannot be fetched from ${server}: ${reason}`});
	try {
		const answer = await get(`${server}/troupe/v1/nodes/${options.node}/artifacts/${hexOfDigest(digest)}`, options, agent);
		if (answer.statusCode === 200) return succeeded(answer as AsyncIterable<Uint8Array>);
		answer.destroy();
		if (answer.statusCode === 404) return failed('ERR_NOT_FOUND', {resource: 'artifacts', name: digest});
		if (answer.statusCode === 403) return failed('ERR_FORBIDDEN', {message: `the code ${digest} is not for this node`});
		return unreachable(`it answered with HTTP ${answer.statusCode ?? 0}`);
	} catch (error) {
		return unreachable((error as NodeJS.ErrnoException).code ?? (error as Error).message);
	}
}

/** The answer with its head alone; it is cut when its body takes too long. Rejects with errno exceptions and with Errors of ours. */
function get(url: string, {ca, credential, clock}: ArtifactFetchOptions, agent: https.Agent): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		const request = https.get(url, {agent, ca, headers: {authorization: `Bearer ${credential}`}});
		const end = (ms: number) => clock.after(ms, () => request.destroy(new Error(`it did not come within ${ms} ms`)));
		let cancel = end(limits.requestTimeoutMs);
		request.once('response', answer => {
			cancel();
			cancel = end(limits.artifactFetchMs);
			// Who reads it is told; without a listener the error of one that nobody reads would end the process.
			answer.on('error', () => undefined);
			resolve(answer);
		});
		request.once('close', () => cancel());
		request.on('error', reject);
	});
}
