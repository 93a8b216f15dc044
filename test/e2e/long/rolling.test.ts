// A rolling update under load: programs that end at SIGTERM as they are lose nobody who asks at the address of their Service.

import {Agent, request} from 'node:http';
import test from 'ava';
import {localAddressOf} from '../../../actors/node/network/local-address.js';
import type {Service} from '../../../api/kinds/service.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openHome} from '../_rig.js';

/** Answers after a moment, and ends at once at SIGTERM, as most programs do. */
const program = `
	const server = require('http').createServer((asked, answer) => setTimeout(() => answer.end(process.env.VERSION), 20));
	server.listen(8000, process.argv[1]);
`;

const deployment = (version: string): object => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web'},
	spec: {
		replicas: 3,
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				runtimeClassName: 'process',
				containers: [
					{
						name: 'c',
						image: 'node',
						command: [process.execPath, '-e', program, '$(POD_IP)'],
						env: [{name: 'VERSION', value: version}],
						ports: [{containerPort: 8_000}],
						readinessProbe: {httpGet: {port: 8_000}, periodSeconds: 1},
					},
				],
			},
		},
	},
});

const service = {
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name: 'web'},
	spec: {selector: {app: 'web'}, ports: [{port: 8_180, targetPort: 8_000}]},
};

const asked = (host: string): Promise<string> =>
	new Promise(resolve => {
		const question = request({host, port: 8_180, agent: new Agent({keepAlive: false})}, answer => {
			let text = '';
			answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
			answer.on('end', () => resolve(text)).on('error', error => resolve(`lost: ${error.message}`));
		});
		question.on('error', error => resolve(`lost: ${error.message}`)).end();
	});

test('no request is lost by an update, of programs that end at SIGTERM without a word', async t => {
	t.timeout(60_000);
	const cluster = openHome(t);
	await cluster.up('--router=off');
	await cluster.apply(service, deployment('one'));
	const {spec} = JSON.parse(await cluster.fine('get', 'service', 'web', '-o', 'json')) as Service;
	const address = localAddressOf(spec?.clusterIP ?? '') ?? '';
	await eventually('it answers', async () => (await asked(address)) === 'one');
	await cluster.fine('rollout', 'status', 'deployment/web', '--timeout=30s');

	const answers = new Map<string, number>();
	let isOver = false;
	const clients = Array.from({length: 8}, async () => {
		while (!isOver) {
			const answer = await asked(address);
			answers.set(answer, (answers.get(answer) ?? 0) + 1);
		}
	});
	await cluster.apply(deployment('two'));
	await cluster.fine('rollout', 'status', 'deployment/web', '--timeout=40s');
	await eventually('only the new one answers', async () => {
		const seen = await Promise.all(Array.from({length: 9}, () => asked(address)));
		return seen.every(answer => answer === 'two');
	});
	isOver = true;
	await Promise.all(clients);
	t.log(Object.fromEntries(answers));
	t.deepEqual(
		[...answers.keys()].filter(answer => answer.startsWith('lost')),
		[],
	);
	t.true((answers.get('one') ?? 0) > 0 && (answers.get('two') ?? 0) > 0);
});
