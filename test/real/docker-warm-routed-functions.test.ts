// Functions in containers of Docker with a network of their own: they begin in runners that have waited without any, and find what others find.

import test from 'ava';
import {readOwner} from '../../agent/docker/owner.js';
import {labels} from '../../agent/docker/engine/names.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {asking, clusterIPOf, podOf, untilAnswered} from '../../bench/rigs/fleet/routed-hosts.js';
import {importNode, importPython} from '../../bench/rigs/servers/language-images.js';
import type {Pod} from '../../api/kinds/pod.js';
import {homeOf} from '../../cli/files/home.js';
import {deploy} from '../e2e/_functions.js';
import {dockerCluster, dockerPod, shell, waits} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';
import {runnersIn} from './_warm-sandboxes.js';

const dockerd = sharedDockerd(test, {liveRestore: true});
const {home, fine, apply, up, says, leavesNothing} = dockerCluster(test, dockerd);

const directory = (): string => homeOf(home.home).docker;

const podsOf = async (name: string): Promise<readonly Pod[]> =>
	(JSON.parse(await fine('get', 'pods', '-l', `troupe.dev/function=${name}`, '-o', 'json')) as {readonly items: readonly Pod[]}).items;

const call = async (name: string, params: unknown): Promise<unknown> => JSON.parse(await fine('execute', name, JSON.stringify(params)));

/** Whether its container has waited. */
async function hasWaited(name: string): Promise<boolean> {
	const [pod] = await podsOf(name);
	const id = pod?.status?.containerStatuses?.[0]?.containerID?.slice('docker://'.length) ?? '';
	return (await dockerd().docker('inspect', '-f', `{{index .Config.Labels "${labels.sandbox}"}}`, id)).trim() === 'runner';
}

const untilRunnersWait = (): Promise<void> =>
	eventually(
		'runners wait',
		async () => (await runnersIn(dockerd(), directory())).length > 0,
		() => '',
		60_000,
	);

/** By the C library and by the resolver of Node.js itself. */
const looks = `import {lookup, resolve4} from 'node:dns/promises';
import {readFileSync} from 'node:fs';
import os from 'node:os';
export default async ({url}) => {
	const own = os.hostname();
	return {
		names: [own, readFileSync('/etc/hostname', 'utf8'), process.env.HOSTNAME],
		own: (await lookup(own, {family: 4})).address,
		resolver: readFileSync('/etc/resolv.conf', 'utf8').split('\\n').filter(Boolean).sort(),
		found: [(await lookup('d', {family: 4})).address, ...(await resolve4('d.default.svc.cluster.local'))],
		text: await (await fetch(url)).text(),
	};
};
`;

const of = {runtimeClassName: 'docker', idle: '30m'};

test.serial('an instance in one has the address and the names of its pod, and finds Services', async t => {
	t.timeout(240_000);
	await importNode(dockerd(), 'node:22-slim');
	await importPython(dockerd(), 'python:3-slim');
	await up('--network=routed', '--allow-privileged');
	await apply(
		{apiVersion: 'v1', kind: 'Service', metadata: {name: 'd'}, spec: {selector: {app: 'd'}, ports: [{port: 80, targetPort: 8000}]}},
		dockerPod(
			'd',
			{containers: [shell('c', `mkdir -p /tmp/w; echo d >/tmp/w/index.html; httpd -p 8000 -h /tmp/w; ${waits('answers')}`)]},
			{labels: {app: 'd'}},
		),
		dockerPod('p', {runtimeClassName: 'process', containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}]}),
	);
	for (const pod of ['d', 'p']) await fine('wait', `pod/${pod}`, '--for', 'condition=Ready', '--timeout', '60s');
	await untilAnswered(
		'the Service answers',
		async () => (await fine('exec', 'p', '--', process.execPath, '-e', asking, 'http://d/')).trim(),
		/^d$/,
	);
	const clusterIP = await clusterIPOf({fine}, 'd');
	const said: unknown[] = [];
	for (const name of ['first', 'second']) {
		if (name === 'second') await untilRunnersWait();
		await deploy({...home, fine}, name, looks, of);
		const answer = await call(name, {url: 'http://d/'});
		t.is(await hasWaited(name), name === 'second', name);
		const [pod] = await podsOf(name);
		const {name: podName = ''} = pod?.metadata ?? {};
		t.like(answer, {names: [podName, `${podName}\n`, podName], own: pod?.status?.podIP, found: [clusterIP, clusterIP], text: 'd\n'});
		said.push((answer as {readonly resolver: unknown}).resolver);
	}
	t.deepEqual(said[1], said[0]);
});

test.serial('after kill -9 of the Engine, whose containers live on, and of the agent it is the same', async t => {
	t.timeout(180_000);
	const [pod] = await podsOf('second');
	const before = await call('second', {url: 'http://d/'});
	const id = pod?.status?.containerStatuses?.[0]?.containerID;
	await dockerd().kill();
	await says(/DockerNotReady +True +EngineGone/, 'describe', 'node');
	await dockerd().start();
	t.deepEqual(await call('second', {url: 'http://d/'}), before);
	await untilRunnersWait();
	await deploy({...home, fine}, 'third', looks, of);
	t.like(await call('third', {url: 'http://d/'}), {text: 'd\n'});
	t.true(await hasWaited('third'), 'what waited before waits to this day');
	process.kill(home.endpoints().pid, 'SIGKILL');
	await up('--network=routed', '--allow-privileged');
	t.deepEqual(await call('second', {url: 'http://d/'}), before);
	t.is((await podsOf('second'))[0]?.status?.containerStatuses?.[0]?.containerID, id);
	t.true(await hasWaited('second'));
});

test.serial('a function and its cluster leave nothing of them', async t => {
	t.timeout(120_000);
	await fine('delete', 'function', 'second');
	await eventually('its pods are gone', async () => (await podsOf('second')).length === 0);
	const owned = readOwner(directory()) ?? '';
	t.not(owned, '');
	const uid = (await podOf({fine}, 'd')).metadata.uid;
	await leavesNothing(t);
	t.notRegex(await dockerd().inNamespace('ip', '-brief', 'link'), /^troupe/m);
	t.notRegex(await dockerd().inNamespace('ls', '/run/netns'), new RegExp(uid));
});
