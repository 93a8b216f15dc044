// Whatever is sent, the door answers with what is the sender's fault, and goes on.

import http from 'node:http';
import test from 'ava';
import fc from 'fast-check';
import {aReplicaSet} from './cluster.js';
import {openDoor, type Door} from './door.js';
import {requestOf, type FuzzRequest} from '../../bench/rigs/fuzz/requests.js';

/** The status of the answer; its body is not waited for, because it may go on for ever. */
function statusOf({port}: Door, agent: http.Agent, {method, path, query, type, accept, token, body}: FuzzRequest): Promise<number> {
	const headers = {
		...(type === '' ? {} : {'content-type': type}),
		...(accept === '' ? {} : {accept}),
		...(token === '' ? {} : {authorization: token}),
		'content-length': Buffer.byteLength(body),
	};
	return new Promise((resolve, reject) => {
		const request = http.request({port, host: '127.0.0.1', method, path: path + query, headers, agent}, response => {
			response.on('error', () => undefined);
			if (query.includes('watch') || query.includes('follow')) response.destroy();
			else response.resume();
			resolve(response.statusCode ?? 0);
		});
		request.on('error', reject);
		request.end(body);
	});
}

/** Patches that leave an object without its parts. */
const patches: readonly FuzzRequest[] = ['/api/v1/namespaces/default/pods/web', '/api/v1/namespaces/default'].flatMap(path =>
	[
		['merge-patch', '{"metadata":null,"spec":null}'],
		['strategic-merge-patch', '{"metadata":null,"spec":null}'],
		['json-patch', '[{"op":"remove","path":"/metadata"}]'],
	].map(([type = '', body = '']) => ({
		method: 'PATCH',
		path,
		query: '',
		type: `application/${type}+json`,
		accept: '',
		token: 'Bearer admin',
		body,
	})),
);

test('no request whatever ends in a 500 or stops the door', async t => {
	const door = await openDoor(t);
	const agent = new http.Agent({keepAlive: true, maxSockets: 4});
	t.teardown(() => agent.destroy());
	door.cluster.pod('web');
	await door.json(201, 'POST', '/apis/apps/v1/namespaces/default/replicasets', aReplicaSet('web', 1));
	const seen = new Set<number>();
	await fc.assert(
		fc.asyncProperty(requestOf, async request => {
			const status = await statusOf(door, agent, request);
			seen.add(status);
			return status < 500;
		}),
		// What chance finds once in ten runs.
		{numRuns: 3000, examples: patches.map(patch => [patch])},
	);
	t.deepEqual(door.bugs, []);
	t.true(
		[200, 400, 401, 403, 404, 405, 415, 422].every(status => seen.has(status)),
		[...seen].join(' '),
	);
	await door.json(200, 'GET', '/version');
});
