// Bad input at the doors of a real control plane: over HTTP it is refused with cause and place, over MQTT it is refused, dropped and
// counted; either way nothing is changed. The cases are in test/corpus; the command line has its own test.

import test, {type ExecutionContext} from 'ava';
import type {MqttClient} from 'mqtt';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {decodePacket, encodePacket} from '../../system/links/packet-codec.js';
import type {Packet} from '../../system/links/link.js';
import {cases} from '../corpus/cases.js';
import {overHttp} from '../corpus/over-http.js';
import {badRequests} from '../corpus/requests.js';
import {aPod, collectionPath} from '../server/cluster.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {loggedIn, settled} from '../system/broker/broker-rig.js';
import {openDoors, type Doors} from './_three-doors.js';

const pods = collectionPath('pods', 'default');
const corpus = `${pods}/corpus`;
/** Where the name is free. */
const elsewhere = collectionPath('pods', 'other');
const messageOf = (text: string): string => (JSON.parse(text) as {readonly message?: string}).message ?? text;

/** All objects, with their versions. There is no node, so nothing changes by itself once the pod was looked at. */
const contentsOf = ({control: {index}}: Doors): unknown => [...index.all()].map(({object}) => object);

const aNamespace = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'other'}};

async function withCorpus(t: ExecutionContext, doors: Doors): Promise<void> {
	const {control, call} = doors;
	const json = {'content-type': 'application/json'};
	await eventually(
		'the collections are there',
		async () => (await call('POST', pods, JSON.stringify(aPod('corpus')), json)).status === 201,
	);
	t.is((await call('POST', collectionPath('namespaces'), JSON.stringify(aNamespace), json)).status, 201);
	const isLookedAt = (): boolean => JSON.stringify(control.index.get('pods/default/corpus')?.status ?? {}).includes('there is no node yet');
	await eventually('the pod was looked at', isLookedAt);
}

test('HTTP: every case of the corpus is refused with cause and place, and changes nothing', async t => {
	const doors = await openDoors(t);
	await withCorpus(t, doors);
	const before = contentsOf(doors);
	t.deepEqual(Object.keys(overHttp).sort(), cases.map(({name}) => name).sort());
	for (const {name, file, bytes} of cases) {
		const {status, says, put = status, patch = 400} = overHttp[name] ?? {status: 0, says: /^$/};
		const type = file.endsWith('.json') ? 'application/json' : 'application/yaml';
		// What is beyond the bound is refused whatever it is.
		const body = Buffer.from(bytes()).subarray(0, limits.requestBodyBytes + 1);
		const created = await doors.call('POST', elsewhere, body, {'content-type': type});
		t.is(created.status, status, `${name}: ${created.text.slice(0, 300)}`);
		t.regex(messageOf(created.text), says, name);
		t.true(created.text.length < 2_000, name);
		const replaced = await doors.call('PUT', corpus, body, {'content-type': type});
		t.is(replaced.status, put, `PUT ${name}: ${replaced.text.slice(0, 300)}`);
		const patched = await doors.call('PATCH', corpus, body, {'content-type': 'application/merge-patch+json'});
		t.is(patched.status, patch, `PATCH ${name}: ${patched.text.slice(0, 300)}`);
		t.deepEqual(contentsOf(doors), before, name);
	}
	for (const {name, method, path, body, type, headers, status, says} of badRequests) {
		const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
		const usual = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
		const answer = await doors.call(method, path, text, {...(text === undefined ? {} : {'content-type': type ?? usual}), ...headers});
		t.is(answer.status, status, `${name}: ${answer.text.slice(0, 300)}`);
		t.regex(messageOf(answer.text), says, name);
		t.deepEqual(contentsOf(doors), before, name);
	}
});

test('MQTT: no object is taken from anybody; what a node says that is no sound message is dropped and counted', async t => {
	const doors = await openDoors(t);
	await withCorpus(t, doors);
	const {control, broker, garbage, mqttPort} = doors;
	const before = contentsOf(doors);
	const [node, tool] = [await loggedIn(t, mqttPort, 'node-a'), await loggedIn(t, mqttPort, 'watcher')];
	const payloads = cases.map(({bytes}) => Buffer.from(bytes())).filter(({length}) => length <= limits.packetBytes / 2);
	t.true(payloads.length > 40);
	for (const payload of payloads) {
		// What is no right is dropped by the broker, for tools and nodes alike.
		for (const client of [tool, node]) client.publish('troupe/v1/objects/pods/default/corpus', payload, {retain: true});
		node.publish('troupe/v1/actors/control/inbox/node-b', payload);
		for (const lane of ['inbox', 'bulk']) node.publish(`troupe/v1/actors/control/${lane}/node-a`, payload);
		for (const sign of ['presence', 'beat']) node.publish(`troupe/v1/nodes/node-a/${sign}`, payload);
	}
	await Promise.all([settled(node), settled(tool)]);
	t.is(broker.counters().publishesRefused, 3 * payloads.length);
	t.is(garbage(), 2 * payloads.length);
	t.deepEqual(contentsOf(doors), before);

	const refused = control.bus.counters.refused;
	const bodies = badMessages();
	await speak(node, bodies);
	await eventually(
		'every message is refused',
		() => control.bus.counters.refused === refused + bodies.length,
		() => `${control.bus.counters.refused - refused} of ${bodies.length}, garbage ${garbage() - 2 * payloads.length}`,
		4_000,
	);
	t.deepEqual(contentsOf(doors), before);
	t.is((await doors.call('POST', pods, JSON.stringify(aPod('after')), {'content-type': 'application/json'})).status, 201);
});

/** Bodies of the stream between two systems, whose sender is who it says, and which no node may say, or not so. */
function badMessages(): readonly Json[] {
	const [sync, ours] = ['troupe://control/sync', 'troupe://control/sync/node-a'];
	const pod: Json = {
		...(aPod('smuggled') as unknown as {readonly [field: string]: Json}),
		metadata: {name: 'smuggled', namespace: 'default'},
	};
	const deep = Array.from({length: limits.objectDepth - 4}).reduce<Json>(inner => ({inner}), 1);
	const says = (to: string, message: Json): Json => ({to, from: 'troupe://node-a/sync', cause: 'test', message});
	return [
		says('troupe://control/pods', {type: 'create', object: pod}),
		says('troupe://control/pods/default.corpus', {type: 'delete'}),
		says('troupe://control/pods/default.corpus', {type: 'patch', patch: {metadata: {labels: {a: 'b'}}}}),
		says('troupe://control/scheduler', {type: 'wake'}),
		says(sync, {type: 'hello'}),
		says(sync, {type: 'hello', node: 'node-b'}),
		says(sync, {type: 'hello', node: 'node-a', protocol: 'one', session: -1, pods: 'all'}),
		says(sync, {type: 'hello', node: ['node-a'], session: {}}),
		says(ours, {type: 'delta', number: 1, pods: []}),
		says(ours, {type: 'deltaTaken', session: 's', number: 1e300}),
		says(ours, {type: 'observed', session: 's', number: -1, pods: null}),
		says(ours, {type: 'observed', session: 's', number: 1, pods: [deep]}),
		says(ours, {type: 'podGone', uid: 7}),
		says(ours, {type: 'renewLeases', number: 'one', uids: [null]}),
		says(ours, JSON.parse('{"type": "observed", "__proto__": {"session": "s", "number": 1, "pods": []}}') as Json),
		says(ours, JSON.parse('{"type": "__proto__"}') as Json),
		says(ours, {type: 'constructor'}),
		says('troupe://control/__proto__', {type: 'hello', node: 'node-a'}),
		{to: ours, from: 'troupe://control/sync', cause: 'test', message: {type: 'observed'}},
		deep,
	];
}

/** Says the bodies to control as the agent's end of the stream would. */
async function speak(node: MqttClient, bodies: readonly Json[]): Promise<void> {
	const boot = 'the-boot-of-a-liar';
	const say = (packet: Omit<Packet, 'boot'>): void =>
		void node.publish('troupe/v1/actors/control/inbox/node-a', encodePacket({boot, ...packet}));
	const asked = new Promise<Packet>(resolve =>
		node.on('message', (_topic, payload) => {
			const packet = decodePacket(payload);
			if (packet?.probe !== undefined) resolve(packet);
		}),
	);
	await node.subscribeAsync('troupe/v1/actors/node-a/inbox/control');
	say({sequence: 0, acknowledged: 0});
	const {boot: peerBoot, probe = ''} = await asked;
	say({peerBoot, sequence: 0, acknowledged: 0, echo: probe});
	for (const [index, body] of bodies.entries()) say({peerBoot, sequence: index + 1, acknowledged: 0, body});
}
