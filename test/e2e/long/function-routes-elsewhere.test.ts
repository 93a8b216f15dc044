// Routes to functions on nodes that have joined: their routers call at the server, and while it is dead the node that has an instance answers alone.

import {request} from 'node:http';
import test from 'ava';
import type {Pod} from '../../../api/kinds/pod.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';
import {deploy} from '../_functions.js';
import {openAgent, openServer} from '../_hosts.js';

/** Of loopback addresses where nobody else listens. */
const routers = {'host-1': '127.0.0.95', 'host-2': '127.0.0.96'} as const;
const port = 18_095;
const nodes = ['host-1', 'host-2'] as const;

/** The status, and whether a server made the call; undefined: nothing listens. */
const asked = (node: (typeof nodes)[number]): Promise<{status: number; text: string} | undefined> =>
	new Promise(resolve => {
		const call = request({host: routers[node], port, path: '/', method: 'POST', headers: {host: 'fn.test'}, agent: false}, answer => {
			let text = '';
			answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
			answer.once('end', () => resolve({status: answer.statusCode ?? 0, text}));
		});
		call.once('error', () => resolve(undefined));
		call.end('{}');
	});

test('routers of all nodes call at the server; while it is dead the node of an instance answers, also without its agent', async t => {
	t.timeout(180_000);
	const server = await openServer(t);
	const token = await server.joinToken();
	const agents = await Promise.all(
		nodes.map(node => openAgent(t, [server.api()], token, node, `--router=${routers[node]}:${port}`, '--router-tls=off')),
	);
	await deploy(server, 'hello', "export default (params, {headers}) => ('x-request-id' in headers ? 'server' : 'instance');\n", {max: 1});
	await server.apply({
		apiVersion: 'troupe.dev/v1',
		kind: 'Dns',
		metadata: {name: 'fn'},
		spec: {host: 'fn.test', paths: [{subPath: '/', funcName: 'hello'}]},
	});
	for (const node of nodes) await eventually(`${node} answers`, async () => (await asked(node))?.text === '"server"');
	const pod = await until(await server.client(), 'pods', 'the instance', found =>
		[...found.values()].find(each => each.metadata.name.startsWith('hello-') && isReady(each)),
	);
	const here = (pod as Pod).spec?.nodeName === 'host-1' ? 'host-1' : 'host-2';
	const there = here === 'host-1' ? 'host-2' : 'host-1';

	await server.killIt();
	t.is((await asked(here))?.text, '"instance"');
	t.is((await asked(there))?.status, 503);
	const agent = agents[nodes.indexOf(here)];
	await agent?.killIt();
	t.is((await asked(here))?.text, '"instance"', 'without its agent');
	await agent?.restart();
	t.is((await asked(here))?.text, '"instance"', 'with the next one');

	await server.restart();
	for (const node of nodes) await eventually(`${node} calls at the server again`, async () => (await asked(node))?.text === '"server"');
});
