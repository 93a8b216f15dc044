// Topics of users' own as mosquitto_pub and mosquitto_sub use them: rights, QoS 1, and a session that is kept.

import {spawn} from 'node:child_process';
import test, {type ExecutionContext} from 'ava';
import {follow, openHome, type Home, type Started} from '../../e2e/_rig.js';

function run(t: ExecutionContext, cluster: Home, program: string, login: readonly string[], ...args: readonly string[]): Started {
	const {port} = new URL(cluster.endpoints().mqtt);
	const child = spawn(program, ['-h', '127.0.0.1', '-p', port, ...login, ...args], {stdio: ['ignore', 'pipe', 'pipe']});
	t.teardown(() => child.kill('SIGKILL'));
	return follow(child, '');
}

async function loginOf(cluster: Home, name: string, ...flags: readonly string[]): Promise<readonly string[]> {
	const token = await cluster.fine('token', 'create', name, '--role', 'tool', ...flags);
	return ['-u', name, '-P', token.trim()];
}

test('mosquitto_pub and mosquitto_sub use the topics that their tokens say, and no others', async t => {
	const cluster = openHome(t);
	await cluster.up();
	const gateway = await loginOf(cluster, 'gateway', '--publish', 'sensors/#');
	const panel = await loginOf(cluster, 'panel', '--subscribe', 'sensors/+');
	const say = async (login: readonly string[], topic: string, text: string, ...more: readonly string[]): Promise<void> => {
		const {code, err} = await run(t, cluster, 'mosquitto_pub', login, '-q', '1', '-t', topic, '-m', text, ...more).ended;
		t.is(code, 0, err);
	};
	const kept = ['-q', '1', '-c', '-i', 'panel-1', '-t', 'sensors/+', '-F', '%t %p'];
	// What is retained comes once it has subscribed.
	await say(gateway, 'sensors/ready', 'yes', '-r');
	const first = run(t, cluster, 'mosquitto_sub', panel, ...kept);
	await first.says(/^sensors\/ready yes$/m);
	await say(gateway, 'sensors/ready', '', '-r');
	await say(gateway, 'sensors/kitchen', '21');
	await first.says(/^sensors\/kitchen 21$/m);
	// What its token does not say is acknowledged and heard by nobody.
	await say(gateway, 'alerts/fire', 'forged');
	await say(panel, 'sensors/kitchen', 'forged');
	await say(gateway, 'sensors/kitchen', '22');
	t.notRegex(await first.says(/^sensors\/kitchen 22$/m), /forged/);
	const refused = await run(t, cluster, 'mosquitto_sub', gateway, '-t', 'sensors/#', '-q', '1', '-W', '5').ended;
	t.regex(refused.err, /All subscription requests were denied/);
	first.kill('SIGTERM');
	await first.ended;
	for (const text of ['1', '2', '3']) await say(gateway, 'sensors/cellar', text);
	const again = await run(t, cluster, 'mosquitto_sub', panel, ...kept, '-C', '3').ended;
	t.is(again.out, 'sensors/cellar 1\nsensors/cellar 2\nsensors/cellar 3\n');
	await say(gateway, 'sensors/state', 'on', '-r');
	const late = await run(t, cluster, 'mosquitto_sub', panel, '-t', 'sensors/+', '-C', '1', '-F', '%r %t %p').ended;
	t.is(late.out, '1 sensors/state on\n');
});
