// `autoscale`: an autoscaler for an object, in kubectl's words and in those of an older dialect.

import test, {type ExecutionContext} from 'ava';
import {line} from '../../bench/rigs/command-line.js';
import {openCluster} from './_rig.js';

const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'c', image: 'node', command: ['sleep', '9']}]}};
const objects = [
	{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'web'}, spec: {selector: {matchLabels: {app: 'web'}}, template}},
	{apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: {name: 'rs'}, spec: {replicas: 0, selector: {matchLabels: {app: 'web'}}, template}},
];

async function open(t: ExecutionContext) {
	const opened = await openCluster(t);
	const troupe = (args: readonly string[], input?: string) => line(args, {home: opened.home, ...(input === undefined ? {} : {input})});
	const {code, err} = await troupe(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n'));
	t.is(code, 0, err);
	return {...opened, troupe, made: (name: string) => opened.cluster.control.index.get(`horizontalpodautoscalers/default/${name}`)};
}

const utilization = (name: string, averageUtilization: number) => ({
	type: 'Resource',
	resource: {name, target: {type: 'Utilization', averageUtilization}},
});

test('an object gets an autoscaler of its name, between two bounds', async t => {
	const {troupe, made} = await open(t);
	t.deepEqual(await troupe(['autoscale', 'deployment', 'web', '--min', '1', '--max', '4', '--cpu-percent', '50']), {
		code: 0,
		out: 'horizontalpodautoscaler.autoscaling/web autoscaled\n',
		err: '',
	});
	t.like(made('web'), {
		spec: {
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'},
			minReplicas: 1,
			maxReplicas: 4,
			metrics: [utilization('cpu', 50)],
			behavior: undefined,
		},
	});
	t.is((await troupe(['autoscale', 'deploy/web', '--max=3', '--name', 'other', '--memory-percent=70'])).code, 0);
	t.like(made('other'), {spec: {maxReplicas: 3, metrics: [utilization('memory', 70)]}});
	t.is((await troupe(['autoscale', 'deploy/web', '--max=3', '--name', 'bare', '--cpu-percent=-1'])).code, 0);
	t.like(made('bare'), {spec: {metrics: [utilization('cpu', 80)]}});
});

test('in the words of an older dialect pods come and go one by one', async t => {
	const {troupe, made} = await open(t);
	const {code, err} = await troupe(['autoscale', '--target=rs', '--min=1', '--max=4', '-c', '25', '-i', '10']);
	t.is(code, 0, err);
	const policies = [{type: 'Pods', value: 1, periodSeconds: 10}];
	t.like(made('rs'), {
		metadata: {annotations: {'troupe.dev/scale-interval': '10'}},
		spec: {
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs'},
			minReplicas: 1,
			maxReplicas: 4,
			metrics: [utilization('cpu', 25)],
			behavior: {scaleUp: {policies}, scaleDown: {policies, stabilizationWindowSeconds: 0}},
		},
	});
	t.is((await troupe(['autoscale', 'mine', '--target', 'deployment/web', '--max=4', '-m', '30', '-i', '15s'])).code, 0);
	t.like(made('mine'), {spec: {scaleTargetRef: {kind: 'Deployment'}, metrics: [utilization('memory', 30)]}});
});

test('what cannot be scaled, or not so, says why, and nothing is made', async t => {
	const {cluster, troupe} = await open(t);
	const refused = async (...args: readonly string[]): Promise<string> => {
		const {code, err} = await troupe(['autoscale', ...args]);
		t.not(code, 0, args.join(' '));
		return err;
	};
	t.regex(await refused(), /autoscale what\?/);
	t.regex(await refused('deployment/web'), /--max is missing/);
	t.regex(await refused('configmap/web', '--max=2'), /a configmap cannot be scaled/);
	t.regex(await refused('deployment/nosuch', '--max=2'), /nosuch/);
	t.regex(await refused('deployment/web', '--min=5', '--max=2'), /spec\.maxReplicas: must be at least minReplicas \(5\)/);
	t.regex(await refused('deployment/web', '--max=2', '-i', 'often'), /--interval must be whole seconds from 1 to 1800/);
	t.regex(await refused('deployment/web', '--max=2.5'), /--max must be a whole number/);
	t.regex(await refused('a', 'b', '--target=rs', '--max=2'), /beside --target there is one name/);
	t.deepEqual([...cluster.control.index.list('horizontalpodautoscalers')], []);
	const dry = await troupe(['autoscale', 'rs/rs', '--max=2', '--dry-run=client', '-o', 'json']);
	t.like(JSON.parse(dry.out), {kind: 'HorizontalPodAutoscaler', metadata: {name: 'rs'}, spec: {maxReplicas: 2}});
});
