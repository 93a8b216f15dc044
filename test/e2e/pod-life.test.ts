// What happens to a pod between its start and its end: init containers, probes, hooks, deadlines, and an agent that starts anew.

import test from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {containerOf, isReady, phaseOf, pidOf} from '../../bench/rigs/cluster/pods.js';
import {podOf} from '../../bench/rigs/cluster/manifests.js';
import {openFileHome} from './_rig.js';
import {until} from '../../bench/rigs/cluster/waiting.js';

const {cluster, client} = openFileHome(test);

const shell = (text: string): readonly string[] => ['sh', '-c', text];

/** Answers 200 to everything but to what it was told to be: `/be/sick` makes `/live` fail, `/be/busy` makes `/ready` fail. */
const patient = `
const {createServer} = require('node:http');
let mood = 'well';
process.on('SIGTERM', () => process.exit(0));
createServer(({url}, response) => {
	if (url.startsWith('/be/')) mood = url.slice(4);
	if (url === '/bye') console.log('told to stop');
	response.statusCode = (url === '/live' && mood === 'sick') || (url === '/ready' && mood === 'busy') ? 500 : 200;
	response.end(mood);
}).listen(8080, process.env.POD_IP);
`;

const probe = (path: string) => ({httpGet: {path, port: 'web'}, periodSeconds: 1, failureThreshold: 1});
const patientContainer = {
	name: 'main',
	image: 'node',
	command: ['node', '-e', patient],
	ports: [{name: 'web', containerPort: 8080}],
	startupProbe: {...probe('/'), failureThreshold: 30},
	readinessProbe: probe('/ready'),
	livenessProbe: probe('/live'),
	lifecycle: {postStart: {exec: {command: ['true']}}, preStop: {httpGet: {path: '/bye', port: 8080}}},
};
const initContainers = ['one', 'two'].map(name => ({name, image: 'any', command: shell(`echo ${name}`)}));

const statusOf = (pod: ApiObject | undefined): Pod['status'] => (pod as Pod | undefined)?.status;
const tell = async (pod: ApiObject, path: string): Promise<string> =>
	(await fetch(`http://${statusOf(pod)?.podIP}:8080${path}`, {headers: {connection: 'close'}, signal: AbortSignal.timeout(10_000)})).text();

/** The pod once it is ready, or is not, in its run number `restarts`. */
const when = (ready: boolean, restarts = 0): Promise<ApiObject> =>
	until(client(), 'pods', `ready ${ready} in run ${restarts}`, pods => {
		const pod = pods.get('patient');
		const container = containerOf(pod);
		return container?.state?.running !== undefined && container.restartCount === restarts && container.ready === ready && pod;
	});

test.serial('a pod is ready after its init containers, its start and its first good answer', async t => {
	await cluster.apply(podOf('patient', [], {initContainers, containers: [patientContainer]}));
	const pod = await when(true);
	const ends = statusOf(pod)?.initContainerStatuses?.map(({state}) => state?.terminated) ?? [];
	t.deepEqual(
		ends.map(end => end?.exitCode),
		[0, 0],
	);
	const times = [ends[0]?.finishedAt, ends[1]?.startedAt, ends[1]?.finishedAt, containerOf(pod)?.state?.running?.startedAt];
	t.deepEqual([...times].sort(), times, 'one after the other');
	t.is(await cluster.fine('logs', 'patient', '-c', 'two'), 'two\n');
});

test.serial('one that says it is busy is not ready, and runs on', async t => {
	const pod = await when(true);
	await tell(pod, '/be/busy');
	const busy = await when(false);
	t.is(pidOf(busy), pidOf(pod));
	await tell(pod, '/be/well');
	t.is(pidOf(await when(true)), pidOf(pod));
});

test.serial('one that is sick has its preStop hook, and is started again', async t => {
	const pod = await when(true);
	await tell(pod, '/be/sick');
	const again = await when(true, 1);
	t.not(pidOf(again), pidOf(pod));
	t.is(containerOf(again)?.lastState?.terminated?.exitCode, 0);
	t.is(await cluster.fine('logs', 'patient', '--previous'), 'told to stop\n');
	const events = await cluster.fine('events');
	for (const wanted of [/Unhealthy +pod\/patient/, /Killing +pod\/patient +container main failed its liveness probe/])
		t.regex(events, wanted);
});

test.serial('an agent that starts anew restarts nothing and runs no init container again', async t => {
	const before = await when(true, 1);
	await cluster.killCluster();
	await cluster.up();
	const after = await cluster.client();
	const pod = await until(after, 'pods', 'it to be reported', pods => isReady(pods.get('patient')) && pods.get('patient'));
	t.is(pidOf(pod), pidOf(before));
	t.deepEqual(statusOf(pod)?.initContainerStatuses, statusOf(before)?.initContainerStatuses);
	await tell(pod, '/be/busy');
	await until(after, 'pods', 'it to be probed again', pods => containerOf(pods.get('patient'))?.ready === false);
});

test.serial('what fails says how, with its last words, and is tried when somebody asks', async t => {
	const now = await cluster.client();
	const never = {initContainers: [{name: 'prepare', image: 'any', command: shell('echo no disk; exit 5')}], restartPolicy: 'Never'};
	const slow = {annotations: {'troupe.dev/backoff-first': '1h', 'troupe.dev/backoff-max': '1h'}};
	const crash = podOf('crash', shell('echo cannot open it; exit 6'));
	await cluster.apply(
		podOf('unprepared', ['sleep', '1d'], never),
		{...crash, metadata: {...crash.metadata, ...slow}},
		podOf('brief', ['sleep', '1d'], {activeDeadlineSeconds: 1}),
	);
	await until(now, 'pods', 'three ends', pods => {
		const phases = ['unprepared', 'brief'].map(name => phaseOf(pods.get(name)));
		return phases.every(phase => phase === 'Failed') && containerOf(pods.get('crash'))?.restartCount === 1;
	});
	const table = await cluster.fine('get', 'pods');
	t.regex(table, /^unprepared +0\/1 +Init:Error +0 /m);
	t.regex(table, /^brief +0\/1 +DeadlineExceeded +0 /m);
	t.regex(table, /^crash +0\/1 +retry 2 in (59|60) min: exit 6 +1 /m);
	t.regex(await cluster.fine('describe', 'pod', 'crash'), /Terminated \(Error\): exit code 6[^]*its last lines:\n +cannot open it\n/);
	t.regex(await cluster.fine('retry', 'crash'), /container main starts now/);
	await until(now, 'pods', 'another try', pods => containerOf(pods.get('crash'))?.restartCount === 2);
});
