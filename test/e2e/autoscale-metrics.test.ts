// Autoscalers by what clients of MQTT say: the length of a queue, numbers of each pod and of an object; down to none and up again.

import test, {type ExecutionContext} from 'ava';
import {connectAsync, type MqttClient} from 'mqtt';
import type {Condition} from '../../api/object.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {autoscaler, deployment, hpaOf, patienceMs, podsOf, untilThereAre} from './_autoscaling.js';
import {deploy} from './_functions.js';
import {openFileHome, openHome, type Home} from './_rig.js';

const {cluster} = openFileHome(test);

const queue = (topic: string, more: object = {}): object => ({
	type: 'External',
	external: {metric: {name: 'jobs'}, target: {type: 'AverageValue', averageValue: '10'}, source: {mqtt: {topic, ...more}}},
});

async function publisher(t: ExecutionContext, home: Home): Promise<MqttClient> {
	const client = await connectAsync(home.endpoints().mqtt, {username: 'admin', password: home.token(), reconnectPeriod: 0}, false);
	// A cluster that is killed resets its connections.
	client.on('error', () => undefined);
	t.teardown(() => client.endAsync(true));
	return client;
}

async function untilScaling(app: string, wanted: Partial<Condition>, of: Home = cluster): Promise<Condition> {
	let found: Condition | undefined;
	await eventually(
		`${app} says ${JSON.stringify(wanted)}`,
		async () => {
			found = (await hpaOf(app, of)).conditions?.find(({type}) => type === 'ScalingActive');
			return found !== undefined && found.status === wanted.status && found.reason === wanted.reason;
		},
		() => JSON.stringify(found),
		patienceMs,
	);
	return found ?? {type: '', status: 'Unknown'};
}

test('a queue makes workers, none while nothing waits, also after the control plane was killed', async t => {
	t.timeout(3 * patienceMs);
	const app = 'worker';
	const home = openHome(t);
	await home.up();
	await home.apply(deployment(app, 0), autoscaler(app, queue('jobs/waiting', {path: 'queue.length'})));
	const {message = ''} = await untilScaling(app, {status: 'False', reason: 'FailedGetExternalMetric'}, home);
	t.regex(message, /no message came on "jobs\/waiting" in the last 60 s$/);
	const client = await publisher(t, home);
	const say = (length: unknown, by = client): Promise<unknown> =>
		by.publishAsync('jobs/waiting', JSON.stringify({queue: {length}}), {qos: 1, retain: true});
	await say(25);
	await untilThereAre(app, 3, home);
	t.regex(await home.fine('describe', 'hpa', app), /0 -> 3 +jobs: 25\/10 \(avg\) +external metric jobs above target/);
	t.regex(await home.fine('get', 'hpa', app), /worker +Deployment\/worker +\S+\/10 \(avg\) +0 +4 +\d /);
	await say(0);
	await untilThereAre(app, 0, home);
	await say(12);
	await untilThereAre(app, 2, home);
	await home.killCluster();
	await home.up();
	// Whatever was said before is nothing now: it keeps what is there.
	await untilScaling(app, {status: 'False', reason: 'FailedGetExternalMetric'}, home);
	t.regex(
		await home.fine('why', `hpa/${app}`),
		/does not know what it scales by: .* it looks again every few seconds, and takes no pods away until it knows/s,
	);
	t.is((await podsOf(app, home)).length, 2);
	const again = await publisher(t, home);
	await say('x', again);
	await untilScaling(app, {status: 'False', reason: 'FailedGetExternalMetric'}, home);
	await say(0, again);
	await untilThereAre(app, 0, home);
	await say(40, again);
	await untilThereAre(app, 4, home);
});

test('a value that is too old takes no pods away, and floods of rubbish hold up nothing', async t => {
	t.timeout(3 * patienceMs);
	const app = 'stale';
	await cluster.apply(deployment(app, 1), autoscaler(app, queue('stale/waiting', {expireSeconds: 1}), {minReplicas: 1}));
	const client = await publisher(t, cluster);
	// Said again and again: a value has a second to be read.
	const isThree = async (): Promise<boolean> => {
		await client.publishAsync('stale/waiting', '30', {qos: 1});
		return (await podsOf(app, cluster)).length === 3;
	};
	await eventually('there are three', isThree, undefined, patienceMs);
	await untilScaling(app, {status: 'False', reason: 'FailedGetExternalMetric'});
	t.is((await podsOf(app, cluster)).length, 3);
	const rubbish = 'x'.repeat(60_000);
	for (let at = 0; at < 50; at++) await client.publishAsync('stale/waiting', `${rubbish}${at}`, {qos: 1});
	await client.publishAsync('stale/waiting', '"x"', {qos: 1});
	t.is((await podsOf(app, cluster)).length, 3);
	await client.publishAsync('stale/waiting', '40', {qos: 1});
	await untilThereAre(app, 4, cluster);
});

test('pods say what each of them has, and an object what it has', async t => {
	t.timeout(3 * patienceMs);
	const [each, whole] = ['each', 'whole'];
	const pods = {
		type: 'Pods',
		pods: {metric: {name: 'open'}, target: {type: 'AverageValue', averageValue: '5'}, source: {mqtt: {topic: 'each/{pod}/open'}}},
	};
	const describedObject = {apiVersion: 'v1', kind: 'ConfigMap', name: whole};
	const object = {
		type: 'Object',
		object: {describedObject, metric: {name: 'hits'}, target: {type: 'Value', value: '100'}, source: {mqtt: {topic: 'whole/hits'}}},
	};
	await cluster.apply(
		deployment(each, 1),
		autoscaler(each, pods, {minReplicas: 1}),
		deployment(whole, 1),
		autoscaler(whole, object, {minReplicas: 1}),
	);
	const client = await publisher(t, cluster);
	await untilScaling(each, {status: 'False', reason: 'FailedGetPodsMetric'});
	const sayAll = async (value: number): Promise<void> => {
		for (const {metadata} of await podsOf(each, cluster)) await client.publishAsync(`each/${metadata.name}/open`, String(value), {qos: 1});
	};
	await sayAll(15);
	await untilThereAre(each, 3, cluster);
	await sayAll(1);
	await untilThereAre(each, 1, cluster);
	t.like((await hpaOf(each, cluster)).currentMetrics?.[0], {type: 'Pods', pods: {metric: {name: 'open'}, current: {averageValue: '1'}}});

	await client.publishAsync('whole/hits', '300', {qos: 1});
	const missing = await untilScaling(whole, {status: 'False', reason: 'FailedGetObjectMetric'});
	t.regex(missing.message ?? '', /configmap "whole" not found$/);
	await cluster.apply({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: whole}, data: {}});
	await untilThereAre(whole, 3, cluster);
	await client.publishAsync('whole/hits', '10', {qos: 1});
	await untilThereAre(whole, 1, cluster);
});

test('a function has as many instances as a queue asks for, and none again', async t => {
	t.timeout(3 * patienceMs);
	await deploy(cluster, 'drain', 'export default () => null;\n', {max: 3});
	const scaleTargetRef = {apiVersion: 'troupe.dev/v1', kind: 'Function', name: 'drain'};
	await cluster.apply(autoscaler('drain', queue('drain/waiting'), {scaleTargetRef}));
	const client = await publisher(t, cluster);
	const leastIs = async (wanted: number): Promise<boolean> =>
		((JSON.parse(await cluster.fine('get', 'function', 'drain', '-o', 'json')) as {spec: {min?: number}}).spec.min ?? 0) === wanted;
	t.true(await leastIs(0));
	await client.publishAsync('drain/waiting', '15', {qos: 1});
	await eventually('it has two at least', () => leastIs(2), undefined, patienceMs);
	await client.publishAsync('drain/waiting', '0', {qos: 1});
	await eventually('it may have none', () => leastIs(0), undefined, patienceMs);
});

test('a metric as Kubernetes has it is kept, and it is said what to write', async t => {
	t.timeout(patienceMs);
	const app = 'bare';
	const metric = {type: 'External', external: {metric: {name: 'jobs'}, target: {type: 'Value', value: '10'}}};
	await cluster.apply(deployment(app, 2), autoscaler(app, metric));
	const {message = ''} = await untilScaling(app, {status: 'False', reason: 'FailedGetExternalMetric'});
	t.regex(message, /it has no source: say where its value comes from, as in source: \{mqtt: \{topic: "jobs"\}\}/);
	t.is((await podsOf(app, cluster)).length, 2);
	await t.throwsAsync(cluster.apply(autoscaler('none', queue('troupe/v1/jobs'))), {
		message: /spec\.metrics\[0\]\.external\.source\.mqtt\.topic.* must be a topic without "\+" and "#"/,
	});
});
