import test from 'ava';
import {openDoor, type StatusBody} from './door.js';

const path = '/api/v1/namespaces/default/pods/web/eviction';
const eviction = (more: object = {}) => ({
	apiVersion: 'policy/v1',
	kind: 'Eviction',
	metadata: {name: 'web', namespace: 'default'},
	...more,
});

test('an eviction deletes the pod with its options, and is answered as Kubernetes answers it', async t => {
	const {json, cluster} = await openDoor(t);
	const {metadata} = cluster.pod('web');
	const options = {gracePeriodSeconds: 5, preconditions: {uid: metadata.uid}};
	const answer = await json<StatusBody>(201, 'POST', path, eviction({deleteOptions: options}));
	t.deepEqual([answer.kind, answer.status], ['Status', 'Success']);
	const [asked] = cluster.asked;
	t.like(asked?.message, {type: 'delete', graceSeconds: 5, uid: metadata.uid, dryRun: false});
	t.regex(asked?.options.cause ?? '', /POST pods\/default\/web\/eviction$/);
});

test('a trial changes nothing, whichever way it is asked for', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	await json(201, 'POST', path, eviction({deleteOptions: {dryRun: ['All']}}));
	await json(201, 'POST', `${path}?dryRun=All`, eviction());
	t.deepEqual(
		cluster.asked.map(({message}) => message['dryRun']),
		[true, true],
	);
	await json(200, 'GET', '/api/v1/namespaces/default/pods/web');
});

test('what is no eviction of this pod is refused, and changes nothing', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	for (const body of [
		{},
		{kind: 'Eviction'},
		eviction({apiVersion: 'policy/v1beta1'}),
		eviction({metadata: {name: 'other'}}),
		eviction({deleteOptions: 3}),
		eviction({deleteOptions: {gracePeriodSeconds: -1}}),
	])
		await json(400, 'POST', path, body);
	await json(404, 'POST', path.replace('web', 'none'), eviction({metadata: {name: 'none'}}));
	await json(403, 'POST', path, eviction(), {authorization: 'Bearer viewer'});
	await json(405, 'GET', path);
	await json(200, 'GET', '/api/v1/namespaces/default/pods/web');
});

test('discovery names the group and version by which drain knows that pods can be evicted', async t => {
	const {json} = await openDoor(t);
	const {resources} = await json<{resources: {name: string}[]}>(200, 'GET', '/api/v1');
	t.deepEqual(
		resources.find(({name}) => name === 'pods/eviction'),
		{
			name: 'pods/eviction',
			singularName: '',
			namespaced: true,
			kind: 'Eviction',
			group: 'policy',
			version: 'v1',
			verbs: ['create'],
		} as object as {name: string},
	);
});
