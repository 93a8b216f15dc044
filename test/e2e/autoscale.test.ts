// Autoscalers under real load: pods that use processors and memory come and go, in v2 and in both older dialects.

import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import type {HpaStatus} from '../../api/kinds/horizontalpodautoscaler.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {hpaOf, patienceMs, podsOf, untilThereAre} from './_autoscaling.js';
import {openFileHome, openHome} from './_rig.js';

const {cluster} = openFileHome(test);

/** What the pods of each test read to know what to do; where they can, whoever they run as. */
const orders = mkdtempSync(path.join(tmpdir(), 'troupe-autoscale-'));
chmodSync(orders, 0o755);
test.after.always(() => rmSync(orders, {recursive: true, force: true}));

type Order = 'idle' | 'busy' | 'full';
const tell = (app: string, order: Order): void => writeFileSync(path.join(orders, app), order, {mode: 0o644});

/** Busy: a sixth of a processor. Full: 80 MiB. */
const program = `
	const {readFileSync} = require('node:fs');
	let held;
	setInterval(() => {
		const order = readFileSync(process.env.ORDERS, 'utf8');
		if (order === 'busy') for (const until = Date.now() + 25; Date.now() < until;);
		if (order === 'full') held ??= Buffer.alloc(80 * 1048576, 1);
		else if (held !== undefined) { held = undefined; gc(); }
	}, 125);`;

const container = (app: string): object => ({
	name: 'main',
	image: 'node',
	command: ['node', '--expose-gc', '-e', program],
	env: [{name: 'ORDERS', value: path.join(orders, app)}],
	resources: {requests: {cpu: '50m', memory: '64Mi'}},
});

const podSpec = (app: string): object => ({runtimeClassName: 'process', terminationGracePeriodSeconds: 1, containers: [container(app)]});

const workload = (kind: string, app: string): object => ({
	apiVersion: 'apps/v1',
	kind,
	metadata: {name: app},
	spec: {replicas: 1, selector: {matchLabels: {app}}, template: {metadata: {labels: {app}}, spec: podSpec(app)}},
});

const stepsOf = ({decisions = []}: HpaStatus): readonly number[] => decisions.map(({from, to}) => to - from);

test('a Deployment grows while its pods are busy and shrinks when they are idle, within its bounds', async t => {
	t.timeout(3 * patienceMs);
	const app = 'by-cpu';
	tell(app, 'busy');
	await cluster.apply(workload('Deployment', app), {
		apiVersion: 'autoscaling/v2',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: app},
		spec: {
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: app},
			minReplicas: 1,
			maxReplicas: 3,
			metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 100}}}],
			behavior: {scaleDown: {stabilizationWindowSeconds: 2}},
		},
	});
	await untilThereAre(app, 3, cluster);
	t.regex(await cluster.fine('get', 'hpa', app), /by-cpu +Deployment\/by-cpu +cpu: \d+%\/100% +1 +3 +\d /);
	t.regex(await cluster.fine('describe', 'hpa', app), /cpu resource utilization \(percentage of request\) above target/);
	tell(app, 'idle');
	await untilThereAre(app, 1, cluster);
	t.regex(
		await cluster.fine('why', `hpa/${app}`),
		/it keeps deployment\/by-cpu at 1 replica .*its last change was from \d to 1: All metrics below target/,
	);
});

test('dialect A scales a ReplicaSet by memory, one pod at a time', async t => {
	t.timeout(3 * patienceMs);
	const app = 'by-memory';
	tell(app, 'full');
	await cluster.apply(workload('ReplicaSet', app), {
		apiVersion: 'v1',
		kind: 'Hpa',
		metadata: {name: app},
		spec: {
			minReplicas: 1,
			maxReplicas: 3,
			workload: {kind: 'Replicaset', metadata: {name: app}},
			adjustInterval: '2s',
			selector: {matchLabels: {app}},
			metrics: {memPercent: 0.7},
		},
	});
	await untilThereAre(app, 3, cluster);
	tell(app, 'idle');
	await untilThereAre(app, 1, cluster);
	t.deepEqual(stepsOf(await hpaOf(app, cluster)), [1, 1, -1, -1]);
});

test('dialect B scales a ReplicaSet by cpu, and a single pod is copied', async t => {
	t.timeout(3 * patienceMs);
	const [set, solo] = ['of-b', 'solo'];
	for (const app of [set, solo]) tell(app, 'busy');
	await cluster.apply(
		workload('ReplicaSet', set),
		{apiVersion: 'v1', kind: 'Pod', metadata: {name: solo, labels: {app: solo}}, spec: podSpec(solo)},
		{
			apiVersion: 'autoscaling/v1',
			kind: 'HorizontalPodAutoscaler',
			metadata: {name: set},
			spec: {
				minReplicas: 1,
				maxReplicas: 2,
				scaleTargetRef: {apiVersion: 'v1', kind: 'ReplicaSet', metadata: {name: set, namespace: 'default'}},
				scaleInterval: 2,
				metrics: {CPUUtilizationPercentage: 100},
			},
		},
		{
			apiVersion: 'v1',
			kind: 'Hpa',
			metadata: {name: solo},
			spec: {
				minReplicas: 1,
				maxReplicas: 3,
				workload: {kind: 'Pod', metadata: {name: solo}},
				adjustInterval: '2s',
				metrics: {cpuPercent: 1},
			},
		},
	);
	await Promise.all([untilThereAre(set, 2, cluster), untilThereAre(solo, 3, cluster)]);
	tell(set, 'idle');
	await untilThereAre(set, 1, cluster);
	// On a machine that is slow to start a program one goes and comes in between.
	const steps = stepsOf(await hpaOf(set, cluster));
	t.true(steps.length >= 2 && steps.every((step, at) => step === (at % 2 === 0 ? 1 : -1)), steps.join(' '));
	// Copies go with what made them, and the pod stays.
	await cluster.fine('delete', 'hpa', solo);
	await eventually('the copies are gone', async () => (await podsOf(solo, cluster)).length === 1, undefined, patienceMs);
	t.deepEqual(
		(await podsOf(solo, cluster)).map(({metadata}) => metadata.name),
		[solo],
	);
});

test('whoever scales by hand what an autoscaler scales is overruled and named, also after the control plane was killed', async t => {
	t.timeout(3 * patienceMs);
	const app = 'fought-over';
	const home = openHome(t);
	await home.up();
	const overruledAt = async (replicas: number, times: RegExp): Promise<void> => {
		await home.fine('scale', `deployment/${app}`, `--replicas=${replicas}`);
		await eventually(
			'it is overruled, and said by whom it was set',
			async () => times.test(await home.fine('events')),
			undefined,
			patienceMs,
		);
		await untilThereAre(app, 2, home);
	};
	tell(app, 'busy');
	await home.apply(workload('Deployment', app));
	await home.fine('autoscale', `deployment/${app}`, '--min=1', '--max=2', '-c', '100');
	await untilThereAre(app, 2, home);
	await overruledAt(1, /replicas of deployment\/fought-over were set to 1 by admin/);
	await home.killCluster();
	await home.up();
	await overruledAt(5, /replicas of deployment\/fought-over were set to 5 by admin/);
	await home.fine('scale', `deployment/${app}`, '--replicas=0');
	await eventually('it is switched off', async () => (await podsOf(app, home)).length === 0, undefined, patienceMs);
	await eventually(
		'the autoscaler says so',
		async () => (await home.fine('why', `hpa/${app}`)).includes('is switched off: what it scales has 0 replicas'),
		undefined,
		patienceMs,
	);
	t.is((await hpaOf(app, home)).desiredReplicas, 0);
});
