// Devices of a real cluster, of which each is one pod's at a time: also while the cluster is killed, and where a pod goes past the scheduler.
// Harmless character devices stand for GPUs, and a script for nvidia-smi.

import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod, PodSpec} from '../../../api/kinds/pod.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {asRoot} from '../../_needing.js';
import {openHome} from '../_rig.js';

const uuidOf = (index: number): string => `GPU-0000000${index}-aaaa-bbbb-cccc-000000000000`;

/** A cluster whose host has so many. */
async function openGpuHome(t: ExecutionContext, count: number) {
	const cluster = openHome(t);
	const folder = path.join(cluster.folder, 'dev');
	chmodSync(cluster.folder, 0o755);
	mkdirSync(folder);
	const indexes = Array.from({length: count}, (_, index) => index);
	for (const index of indexes) execFileSync('mknod', ['-m', '666', path.join(folder, `nvidia${index}`), 'c', '1', '5']);
	const smi = path.join(cluster.folder, 'nvidia-smi');
	const said = indexes.map(index => `GPU 0000:0${index}:00.0\n    GPU UUID : ${uuidOf(index)}\n    Minor Number : ${index}\n`).join('');
	writeFileSync(smi, `#!/bin/sh\nexec /bin/cat <<'E'\n${said}E\n`, {mode: 0o755});
	const begin = async () => {
		const up = cluster.startFile(path.join(import.meta.dirname, '../_gpu-up.js'), [cluster.home, folder, smi]);
		await up.says(/get pods .*\n/);
		return up;
	};
	await begin();
	return {cluster, folder, begin};
}

/** It says which devices it is told of and can open, and ends when there is that file. */
const podWith = (name: string, folder: string, gpus: number, spec: Partial<PodSpec> = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {
		restartPolicy: 'Never',
		containers: [
			{
				name: 'main',
				image: 'any',
				command: ['sh', '-c', script, 'sh', folder, path.join(folder, `end-${name}`)],
				...(gpus === 0 ? {} : {resources: {limits: {'nvidia.com/gpu': gpus}}}),
			},
		],
		...spec,
	},
});

const script = `for file in "$1"/nvidia*; do head -c 1 "$file" >/dev/null 2>&1 && opens="$opens \${file##*/}"; done
echo "has <$CUDA_VISIBLE_DEVICES>, opens<$opens>"
until [ -e "$2" ]; do sleep 0.1; done`;

const phaseOf = (pod: unknown): string | undefined => (pod as Pod | undefined)?.status?.phase;

asRoot(
	'of two pods for one device the second waits with the reason and has it when the first is over, whatever is killed meanwhile',
	async t => {
		t.timeout(120_000);
		const {cluster, folder, begin} = await openGpuHome(t, 1);
		const first = await followObjects(await cluster.client(), 'pods');
		await cluster.apply(podWith('one', folder, 1), podWith('plain', folder, 0));
		await first.until('both to run', pods => ['one', 'plain'].every(name => phaseOf(pods.get(name)) === 'Running'));
		await cluster.apply(podWith('two', folder, 1));
		const reason = /Insufficient nvidia\.com\/gpu: too few are free for 1/;
		await eventually('the reason', async () => reason.test(await cluster.fine('why', 'pod/two')));
		t.regex(await cluster.fine('events', '--for', 'pod/two'), reason);
		const node = JSON.parse(await cluster.fine('get', 'node', '-o', 'json')) as {items: NodeObject[]};
		t.is(node.items[0]?.status?.allocatable?.['nvidia.com/gpu'], '1');
		t.is(node.items[0]?.status?.capacity?.['nvidia.com/gpu'], '1');
		t.regex(await cluster.fine('describe', 'node'), /nvidia\.com\/gpu +1 \(100%\) +1 \(100%\) +1\n/);

		await cluster.killCluster();
		await begin();
		const pods = await followObjects(await cluster.client(), 'pods');
		await pods.until('the first to run on', found => phaseOf(found.get('one')) === 'Running');
		await eventually('the reason still', async () => reason.test(await cluster.fine('why', 'pod/two')));
		t.is((pods.objects.get('one') as Pod).status?.containerStatuses?.[0]?.restartCount, 0);

		// It ends while nobody looks.
		await cluster.killCluster();
		writeFileSync(path.join(folder, 'end-one'), '');
		await begin();
		const after = await followObjects(await cluster.client(), 'pods');
		await after.until('the second to run', found => phaseOf(found.get('two')) === 'Running');
		t.is(phaseOf(after.objects.get('one')), 'Succeeded');
		await eventually('what it says', async () => (await cluster.fine('logs', 'two')) === `has <${uuidOf(0)}>, opens< nvidia0>\n`);
		t.is(await cluster.fine('logs', 'one'), `has <${uuidOf(0)}>, opens< nvidia0>\n`, 'the logs of what is over are there still');
		t.is(await cluster.fine('logs', 'plain'), 'has <>, opens<>\n');
		const session = await cluster.fine('exec', 'two', '--', 'sh', '-c', 'echo $CUDA_VISIBLE_DEVICES');
		t.is(session, `${uuidOf(0)}\n`);
	},
);

asRoot('a pod that names its node waits there for a device, with the reason, and keeps it while its container begins again', async t => {
	t.timeout(120_000);
	const {cluster, folder} = await openGpuHome(t, 2);
	const pods = await followObjects(await cluster.client(), 'pods');
	await cluster.apply(podWith('one', folder, 1, {restartPolicy: 'OnFailure'}));
	await pods.until('it to run', found => phaseOf(found.get('one')) === 'Running');
	await cluster.apply(podWith('two', folder, 2, {nodeName: 'vm'}));
	const reason = /the pod asks for 2 nvidia\.com\/gpu, and this node has 2, of which too few are free: the pod waits for them/;
	await eventually('the reason', async () => reason.test(await cluster.fine('why', 'pod/two')));
	await cluster.troupe('exec', 'one', '--', 'sh', '-c', 'kill -9 "$(pgrep -o -u "$(id -u)" sh)"');
	await pods.until('it to begin again', found => ((found.get('one') as Pod).status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
	t.is(await cluster.fine('logs', 'one'), `has <${uuidOf(0)}>, opens< nvidia0>\n`);
	t.is(phaseOf(pods.objects.get('two')), 'Pending');
	await cluster.fine('delete', 'pod', 'one');
	await pods.until('the other to run', found => phaseOf(found.get('two')) === 'Running');
	await eventually(
		'what it says',
		async () => (await cluster.fine('logs', 'two')) === `has <${uuidOf(0)},${uuidOf(1)}>, opens< nvidia0 nvidia1>\n`,
	);
});

asRoot('jobs take turns on one device, and a quota bounds how many a namespace asks for', async t => {
	t.timeout(120_000);
	const {cluster, folder} = await openGpuHome(t, 1);
	const template = podWith('x', folder, 1) as {spec: PodSpec};
	const [main] = template.spec.containers;
	const container = {...main, command: ['sh', '-c', 'head -c 1 "$0"/nvidia0 >/dev/null', folder]};
	const job = (name: string, more: object = {}) => ({
		apiVersion: 'batch/v1',
		kind: 'Job',
		metadata: {name},
		spec: {template: {spec: {restartPolicy: 'Never', containers: [container]}}, backoffLimit: 0, ...more},
	});
	await cluster.apply(job('many', {completions: 4, parallelism: 4}), job('other'));
	await cluster.fine('wait', '--for=condition=complete', 'job/many', 'job/other', '--timeout=60s');
	t.regex(await cluster.fine('get', 'job', 'many'), /4\/4/);
	const quota = {apiVersion: 'v1', kind: 'ResourceQuota', metadata: {name: 'gpus'}, spec: {hard: {'requests.nvidia.com/gpu': 1}}};
	await cluster.apply(quota);
	const refused = await cluster.start(['apply', '-f', '-'], JSON.stringify(podWith('two', folder, 2))).ended;
	t.is(refused.code, 6);
	t.regex(
		refused.err,
		/exceeded quota: gpus, requested: requests\.nvidia\.com\/gpu=2, used: requests\.nvidia\.com\/gpu=0, limited: requests\.nvidia\.com\/gpu=1/,
	);
});
