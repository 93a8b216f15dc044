// Messages of MQTT for functions, on a real cluster: topics that trigger them, calls by name, what is given up; and ten thousand messages while all dies.

import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import {connectAsync, type MqttClient} from 'mqtt';
import {functionLabel} from '../../../api/function-instance.js';
import {isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {openEar} from '../_ear.js';
import {deploy} from '../_functions.js';
import {nodeName, openFileHome} from '../_rig.js';

// The functions of these tests tell a server of the test what they were called with.
const {cluster} = openFileHome(test, '--network=shared');

type Told = {readonly topic: string; readonly body: string};
const told: Told[] = [];
let listener: Server;

test.before(async () => {
	listener = createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
		request.once('end', () => {
			told.push({topic: decodeURIComponent((request.url ?? '/').slice(1)), body});
			response.end();
		});
	});
	await new Promise<void>(resolve => void listener.listen(0, '127.0.0.1', resolve));
});

test.after.always(() => void listener.close().closeAllConnections());

/** Code that tells what it gets, and then does as the expression says. */
const telling = (expression = 'null'): string =>
	`export default async (params, request) => {
	const topic = encodeURIComponent(request.headers['x-troupe-topic'] ?? '');
	await fetch('http://127.0.0.1:${(listener.address() as AddressInfo).port}/' + topic, {method: 'POST', body: request.body});
	return ${expression};
};
`;

test.serial('a message of a topic calls the functions that it triggers, with what it is', async t => {
	await deploy(cluster, 'thermostat', telling(), {triggers: [{name: 'warm', topic: 'sensors/+/temperature'}]});
	const ear = await openEar(t, cluster);
	await ear.client.publishAsync('sensors/kitchen/temperature', '{"celsius":21}', {qos: 1});
	await ear.client.publishAsync('sensors/kitchen/humidity', '60', {qos: 1});
	await ear.client.publishAsync('sensors/cellar/temperature', 'cold', {qos: 0});
	await eventually('both were told', () => told.length === 2);
	t.deepEqual(
		told.toSorted((a, b) => (a.topic < b.topic ? -1 : 1)),
		[
			{topic: 'sensors/cellar/temperature', body: 'cold'},
			{topic: 'sensors/kitchen/temperature', body: '{"celsius":21}'},
		],
	);
	await eventually('they are counted', async () =>
		/warm +topic sensors\/\+\/temperature +2 +0 +2 +0 +0/.test(await cluster.fine('describe', 'function/thermostat')),
	);
	await cluster.fine('delete', 'function', 'thermostat');
	await ear.client.publishAsync('sensors/kitchen/temperature', '22', {qos: 1});
	t.is(told.length, 2);
});

test.serial('a call by MQTT is answered to its login, at each quality of service', async t => {
	await deploy(cluster, 'add', 'export default ({x, y}) => ({sum: x + y});\n');
	const ear = await openEar(t, cluster);
	await ear.listen('troupe/v1/replies/admin/+');
	for (const [qos, id] of [
		[0, 'once'],
		[1, 'surely'],
	] as const) {
		await ear.client.publishAsync('troupe/v1/functions/default/add/invoke', JSON.stringify({id, params: {x: 20, y: 22}}), {qos});
		const {text} = await ear.until(`the answer to ${id}`, heard => heard.find(({topic}) => topic === `troupe/v1/replies/admin/${id}`));
		t.deepEqual(JSON.parse(text), {id, status: 200, answer: {sum: 42}});
	}
});

test.serial('what cannot be delivered goes to its topic for dead letters, and the next one is delivered', async t => {
	told.length = 0;
	await deploy(cluster, 'picky', telling('params.n === 1 ? Promise.reject(new Error("not one")) : null'), {
		triggers: [{name: 'all', topic: 'picky', retries: 1, deadLetterTopic: 'dead/picky'}],
	});
	const ear = await openEar(t, cluster);
	await ear.listen('dead/#');
	for (const n of [1, 2]) await ear.client.publishAsync('picky', JSON.stringify({n}), {qos: 1});
	const {text} = await ear.until('the dead letter', heard => heard.find(({topic}) => topic === 'dead/picky'));
	t.like(JSON.parse(text), {function: 'default/picky', trigger: 'all', tries: 2, body: '{"n":1}', error: {message: 'Error: not one'}});
	await eventually('the next one was delivered', () => told.length === 3);
	t.deepEqual(
		told.map(({body}) => body),
		['{"n":1}', '{"n":1}', '{"n":2}'],
	);
});

test.serial('every acknowledged message is delivered, in order of its topic, while instances and the cluster are killed', async t => {
	t.timeout(300_000);
	told.length = 0;
	await deploy(cluster, 'counts', telling(), {concurrency: 16, max: 2, triggers: [{name: 'all', topic: 'many/+', retries: 100}]});
	// As an ordinary user a tenth: what is tested is the same, and is tested as root as well.
	const [topics, each] = [20, process.getuid?.() === 0 ? 500 : 50];
	const {mqtt, api, web} = cluster.endpoints();
	const client: MqttClient = await connectAsync(mqtt, {
		username: 'admin',
		password: cluster.token(),
		clientId: 'many',
		clean: false,
		reconnectPeriod: 100,
	});
	client.on('error', () => undefined);
	t.teardown(() => client.endAsync(true));
	let acknowledged = 0;
	const published = Promise.all(
		Array.from({length: topics}, async (_, topic) => {
			// A window for each, so that no message overtakes another one of its topic when it is sent again.
			for (let n = 0; n < each; n++) {
				await client.publishAsync(`many/${topic}`, String(n), {qos: 1});
				acknowledged++;
			}
		}),
	);
	const different = (): number => new Set(told.map(({topic, body}) => `${topic} ${body}`)).size;
	/** Step by step: how long all of it takes is the machine's matter. */
	const goesOn = async (part: number): Promise<void> => {
		const goal = (topics * each * part) / 100;
		while (different() < goal) {
			const step = Math.min(different() + 50, goal);
			await eventually(
				`${step} are delivered`,
				() => different() >= step,
				() => `${different()} told, ${acknowledged} acknowledged`,
			);
		}
	};
	const hostOf = (url: string): string => new URL(url).host;
	for (const part of [10, 40]) {
		await goesOn(part);
		const pods = await followObjects(await cluster.client(), 'pods');
		const ofCounts = [...pods.objects.values()].filter(pod => pod.metadata.labels?.[functionLabel] === 'counts' && isReady(pod));
		const pid = pidOf(ofCounts[0]);
		pods.close();
		if (pid !== undefined) process.kill(pid, 'SIGKILL');
		await goesOn(part + 10);
		await cluster.killCluster();
		const up = await cluster.troupe(
			...['up', '--detach', `--node=${nodeName}`, '--network=shared'],
			...[`--api=${hostOf(api)}`, `--web=${hostOf(web)}`, `--mqtt=${hostOf(mqtt)}`],
		);
		t.is(up.code, 0, up.err);
	}
	await goesOn(100);
	await published;
	for (let topic = 0; topic < topics; topic++) {
		const firsts = [...new Set(told.filter(each => each.topic === `many/${topic}`).map(({body}) => Number(body)))];
		t.deepEqual(
			firsts,
			Array.from({length: each}, (_, n) => n),
			`many/${topic}`,
		);
	}
	t.log(`${topics * each} messages, ${told.length} deliveries`);
});
