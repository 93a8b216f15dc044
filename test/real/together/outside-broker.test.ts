// A cluster whose actors and tools meet at a Mosquitto: its rights, its death in between, and the sweep of what it retains.

import test, {type ExecutionContext} from 'ava';
import mqtt, {type MqttClient} from 'mqtt';
import {AppError, succeeded, type Outcome} from '../../../api/errors.js';
import {collectionAddress, objectKey} from '../../../api/keys.js';
import type {FunctionObject} from '../../../api/kinds/function.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {Role} from '../../../api/roles.js';
import {isNodeReady} from '../../../actors/control/scheduling/node-info.js';
import {openControl, type ControlSystem} from '../../../actors/control/start.js';
import {openNode, type NodeSystem} from '../../../actors/node/start.js';
import {createSimulatedRuntime} from '../../../agent/simulated-runtime.js';
import type {Delivery} from '../../../server/functions/delivery.js';
import {openMqttDoor} from '../../../server/inspect/mqtt-door.js';
import {openTokens, type Tokens} from '../../../server/tokens.js';
import {startSweeps, type SweepResult} from '../../../server/topic-sweep.js';
import {followOutsideMessages} from '../../../server/triggers/outside-messages.js';
import {createTopicMessages} from '../../../server/triggers/topic-messages.js';
import {createTopicTriggers} from '../../../server/triggers/topic-triggers.js';
import {createMetricTopics} from '../../../server/autoscaling/metric-topics.js';
import {createTopics, gapsIn, retainedObjects} from '../../../server/topics.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {systemClock} from '../../../system/time/clock.js';
import {createMemoryStore} from '../../../system/store/memory-store.js';
import {connectMqttLink} from '../../../system/links/mqtt-link.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import {openOutsideBroker, type OutsideBroker} from '../../../system/links/outside-broker.js';
import {parseOutsideUrl} from '../../../system/links/outside-url.js';
import {systemRandom} from '../../../system/time/random.js';
import {messagesOf, type Heard} from '../../e2e/_ear.js';
import {functionTakers} from '../../server/_takers.js';
import {testCluster} from '../../server/cluster.js';
import {controlSecret, startMosquitto, type Mosquitto} from '../_mosquitto.js';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';

const executor = createNactExecutor(systemClock);
const objects = 'troupe/v1/objects';

async function tokensOf(...names: readonly (readonly [string, Role])[]): Promise<{tokens: Tokens; secrets: ReadonlyMap<string, string>}> {
	const kept = new Map<string, string>();
	const vault = {get: (name: string) => kept.get(name), put: (name: string, value: string) => Promise.resolve(void kept.set(name, value))};
	const tokens = openTokens(vault, () => 0);
	const secrets = new Map<string, string>();
	for (const [name, role] of names) secrets.set(name, await tokens.issue(name, role));
	return {tokens, secrets};
}

async function client(t: ExecutionContext, {port}: Mosquitto, username: string, password: string | undefined): Promise<MqttClient> {
	const options = {
		username,
		...(password === undefined ? {} : {password}),
		reconnectPeriod: 0,
		clientId: `${username}-${systemRandom.uuid()}`,
	};
	const made = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, options, false);
	made.on('error', () => undefined);
	t.teardown(() => made.endAsync(true));
	return made;
}

/** All that a client hears from now on. */
function ear(heard: MqttClient): readonly Heard[] {
	const all: Heard[] = [];
	heard.on('message', (topic, payload, {retain}) => all.push({topic, text: payload.toString(), retained: retain}));
	return all;
}

function controlBroker(t: ExecutionContext, {port}: Mosquitto): OutsideBroker {
	const server = parseOutsideUrl(`mqtt://control:${encodeURIComponent(controlSecret)}@127.0.0.1:${port}`);
	if (typeof server === 'string') throw new Error(server);
	const broker = openOutsideBroker({server, boot: systemRandom.uuid()});
	t.teardown(() => broker.close());
	return broker;
}

test('each login may do what its role says and no more', async t => {
	const {tokens, secrets} = await tokensOf(['node-a', 'node'], ['node-b', 'node'], ['eye', 'view'], ['root', 'admin'], ['pliers', 'tool']);
	const broker = await startMosquitto(t, tokens.logins());
	const as = (name: string): Promise<MqttClient> => client(t, broker, name, secrets.get(name));
	const [nodeA, nodeB, eye, root, pliers] = await Promise.all([as('node-a'), as('node-b'), as('eye'), as('root'), as('pliers')]);
	const control = await client(t, broker, 'control', controlSecret);
	const ears = {control: ear(control), nodeA: ear(nodeA), nodeB: ear(nodeB), eye: ear(eye)};
	await Promise.all([control, nodeA, nodeB, eye].map(each => each.subscribeAsync('#')));

	const object = `${objects}/pods/default/web`;
	await control.publishAsync(object, 'an object', {retain: true, qos: 1});
	await control.publishAsync('troupe/v1/actors/node-b/inbox/control', 'for b', {qos: 1});
	const attempts: readonly (readonly [MqttClient, string])[] = [
		[nodeA, 'troupe/v1/nodes/node-b/presence'],
		[nodeA, 'troupe/v1/nodes/node-b/beat'],
		[nodeA, 'troupe/v1/actors/control/inbox/node-b'],
		[nodeA, 'troupe/v1/actors/node-b/inbox/control'],
		[nodeA, 'troupe/v1/actors/node-b/inbox/node-a'],
		[nodeA, object],
		[eye, object],
		[eye, 'troupe/v1/actors/control/inbox/eye'],
		[eye, 'troupe/v1/functions/default/f/invoke'],
		[root, object],
		[root, 'troupe/v1/canary/x'],
		[root, 'troupe/v1/actors/control/inbox/root'],
		[pliers, 'troupe/v1/functions/default/f/invoke'],
		[pliers, 'troupe/v1/actors/control/inbox/pliers'],
	];
	for (const [who, topic] of attempts) await who.publishAsync(topic, 'forged', {qos: 1, retain: true});
	const allowed: readonly (readonly [MqttClient, string])[] = [
		[nodeA, 'troupe/v1/nodes/node-a/presence'],
		[nodeA, 'troupe/v1/actors/control/inbox/node-a'],
		[nodeA, 'troupe/v1/actors/control/bulk/node-a'],
	];
	for (const [who, topic] of allowed) await who.publishAsync(topic, 'right', {qos: 1});
	// All of the above is handled by now, and what follows comes last to everybody who may hear it.
	for (const node of ['node-a', 'node-b']) await control.publishAsync(`troupe/v1/actors/${node}/inbox/control`, 'last', {qos: 1});
	await control.publishAsync(object, 'last', {qos: 1});
	const ended = (all: readonly {text: string}[]) => all.at(-1)?.text === 'last';
	await eventually('each has heard the last', () => Object.values(ears).every(ended));

	const topics = (all: readonly {topic: string; text: string}[], text: string) =>
		all.filter(each => each.text === text).map(({topic}) => topic);
	t.deepEqual(topics(ears.control, 'forged'), []);
	t.deepEqual(
		topics(ears.control, 'right'),
		allowed.map(([, topic]) => topic),
	);
	t.deepEqual(
		ears.nodeA.map(({topic}) => topic),
		['troupe/v1/nodes/node-a/presence', 'troupe/v1/actors/node-a/inbox/control'],
	);
	t.deepEqual(
		ears.nodeB.map(({topic, text}) => [topic, text]),
		['for b', 'last'].map(text => ['troupe/v1/actors/node-b/inbox/control', text]),
	);
	t.deepEqual(
		ears.eye.map(({topic, text}) => [topic, text]),
		[
			[object, 'an object'],
			['troupe/v1/nodes/node-a/presence', 'right'],
			[object, 'last'],
		],
	);
});

test('a stranger gets nothing: no login, a wrong password, an unknown name; a new login is in force after a reload, a revoked one is cut', async t => {
	const {tokens, secrets} = await tokensOf(['eye', 'view']);
	const broker = await startMosquitto(t, tokens.logins());
	await t.throwsAsync(mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`, {reconnectPeriod: 0}, false), {message: /not authorized/i});
	await t.throwsAsync(client(t, broker, 'eye', 'guess'), {message: /not authorized/i});
	await t.throwsAsync(client(t, broker, 'late', secrets.get('eye')), {message: /not authorized/i});
	const eye = await client(t, broker, 'eye', secrets.get('eye'));
	const closed = new Promise(resolve => eye.once('close', () => resolve(undefined)));
	await tokens.revoke('eye');
	const late = await tokens.issue('late', 'view');
	await broker.reload(tokens.logins());
	await client(t, broker, 'late', late);
	await within('the revoked one to be cut', closed);
	t.false(eye.connected);
});

const common = (t: ExecutionContext) => ({
	executor,
	clock: systemClock,
	random: systemRandom,
	measure: () => true,
	boot: systemRandom.uuid(),
	driver: createMemoryStore(executor.defer),
	onFenced: (message: string) => t.fail(message),
});

const opened = <Value>(open: (done: (outcome: Outcome<Value>) => void) => void): Promise<Value> =>
	new Promise((resolve, reject) =>
		open(outcome => (outcome.ok ? resolve(outcome.value) : reject(new AppError(outcome.error.code, outcome.error.details)))),
	);

/** Control with its topics at the broker; each sweep is told. */
async function startControl(t: ExecutionContext, mosquitto: Mosquitto) {
	const broker = controlBroker(t, mosquitto);
	const late: {control?: ControlSystem} = {};
	const epoch = (): number => late.control?.pipeline.epoch() ?? 0;
	const topics = createTopics({broker, epoch});
	const control = await opened<ControlSystem>(done =>
		openControl({...common(t), links: broker.links, version: '0.0.0', onChange: topics.onChange, onEvent: topics.onEvent}, done),
	);
	late.control = control;
	const sweeps: SweepResult[] = [];
	const boot = systemRandom.uuid();
	const source = retainedObjects(control.index, epoch);
	t.teardown(startSweeps({broker, source, boot, clock: systemClock, onSwept: result => sweeps.push(result)}));
	t.teardown(() => {
		control.kill();
	});
	control.begin();
	return {control, sweeps, source};
}

async function startNode(t: ExecutionContext, {port}: Mosquitto, name: string, password: string): Promise<void> {
	const boot = systemRandom.uuid();
	const links = {
		control: connectMqttLink({url: `mqtt://127.0.0.1:${port}`, self: name, password, clientId: `${name}.${boot}.control`}),
		bulk: connectMqttLink({url: `mqtt://127.0.0.1:${port}`, self: name, password, clientId: `${name}.${boot}.bulk`, lane: 'bulk'}),
	};
	const runtime = createSimulatedRuntime({clock: systemClock, random: systemRandom});
	const node = await opened<NodeSystem>(done => openNode({...common(t), name, links, labels: {}, runtime}, done));
	t.teardown(async () => {
		node.kill();
		await node.bus.close();
		await runtime.close();
	});
	node.begin();
}

/** What runs, by pod: the same containers, never started again. */
const containersOf = ({index}: ControlSystem): ReadonlyMap<string, unknown> =>
	new Map([...index.list('pods')].map(({metadata, status}) => [metadata.uid, (status as {containerStatuses?: unknown}).containerStatuses]));

const isReady = ({index}: ControlSystem): boolean => [...index.list('nodes')].some(node => isNodeReady(node as NodeObject));
const replicas = ({index}: ControlSystem): number | undefined =>
	(index.get('replicasets/default/web') as ReplicaSet | undefined)?.status?.readyReplicas;
const ask = ({system}: ControlSystem, to: string, message: Message): Promise<Outcome<unknown>> =>
	new Promise(resolve => system.ask(to, message, {deadlineMs: 10_000, cause: 'test'}, resolve));
const scale = (control: ControlSystem, count: number) =>
	ask(control, 'troupe://control/replicasets/default.web', {type: 'patch', patch: {spec: {replicas: count}}} as Message);

/** What the broker retains of objects, as a new subscriber is told. */
async function retainedAt(t: ExecutionContext, mosquitto: Mosquitto, password: string): Promise<ReadonlyMap<string, string>> {
	const tool = await client(t, mosquitto, 'eye', password);
	const heard = ear(tool);
	await tool.subscribeAsync(`${objects}/#`);
	const marker = await client(t, mosquitto, 'control', controlSecret);
	await marker.publishAsync(`${objects}/marker/_/marker`, 'end');
	await eventually('the marker is heard', () => heard.some(({text}) => text === 'end'));
	await Promise.all([tool.endAsync(), marker.endAsync()]);
	return new Map(heard.filter(({retained}) => retained).map(({topic, text}) => [topic, text]));
}

const contentOf = (text: string): string => text.replace(/^\{"epoch":\d+,(.*?)"prev":\d+,/, '$1');

test('a ReplicaSet runs over it; killed and started again, pods have run on, all is in step, and the sweep mends what it retains', async t => {
	t.timeout(60_000);
	const {tokens, secrets} = await tokensOf(['node-a', 'node'], ['eye', 'view']);
	const mosquitto = await startMosquitto(t, tokens.logins());
	const eye = secrets.get('eye') ?? '';

	// What a former leader left: an object that is no more, and one nobody could have written.
	const former = await client(t, mosquitto, 'control', controlSecret);
	for (const name of ['pods/default/stale', 'gone/_/kind', 'pods/default/deeper/than/any'])
		await former.publishAsync(`${objects}/${name}`, '{"epoch":1,"rv":7,"prev":0,"object":{}}', {retain: true, qos: 1});
	await former.endAsync();

	const {control, sweeps, source} = await startControl(t, mosquitto);
	const inStep = async (): Promise<void> => {
		const wanted = new Map([...source.match(`${objects}/#`)].map(({topic, payload}) => [topic, contentOf(payload().toString())]));
		const held = new Map([...(await retainedAt(t, mosquitto, eye))].map(([topic, text]) => [topic, contentOf(text)]));
		t.deepEqual(
			[...held].toSorted(([a], [b]) => (a < b ? -1 : 1)),
			[...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1)),
		);
	};
	await eventually('it was swept', () => sweeps.length === 1);
	t.deepEqual([sweeps[0]?.held, sweeps[0]?.cleared], [3, 3]);
	await startNode(t, mosquitto, 'node-a', secrets.get('node-a') ?? '');
	await eventually('the node is ready', () => isReady(control));
	const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'main', image: 'x', command: ['serve']}]}};
	const spec = {replicas: 20, selector: {matchLabels: {app: 'web'}}, template};
	const object = {apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: {name: 'web', namespace: 'default'}, spec};
	t.true((await ask(control, collectionAddress('replicasets'), {type: 'create', object} as Message)).ok);
	await eventually('twenty are ready', () => replicas(control) === 20);
	await inStep();

	const running = containersOf(control);
	t.is(running.size, 20);
	await mosquitto.kill();
	// What is asked for meanwhile is committed, and reaches the node when the broker is back.
	t.true((await scale(control, 25)).ok);
	const before = sweeps.length;
	await mosquitto.start();
	await eventually('five more are ready, and it was swept', () => replicas(control) === 25 && sweeps.length > before);
	const afterwards = containersOf(control);
	for (const [pod, containers] of running) t.deepEqual(afterwards.get(pod), containers);
	t.true((sweeps.at(-1)?.rewritten ?? 0) > 0);
	await inStep();

	// A tool that was there all the time sees each change once, without a gap.
	const tool = await client(t, mosquitto, 'eye', eye);
	const heard = ear(tool);
	await tool.subscribeAsync(`${objects}/pods/#`);
	t.true((await scale(control, 0)).ok);
	await eventually('no pod is left', () => [...control.index.list('pods')].length === 0);
	await eventually('their topics are cleared', () => heard.filter(({text, retained}) => text === '' && !retained).length >= 25);
	t.deepEqual(gapsIn(messagesOf(heard)), []);
	await inStep();
});

test('the inspector is asked over it: by its own name only, and never by what the broker had retained', async t => {
	const {tokens, secrets} = await tokensOf(['eve', 'view'], ['ann', 'admin'], ['node-a', 'node']);
	const mosquitto = await startMosquitto(t, tokens.logins());
	const [eve, ann, node] = await Promise.all(['eve', 'ann', 'node-a'].map(name => client(t, mosquitto, name, secrets.get(name))));
	if (eve === undefined || ann === undefined || node === undefined) return t.fail();
	const ears = {eve: ear(eve), ann: ear(ann), node: ear(node)};
	await Promise.all([eve, ann, node].map(each => each.subscribeAsync('#')));
	const requests = 'troupe/v1/inspect/requests';
	const kill = JSON.stringify({verb: 'kill', place: 'control/scheduler'});
	const stats = JSON.stringify({verb: 'stats', place: 'control'});
	await ann.publishAsync(`${requests}/ann/old`, kill, {retain: true, qos: 1});
	const control = await client(t, mosquitto, 'control', controlSecret);
	const kept = ear(control);
	await control.subscribeAsync(`${requests}/#`);

	const broker = controlBroker(t, mosquitto);
	const cluster = testCluster();
	const asked: string[] = [];
	cluster.onInspect((_system, request) => {
		asked.push(request.verb);
		return succeeded(request.verb);
	});
	const refused: string[] = [];
	const door = openMqttDoor({
		inspection: cluster.inspection,
		pubsub: {publish: broker.publish, subscribe: broker.subscribe},
		clock: systemClock,
		identityOf: tokens.identityOf,
		onRefused: (why, login) => refused.push(`${why} ${login}`),
	});
	t.teardown(door.close);
	await eventually('the retained request to be refused', () => refused.includes('retained ann'));
	await eve.publishAsync(`${requests}/ann/1`, kill, {qos: 1});
	await node.publishAsync(`${requests}/node-a/1`, stats, {qos: 1});
	await eve.publishAsync(`${requests}/eve/1`, stats, {qos: 1});
	await ann.publishAsync(`${requests}/ann/2`, kill, {qos: 1});
	const reply = (login: string, id: string, value: string) => ({
		topic: `troupe/v1/inspect/replies/${login}/${id}`,
		text: JSON.stringify({ok: true, value, end: true, seq: 0}),
		retained: false,
	});
	await eventually('both to be answered', () => ears.eve.length > 0 && ears.ann.length > 0);
	t.deepEqual(ears, {eve: [reply('eve', '1', 'stats')], ann: [reply('ann', '2', 'kill')], node: []});
	t.deepEqual(asked.toSorted(), ['kill', 'stats']);
	t.deepEqual(
		cluster.audit.map(({login, verb, outcome}) => [login, verb, outcome]),
		[['ann', 'kill', 'done']],
	);
	const isCleared = ({topic, text}: Heard): boolean => topic === `${requests}/ann/old` && text === '';
	await eventually('what was retained to be cleared', () => kept.some(isCleared));
});

test('a token uses the topics of users that it names, and control hears those that triggers name, as they come', async t => {
	const {tokens} = await tokensOf();
	const secret = await tokens.issue('gw', 'tool', {topics: {publish: ['sensors/#'], subscribe: ['alerts/+']}});
	const broker = await startMosquitto(t, tokens.logins());
	const gateway = await client(t, broker, 'gw', secret);
	const heard = ear(gateway);
	await gateway.subscribeAsync('#');
	await gateway.publishAsync('sensors/old', 'retained before', {qos: 1, retain: true});
	const control = controlBroker(t, broker);
	await eventually('control to be connected', () => control.connected());

	const delivered: Delivery[] = [];
	const triggers = createTopicTriggers();
	const takers = functionTakers(delivery => {
		delivered.push(delivery);
		return Promise.resolve('id');
	});
	const messages = createTopicMessages({triggers, takers, onRefused: why => t.fail(why.message)});
	const {close} = followOutsideMessages({subscribe: control.subscribe, triggers, messages, onTooMany: () => t.fail()});
	t.teardown(close);
	const spec = {
		triggers: [
			{name: 'all', topic: 'sensors/#'},
			{name: 'one', topic: 'sensors/+/raw'},
		],
	};
	triggers.note(objectKey('functions', 'default', 'f'), {metadata: {name: 'f', namespace: 'default'}, spec} as unknown as FunctionObject);
	const raw = Buffer.from([0, 0xff, 1]);
	await eventually('a message to be delivered', async () => {
		await gateway.publishAsync('sensors/k/raw', raw, {qos: 1});
		return delivered.length > 0;
	});
	await gateway.publishAsync('alerts/fire', 'forged', {qos: 1});
	control.publish('alerts/fire', 'from control', {retain: false});
	await eventually('the gateway to hear it', () => heard.some(({topic}) => topic === 'alerts/fire'));
	t.deepEqual(
		heard.map(({text}) => text),
		['from control'],
	);
	t.deepEqual([...new Set(delivered.map(({trigger}) => trigger))].toSorted(), ['all', 'one']);
	t.true(delivered.every(({body, queue}) => body.equals(raw) && queue === 'topic:sensors/k/raw'));
});

test('a metric of an autoscaler comes from a broker elsewhere, and what that has retained is no value of it', async t => {
	const {tokens} = await tokensOf();
	const secret = await tokens.issue('gw', 'tool', {topics: {publish: ['jobs/#'], subscribe: []}});
	const broker = await startMosquitto(t, tokens.logins());
	const gateway = await client(t, broker, 'gw', secret);
	await gateway.publishAsync('jobs/waiting', '7', {qos: 1, retain: true});
	const control = controlBroker(t, broker);
	await eventually('control to be connected', () => control.connected());
	let retained = 0;
	let news = 0;
	const topics = createMetricTopics({
		subscribe: (filter, listener) =>
			control.subscribe(filter, (topic, payload, isRetained) => {
				listener(topic, payload, isRetained);
				if (isRetained) retained++;
			}),
		clock: systemClock,
		isPod: () => false,
		onValue: () => void news++,
	});
	t.teardown(topics.close);
	const source = {topic: 'jobs/waiting'};
	const read = () => topics.read('hpa', 'default', false, source);
	topics.set('hpa', 'default', [{isOfPods: false, source: {mqtt: source}}]);
	await eventually('what is retained came', () => retained > 0);
	t.is(read().type, 'unknown');
	await gateway.publishAsync('jobs/waiting', '8', {qos: 1, retain: true});
	await eventually('a value came', () => news > 0);
	t.deepEqual(read(), {type: 'total', value: 8});
});
