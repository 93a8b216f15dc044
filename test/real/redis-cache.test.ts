// A node whose cache is in a real Redis (Debian: redis-server): it boots and serves where there is no control plane.

import test from 'ava';
import {obedientPod, pidsWhenRunning} from '../e2e/_pods.js';
import {lives, programsOf} from '../e2e/_processes.js';
import {freePorts, openHome} from '../e2e/_rig.js';
import {startRedis} from './_redis.js';
import {until} from './_servers.js';

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
