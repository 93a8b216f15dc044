// What dies, and what becomes of it: programs, the control plane, all at once.

import test from 'ava';
import {backoffFirstAnnotation} from '../../api/backoff.js';
import type {ApiObject} from '../../api/object.js';
import {kinds} from '../../api/catalogue.js';
import type {Client} from '../../cli/client.js';
import {listAll} from '../../cli/cluster/lists.js';
import {resourceOf} from '../../cli/cluster/resources.js';
import {containerOf, isReady, phaseOf, pidOf, pidsWhenRunning, untilAnswers} from '../../bench/rigs/cluster/pods.js';
import {obedientPod, podOf, setOf} from '../../bench/rigs/cluster/manifests.js';
import {lives, processesOf, programsOf, signal} from '../../bench/rigs/cluster/processes.js';
import {openHome} from './_rig.js';
import {eventually, followObjects, until} from '../../bench/rigs/cluster/waiting.js';

test('a program that is killed runs again at once, then waits a little longer each time, and says so', async t => {
	t.timeout(50_000);
	const cluster = openHome(t);
	await cluster.up();
	const client = await cluster.client();
	// Of the usual first wait, 100 ms, a slow machine may have nothing left once the end is known.
	const web = obedientPod('web');
	await cluster.apply({...web, metadata: {...web.metadata, annotations: {[backoffFirstAnnotation]: '1s'}}});
	const [first = 0] = await pidsWhenRunning(client, 'web');
	const watching = cluster.start(['get', 'pods', '-w']);
	await watching.says(/^web .*Running/m);
	const pods = await followObjects(client, 'pods');
	const uid = pods.objects.get('web')?.metadata.uid ?? '';
	let pid = first;
	for (let restarts = 1; restarts <= 4; restarts++) {
		signal(pid, 'SIGKILL');
		const dead = pid;
		const again = await pods.until(`restart ${restarts}`, found => {
			const web = found.get('web');
			return containerOf(web)?.restartCount === restarts && isReady(web) ? web : undefined;
		});
		pid = pidOf(again) ?? 0;
		t.not(pid, dead);
		t.true(lives(pid));
		const ending = containerOf(again)?.lastState?.terminated;
		t.deepEqual([ending?.exitCode, ending?.signal], [137, 9]);
		t.is(again.metadata.uid, uid);
	}
	const shown = await watching.says(/^web +1\/1 +Running +4 \(/m);
	for (const retry of [2, 3, 4]) t.regex(shown, new RegExp(`^web +0/1 +retry ${retry} in \\d+ s: exit 137 `, 'm'));
	t.notRegex(shown, /retry 1 in/, 'the first restart does not wait');
	await eventually('one program', () => programsOf(cluster.home).length === 1);
	t.regex(await cluster.fine('events', '--for', 'pod/web'), /Warning +Crashed +pod\/web +container main, attempt \d, ended: exit 137/);
	t.regex(await cluster.fine('describe', 'pod', 'web'), /Last State: +Terminated \(Error\): exit code 137 \(signal 9\)/);
	t.regex(await cluster.fine('why', 'pod/web', '--commits'), /observed +troupe:\/\/control\/sync\/vm +exit of main\n/);
	pods.close();
});

/** Everything there is, by kind and name. */
async function snapshot(client: Client): Promise<ReadonlyMap<string, ApiObject>> {
	const lists = await Promise.all(kinds.map(kind => listAll(client, kind, undefined)));
	return new Map(lists.flat().map(object => [`${object.kind} ${object.metadata.namespace ?? ''} ${object.metadata.name}`, object]));
}

/** The objects that are not there any more, have another uid, or an older version. */
function lost(before: ReadonlyMap<string, ApiObject>, after: ReadonlyMap<string, ApiObject>): string[] {
	return [...before].flatMap(([name, {metadata}]) => {
		const now = after.get(name)?.metadata;
		if (now === undefined) return [`${name} is gone`];
		if (now.uid !== metadata.uid) return [`${name} is another one`];
		return Number(now.resourceVersion) < Number(metadata.resourceVersion) ? [`${name} is older`] : [];
	});
}

test('programs outlive the control plane, the next one adopts them, and a loss of power loses nothing but processes', async t => {
	t.timeout(55_000);
	const cluster = openHome(t);
	await cluster.up();
	let client = await cluster.client();
	const names = ['steady', 'later', 'meanwhile', 'once', 'failing'];
	await cluster.apply(
		...names.map(name => obedientPod(name, name === 'once' || name === 'failing' ? {restartPolicy: 'Never'} : {})),
		{...obedientPod('onfailure'), spec: {...obedientPod('onfailure').spec, restartPolicy: 'OnFailure'}},
		{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'other'}},
		setOf('three', 3),
	);
	const [steady = 0, later = 0, meanwhile = 0, once = 0, failing = 0] = await pidsWhenRunning(client, ...names, 'onfailure');
	await until(client, 'rs', 'three ready pods', sets => (sets.get('three')?.status as {readyReplicas?: number}).readyReplicas === 3);
	const objects = await snapshot(client);
	const pods = () => [...objects.values()].filter(({kind}) => kind === 'Pod');
	const steadyPod = objects.get('Pod default steady');
	await untilAnswers(steadyPod, steady);
	const before = programsOf(cluster.home).map(({pid, startTime}) => ({pid, startTime}));
	t.is(before.length, 9);
	const obedientOnes = await Promise.all(
		names.map(name => untilAnswers(objects.get(`Pod default ${name}`), pidOf(objects.get(`Pod default ${name}`)))),
	);
	t.is(obedientOnes.length, names.length, 'all of them listen, so all of them obey');

	await cluster.killCluster();
	t.deepEqual(
		programsOf(cluster.home).map(({pid, startTime}) => ({pid, startTime})),
		before,
	);
	await untilAnswers(steadyPod, steady);
	signal(meanwhile, 'SIGUSR2');
	signal(once, 'SIGUSR1');
	await eventually('both ended while no cluster ran', () => !lives(meanwhile) && !lives(once));

	await cluster.up();
	client = await cluster.client();
	await until(client, 'pods', 'what ended alone to be seen with its code', found => {
		const {restartCount, lastState} = containerOf(found.get('meanwhile')) ?? {};
		return (
			restartCount === 1 &&
			lastState?.terminated?.exitCode === 7 &&
			isReady(found.get('meanwhile')) &&
			phaseOf(found.get('once')) === 'Succeeded'
		);
	});
	const after = await snapshot(client);
	t.deepEqual(lost(objects, after), []);
	t.is(containerOf(after.get('Pod default once'))?.state?.terminated?.exitCode, 0);
	for (const pod of pods().filter(({metadata}) => metadata.name !== 'meanwhile' && metadata.name !== 'once')) {
		const now = after.get(`Pod default ${pod.metadata.name}`);
		t.is(pidOf(now), pidOf(pod), `${pod.metadata.name} keeps its process`);
		t.is(containerOf(now)?.restartCount, 0);
	}
	await untilAnswers(steadyPod, steady);

	signal(later, 'SIGUSR2');
	signal(failing, 'SIGUSR2');
	await until(client, 'pods', 'adopted programs to be seen with the codes of their ends', found => {
		const {restartCount, lastState} = containerOf(found.get('later')) ?? {};
		const failed = containerOf(found.get('failing'))?.state?.terminated?.exitCode;
		return (
			restartCount === 1 &&
			lastState?.terminated?.exitCode === 7 &&
			isReady(found.get('later')) &&
			phaseOf(found.get('failing')) === 'Failed' &&
			failed === 7
		);
	});
	t.regex(await cluster.fine('logs', 'later', '--previous'), /^serving$/m);

	const wereRunning = new Map(programsOf(cluster.home).map(({pid, startTime}) => [pid, startTime]));
	t.is(wereRunning.size, 7);
	const lastSeen = await snapshot(client);
	await cluster.killEverything();
	t.deepEqual(cluster.processes(), []);
	await cluster.up();
	client = await cluster.client();
	const back = [
		'steady',
		'later',
		'meanwhile',
		'onfailure',
		...pods()
			.filter(({metadata}) => metadata.name.startsWith('three-'))
			.map(({metadata}) => metadata.name),
	];
	// Until the node has told of itself, what was ready before the loss of power still is said to be.
	const isAnother = (name: string, pod: ApiObject | undefined): boolean =>
		containerOf(pod)?.containerID !== containerOf(lastSeen.get(`Pod default ${name}`))?.containerID;
	await until(client, 'pods', 'all to run again', found =>
		back.every(name => isReady(found.get(name)) && isAnother(name, found.get(name))),
	);
	t.deepEqual(lost(lastSeen, await snapshot(client)), []);
	const running = programsOf(cluster.home);
	t.is(running.length, back.length);
	t.deepEqual(
		running.filter(({pid, startTime}) => wereRunning.get(pid) === startTime),
		[],
	);
	t.deepEqual(new Set(running.map(({podUid}) => podUid)).size, back.length);
	const ended = await listAll(client, resourceOf('pods'), 'default');
	t.deepEqual(
		ended
			.filter(({metadata}) => !back.includes(metadata.name))
			.map(pod => [pod.metadata.name, phaseOf(pod)])
			.toSorted(),
		[
			['failing', 'Failed'],
			['once', 'Succeeded'],
		],
	);

	t.regex(await cluster.fine('down', '--pods'), /^the cluster is stopped \(process \d+\)\n7 programs of pods stopped\n$/);
	t.deepEqual(cluster.processes(), []);
});

test('deletions that were begun before a crash are carried out after it', async t => {
	t.timeout(50_000);
	const cluster = openHome(t);
	await cluster.up();
	let client = await cluster.client();
	const deaf = ['sh', '-c', 'trap "" TERM; exec sleep 100000'];
	await cluster.apply(
		{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'doomed'}},
		setOf('web', 3, {namespace: 'doomed'}),
		// Not over before the kill, however slow the machine is.
		podOf('deaf', deaf, {namespace: 'doomed', terminationGracePeriodSeconds: 8}),
		podOf('forced', deaf, {terminationGracePeriodSeconds: 2}),
		setOf('fore', 3),
		obedientPod('stays'),
	);
	const programs = () => programsOf(cluster.home).length;
	await eventually(
		'all run',
		() => programs() === 9,
		() => `programs: ${programs()}`,
	);
	const [stays] = await pidsWhenRunning(client, 'stays', 'forced');
	await Promise.all([
		cluster.fine('delete', 'ns', 'doomed', '--wait=false'),
		cluster.fine('delete', 'rs/fore', '--cascade', 'foreground', '--wait=false'),
		cluster.fine('delete', 'pod', 'forced', '--force'),
	]);
	await cluster.killCluster();
	t.true(programs() > 1, 'it was killed in the middle');

	await cluster.up();
	client = await cluster.client();
	await until(client, 'ns', 'the namespace to be gone', found => !found.has('doomed'));
	await until(client, 'rs', 'the set to be gone', found => !found.has('fore'));
	await until(client, 'pods', 'one pod to be left', found => found.size === 1);
	await eventually(
		'one program is left',
		() => programs() === 1,
		() => `programs: ${programs()}`,
	);
	t.deepEqual(await pidsWhenRunning(client, 'stays'), [stays]);
	t.is(processesOf(cluster.home).filter(({role}) => role === 'shim').length, 1);
});
