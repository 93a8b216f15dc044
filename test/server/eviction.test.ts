import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
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

const budget = (name: string, app = 'web') => ({
	apiVersion: 'policy/v1',
	kind: 'PodDisruptionBudget',
	metadata: {
		name,
		namespace: 'default',
		uid: `uid-of-${name}`,
		resourceVersion: '0',
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
	},
	spec: {maxUnavailable: 1, selector: {matchLabels: {app}}},
});
const running = {metadata: {name: 'web', labels: {app: 'web'}}, status: {phase: 'Running'}};
const podRecord = 'troupe://control/pods/default.web';
const record = 'troupe://control/poddisruptionbudgets/default.web';

test('the budget of a pod is asked before its deletion, and a pod without one is not held up', async t => {
	const {json, cluster} = await openDoor(t);
	const {metadata} = cluster.put({...cluster.pod('web', running), status: running.status});
	cluster.put(budget('web'));
	cluster.put(budget('other', 'other'));
	cluster.answers.set(record, () => succeeded({}));
	await json(201, 'POST', path, eviction());
	t.deepEqual(
		cluster.asked.map(({message}) => message.type),
		['disrupt', 'delete'],
	);
	t.like(cluster.asked[0], {to: record, message: {pod: 'web', uid: metadata.uid, dryRun: false}});
});

test('what a budget refuses is not deleted, and the answer is that of Kubernetes, with the budget by name', async t => {
	const {call, cluster, json} = await openDoor(t);
	cluster.put({...cluster.pod('web', running), status: running.status});
	cluster.put(budget('web'));
	const cause = 'The disruption budget web needs 2 healthy pods and has 2 currently';
	cluster.answers.set(record, () => failed('ERR_DISRUPTION_BUDGET', {name: 'web', cause}));
	const {headers, ...answer} = await call('POST', path, eviction());
	t.is(answer.status, 429);
	t.deepEqual(JSON.parse(answer.text), {
		kind: 'Status',
		apiVersion: 'v1',
		metadata: {},
		status: 'Failure',
		message: "Cannot evict pod as it would violate the pod's disruption budget.",
		reason: 'TooManyRequests',
		details: {name: 'web', group: 'policy', kind: 'poddisruptionbudgets', causes: [{reason: 'DisruptionBudget', message: cause}]},
		code: 429,
	});
	// With that header kubectl would try ten times before it says a word.
	t.is(headers['retry-after'], undefined);
	await json(200, 'GET', '/api/v1/namespaces/default/pods/web');
});

test('a pod with several budgets is not evicted; one that is over or meant as another asks none', async t => {
	const {json, cluster} = await openDoor(t);
	const pod = cluster.put({...cluster.pod('web', running), status: running.status});
	for (const name of ['web', 'also']) cluster.put(budget(name));
	const refused = await json<StatusBody>(500, 'POST', path, eviction());
	t.is(refused.message, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
	t.deepEqual(cluster.asked, []);
	await json(201, 'POST', path, eviction({deleteOptions: {preconditions: {uid: 'other'}, dryRun: ['All']}}));
	cluster.put({...pod, status: {phase: 'Succeeded'}});
	await json(201, 'POST', path, eviction());
	t.deepEqual(
		cluster.asked.map(({message}) => message.type),
		['delete', 'delete'],
	);
});

test('a pod that may go because it is not ready goes only as long as it is not', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.put(budget('web'));
	const {metadata} = cluster.put({...cluster.pod('web', running), status: {phase: 'Pending'}});
	cluster.answers.set(podRecord, () => {
		cluster.answers.delete(podRecord);
		cluster.put({...cluster.pod('web', running), status: running.status});
		return failed('ERR_CONFLICT', {resource: 'pods', name: 'web'});
	});
	cluster.answers.set(record, () => failed('ERR_DISRUPTION_BUDGET', {name: 'web', cause: 'it is ready now'}));
	await json(429, 'POST', path, eviction());
	t.like(cluster.asked[0], {to: podRecord, message: {uid: metadata.uid, resourceVersion: metadata.resourceVersion}});
	cluster.answers.set(record, () => succeeded({status: {}}));
	await json(201, 'POST', path, eviction());
	const deletion = cluster.asked.at(-1)?.message;
	t.is(deletion?.['type'], 'delete');
	t.truthy(deletion?.['resourceVersion']);
});

test('a pod that was given out goes whatever its status is meanwhile, but no other one of its name', async t => {
	const {json, cluster} = await openDoor(t);
	const {metadata} = cluster.put({...cluster.pod('web', running), status: running.status});
	cluster.put(budget('web'));
	cluster.answers.set(record, () => succeeded({status: {disruptedPods: {web: '2026-01-01T00:00:00Z'}}}));
	await json(201, 'POST', path, eviction());
	t.like(cluster.asked[1]?.message, {type: 'delete', uid: metadata.uid, resourceVersion: undefined});
});

test('a budget that was deleted while it was asked holds nothing up', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.put({...cluster.pod('web', running), status: running.status});
	cluster.put(budget('web'));
	cluster.answers.set(record, () => {
		cluster.drop('poddisruptionbudgets/default/web');
		return failed('ERR_ACTOR_STOPPED', {address: record});
	});
	await json(201, 'POST', path, eviction());
	await json(404, 'GET', '/api/v1/namespaces/default/pods/web');
});
