// `net check` at the door: who may have something tried and from where, and what of a question reaches the node.

import test from 'ava';
import {succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {openDoor, type StatusBody} from './door.js';
import {runningPod, scriptNode} from './_remote.js';

const ofPod = '/troupe/v1/net/pods/default/web';
const ofNode = '/troupe/v1/net/nodes/node-a';
const as = (token: string) => ({authorization: `Bearer ${token}`});

const nodeA = {
	apiVersion: 'v1',
	kind: 'Node',
	metadata: {name: 'node-a', uid: 'n', resourceVersion: '1', creationTimestamp: '', generation: 1},
	spec: {},
};

async function open(t: Parameters<typeof openDoor>[0]) {
	const door = await openDoor(t);
	door.cluster.put(nodeA);
	const pod = door.cluster.pod('web');
	door.cluster.put({...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}, status: {phase: 'Running'}});
	const asked = scriptNode(door.cluster, ask => (ask.type === 'wayCheck' ? succeeded({from: 'pod', tried: []}) : undefined));
	return {...door, asked, pod};
}

test('from a pod it takes the right to forward its ports, from a node an admin', async t => {
	const {json, asked} = await open(t);
	const question = {tries: [{type: 'tcp', address: '10.0.0.7', port: 80}]};
	for (const token of ['editor', 'admin']) await json(200, 'POST', ofPod, question, as(token));
	await json(200, 'POST', ofNode, question, as('admin'));
	t.is(asked.length, 3);
	for (const token of ['viewer', 'tool', 'node-a']) await json(403, 'POST', ofPod, question, as(token));
	for (const token of ['editor', 'viewer', 'node-a']) await json(403, 'POST', ofNode, question, as(token));
	await json(404, 'POST', '/troupe/v1/net/pods/default/nosuch', question);
	await json(404, 'POST', '/troupe/v1/net/nodes/nosuch', question);
	t.is(asked.length, 3);
});

test('the uid is that of the pod, whatever the question says', async t => {
	const {json, asked, pod} = await open(t);
	await json(200, 'POST', ofPod, {uid: 'another', service: {namespace: 'default', name: 'db'}, tries: []});
	await json(200, 'POST', ofNode, {uid: 'another'});
	const [one, two] = asked;
	t.like(one, {type: 'wayCheck', request: {uid: pod.metadata.uid, service: {namespace: 'default', name: 'db'}, tries: []}});
	t.is(two?.type === 'wayCheck' ? two.request.uid : 'none', undefined);
});

test('nothing but names, addresses, ports and paths gets to the node, and few of them', async t => {
	const {json, asked} = await open(t);
	const tcp = {type: 'tcp', address: '10.0.0.7', port: 80};
	const wrong: readonly unknown[] = [
		{...tcp, address: '10.0.0.7; reboot'},
		{...tcp, address: 'localhost'},
		{...tcp, address: '::1'},
		{...tcp, port: 0},
		{...tcp, port: '80'},
		{...tcp, port: 65_536},
		{type: 'name', name: '$(reboot)'},
		{type: 'name', name: 'x'.repeat(254)},
		{type: 'route', host: 'a b', path: '/'},
		{type: 'route', host: 'a', path: 'x'},
		{type: 'route', host: 'a', path: '/ HTTP/1.1\r\nhost: b'},
		{type: 'route', host: 'a', path: `/${'x'.repeat(limits.wayPathCharacters)}`},
		{type: 'exec'},
		null,
	];
	for (const one of wrong) {
		const {message} = (await json(400, 'POST', ofPod, {tries: [one]})) as unknown as StatusBody;
		t.regex(message ?? '', /one of tries is neither/, JSON.stringify(one));
	}
	await json(400, 'POST', ofPod, {tries: Array.from({length: limits.wayTries + 1}, () => tcp)});
	await json(400, 'POST', ofPod, {service: {namespace: 'default', name: '../x y'}});
	t.deepEqual(asked, []);
});

test('nothing is tried from a pod that does not run', async t => {
	const {json, cluster, asked} = await open(t);
	runningPod(cluster, undefined, {phase: 'Succeeded'});
	await json(400, 'POST', ofPod, {});
	t.deepEqual(asked, []);
});
