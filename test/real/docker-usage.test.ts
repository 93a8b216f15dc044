// What containers use is read from their control groups: as much as is true, as `docker stats` says it, and also while the Engine hangs.
//
// The cluster runs in the network namespace of its Engine; so does each command.

import path from 'node:path';
import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {main} from '../../bench/rigs/main-file.js';
import type {NodeMetrics, PodMetrics} from '../../server/http/metrics-kinds.js';
import {cpuOf, memoryOf} from '../../server/http/metrics-kinds.js';
import {freePorts, nodeName, openHome} from '../e2e/_rig.js';
import {sharedDockerd} from './_dockerd.js';
import {realInTurn} from './_kubectl.js';

const dockerd = sharedDockerd(test);
const mebibyte = 1_048_576;

const cleanings: (() => void | Promise<void>)[] = [];
const home = openHome({teardown: clean => void cleanings.unshift(clean)});
// A serial hook comes before the others: the Engine is still there.
test.serial.after.always('the cluster ends', async () => {
	for (const clean of cleanings) await clean();
});

async function inside(program: string, args: readonly string[], input?: string): Promise<string> {
	const words = [`--net=/var/run/netns/${dockerd().namespace}`, program, ...args];
	const environment = {TROUPE_HOME: home.home, KUBECONFIG: path.join(home.home, 'kubeconfig'), NO_COLOR: '1'};
	const {code, out, err} = await home.startProgram('nsenter', words, environment, input).ended;
	if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${err}${out}`);
	return out;
}

const fine = (...args: readonly string[]): Promise<string> => inside(process.execPath, [main, ...args]);
const kubectl = (...args: readonly string[]): Promise<string> => inside('kubectl', args);

const podsUse = async (): Promise<ReadonlyMap<string, PodMetrics>> => {
	const {items} = JSON.parse(await fine('top', 'pods', '-o', 'json')) as {readonly items: readonly PodMetrics[]};
	return new Map(items.map(pod => [pod.metadata.name, pod]));
};

const aPod = (name: string, script: string, rest: object = {}, resources: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, labels: {app: name}},
	spec: {
		runtimeClassName: 'docker',
		terminationGracePeriodSeconds: 0,
		containers: [{name: 'main', image: 'busybox', imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', script], resources}],
		...rest,
	},
});

const sidecar = {name: 'idle', image: 'busybox', imagePullPolicy: 'IfNotPresent', command: ['sleep', 'infinity'], restartPolicy: 'Always'};

const pods = [
	aPod('burns', 'while :; do :; done', {initContainers: [sidecar]}, {limits: {cpu: '500m'}}),
	// What tail has read stays in its memory until somebody takes it.
	aPod('holds', 'head -c 52428800 /dev/zero | tail -c 52428800 | sleep infinity'),
	aPod('ends', 'exit 0', {restartPolicy: 'Never'}),
];

/** `docker stats` of a container: percent of one processor, bytes. */
async function statsOf(pod: string): Promise<{readonly cpu: number; readonly memory: number}> {
	const filters = [`label=troupe.dev/pod=${pod}`, 'label=troupe.dev/container=main'].flatMap(filter => ['--filter', filter]);
	const id = (await dockerd().docker('ps', '-q', ...filters)).trim();
	const said = await dockerd().docker('stats', '--no-stream', '--format', '{{.CPUPerc}} {{.MemUsage}}', id);
	const [, cpu = '', memory = '', unit = ''] = /^([\d.]+)% ([\d.]+)(KiB|MiB|GiB) /.exec(said) ?? [];
	const factor = {KiB: 1_024, MiB: mebibyte, GiB: 1_024 * mebibyte}[unit] ?? Number.NaN;
	return {cpu: Number(cpu), memory: Number(memory) * factor};
}

test.serial('what pods use is shown within seconds of their start', async t => {
	await fine('up', '--detach', `--node=${nodeName}`, '--docker', dockerd().url, ...freePorts);
	await inside(process.execPath, [main, 'apply', '-f', '-'], pods.map(pod => JSON.stringify(pod)).join('\n---\n'));
	for (const pod of ['burns', 'holds']) await fine('wait', `pod/${pod}`, '--for', 'condition=Ready', '--timeout', '30s');
	const use = await podsUse();
	t.deepEqual([...use.keys()].sort(), ['burns', 'holds']);
	t.deepEqual(
		use.get('burns')?.containers.map(({name}) => name),
		['idle', 'main'],
	);
});

test.serial('time of processors is told as docker stats tells it, and no more than the limit of half a processor', async t => {
	let [ours, theirs] = [0, 0];
	// Both are averages of a second and more, on a machine that does other things.
	await eventually(
		'Docker says the same',
		async () => {
			const [use, stats] = await Promise.all([podsUse(), statsOf('burns')]);
			const burns = use.get('burns');
			ours = burns === undefined ? 0 : cpuOf(burns);
			theirs = stats.cpu * 10;
			return ours >= 50 && Math.abs(ours - theirs) < 30 + theirs / 5;
		},
		() => `ours ${ours}m, Docker's ${theirs}m`,
		120_000,
	);
	t.log(`cpu: ours ${ours}m, docker stats ${theirs}m`);
	t.true(ours < 600, `${ours}`);
});

test.serial('memory is what a program holds, as docker stats says it', async t => {
	let bytes = 0;
	await eventually(
		'50 MiB are held',
		async () => {
			const holds = (await podsUse()).get('holds');
			bytes = holds === undefined ? 0 : memoryOf(holds);
			return bytes >= 50 * mebibyte;
		},
		() => `${bytes}`,
	);
	const {memory} = await statsOf('holds');
	t.log(`memory: ours ${bytes / mebibyte}, docker stats ${memory / mebibyte} MiB`);
	t.true(bytes < 70 * mebibyte, `${bytes}`);
	t.true(Math.abs(bytes - memory) < 2 * mebibyte, `${bytes}, ${memory}`);
});

realInTurn('kubectl top shows pods, containers and nodes', async t => {
	t.regex(await kubectl('top', 'pods'), /^NAME +CPU\(cores\) +MEMORY\(bytes\) *\nburns +\d+m +\d+Mi *\nholds +\d+m +5\d+Mi *\n$/);
	t.regex(
		await kubectl('top', 'pods', '--containers', '-l', 'app=burns'),
		/\nburns +idle +0m +\d+Mi *\nburns +main +[1-9]\d*m +\d+Mi *\n$/,
	);
	t.regex(await kubectl('top', 'pod', 'holds', '--no-headers'), /^holds /);
	t.regex(await kubectl('top', 'nodes'), new RegExp(`\\n${nodeName} +\\d+m +\\d+% +\\d+Mi +\\d+% *\\n$`));
	await t.throwsAsync(kubectl('top', 'pod', 'none'), {message: /NotFound/});
});

test.serial('it is shown while the Engine hangs', async t => {
	await dockerd().pause();
	try {
		const use = await podsUse();
		t.deepEqual([...use.keys()].sort(), ['burns', 'holds']);
	} finally {
		dockerd().wake();
	}
});

test.serial('of the node it is what the host uses', async t => {
	const {items} = JSON.parse(await fine('top', 'nodes', '-o', 'json')) as {readonly items: readonly [NodeMetrics]};
	const [node] = items;
	t.true(cpuOf(node) > 50, `${cpuOf(node)}`);
	t.true(memoryOf(node) > 50 * mebibyte, `${memoryOf(node)}`);
});

test.serial('a pod that is gone vanishes', async t => {
	await fine('delete', 'pod', 'burns');
	t.deepEqual([...(await podsUse()).keys()], ['holds']);
});
