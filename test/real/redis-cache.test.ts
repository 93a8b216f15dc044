// A node whose cache is in a real Redis (Debian: redis-server): it boots and serves where there is no control plane.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {obedientPod} from '../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../bench/rigs/cluster/pods.js';
import {lives, programsOf} from '../../bench/rigs/cluster/processes.js';
import {freePorts, openHome} from '../e2e/_rig.js';
import {startRedis} from './_redis.js';
import {until} from '../../bench/rigs/servers/server.js';

test('an agent that was killed boots from Redis without a server, adopts its pod and restarts its program', async t => {
	const redis = await startRedis(t);
	const cache = `redis://127.0.0.1:${redis.port}/node-a`;
	const [server, agent] = [openHome(t), openHome(t)];
	await server.fine('server', '--detach', ...freePorts);
	const client = await server.client();
	const token = (await server.fine('token', 'create', '--join')).trim();
	await agent.fine('agent', '--detach', `--join=${server.endpoints().api ?? ''}`, `--token=${token}`, '--node=node-a', `--cache=${cache}`);
	await server.apply(obedientPod('web'));
	const [pid = 0] = await pidsWhenRunning(client, 'web');
	t.true(lives(pid));

	await server.killCluster();
	await agent.killCluster();
	await agent.fine('agent', '--detach', `--cache=${cache}`);
	t.true(lives(pid), 'the program was not touched');
	process.kill(pid, 'SIGKILL');
	await until('the program runs again', () => programsOf(agent.home).some(program => program.pid !== pid));
});

const logOf = ({home}: {readonly home: string}): string => readFileSync(path.join(home, 'troupe.log'), 'utf8');

test('a cache is of one node; one that takes no writes is told at once, one that was emptied ends the agent with what to do', async t => {
	const redis = await startRedis(t, ['--appendonly', 'no', '--save', '']);
	const cache = `redis://127.0.0.1:${redis.port}/shared`;
	const [server, agent, second] = [openHome(t), openHome(t), openHome(t)];
	await server.fine('server', '--detach', ...freePorts);
	const token = async (): Promise<string> => (await server.fine('token', 'create', '--join')).trim();
	const words = async (node: string) => [
		'agent',
		'--detach',
		`--join=${server.endpoints().api ?? ''}`,
		`--token=${await token()}`,
		`--node=${node}`,
		`--cache=${cache}`,
	];
	await agent.fine(...(await words('node-a')));
	const refused = await second.troupe(...(await words('node-b')));
	t.is(refused.code, 1);
	t.regex(refused.err, /belongs to node "node-a"; node "node-b" needs one of its own: choose another with --cache/);

	const client = await server.client();
	await server.apply(obedientPod('web'));
	const [pid = 0] = await pidsWhenRunning(client, 'web');
	await redis.kill();
	await until('the log says it', () => logOf(agent).includes('the cache of node \\"node-a\\" does not take writes'));
	await redis.start();
	await server.troupe('delete', 'pod', 'web', '--wait=false');
	await until('the agent says what to do', () => logOf(agent).includes('was emptied; start the agent again: it is told again what it had'));
	t.true(lives(pid));
	await agent.fine('agent', '--detach', `--cache=${cache}`);
	await until('the pod is ended after all', () => !lives(pid));
});
