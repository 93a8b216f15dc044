// Sandboxes that are made in advance for pods with a network of their own: such a pod is as any other, whatever dies, and nothing of them is left.

import {readdirSync} from 'node:fs';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {foldersIn} from '../../agent/os/folders.js';
import {asking, clusterIPOf, nft, podOf, untilAnswered} from '../../bench/rigs/fleet/routed-hosts.js';
import {homeOf} from '../../cli/files/home.js';
import {systemClock} from '../../system/time/clock.js';
import {dockerCluster, dockerPod, shell, waits} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';
import {infrasIn, untilSpare} from './_warm-sandboxes.js';

const dockerd = sharedDockerd(test);

const {home, fine, apply, up, says, leavesNothing} = dockerCluster(test, dockerd);

const few = 3;
const begin = (): Promise<string> => up('--network=routed', '--allow-privileged', '--warm-sandboxes', `${few}`);

const directory = (): string => homeOf(home.home).docker;
const spare = (): Promise<readonly string[]> => untilSpare(dockerd(), directory(), few);
const ready = (pod: string): Promise<string> => fine('wait', `pod/${pod}`, '--for', 'condition=Ready', '--timeout', '60s');
const podIP = async (pod: string): Promise<string> => (await podOf({fine}, pod)).status?.podIP ?? '';
const uidOf = async (pod: string): Promise<string> => (await podOf({fine}, pod)).metadata.uid;
const containerOf = async (pod: string): Promise<string> => (await podOf({fine}, pod)).status?.containerStatuses?.[0]?.containerID ?? '';
const wasWarm = async (pod: string): Promise<boolean> => infrasIn(directory()).get(await uidOf(pod))?.wasWarm === true;
const inPod = (pod: string, ...words: readonly string[]): Promise<string> => fine('exec', pod, '--', ...words);

/** What is answered to a process. */
const fromP = async (url: string): Promise<string> => (await inPod('p', process.execPath, '-e', asking, url)).trim();
/** And to the host. */
const fromHost = async (url: string): Promise<string> => (await dockerd().inNamespace(process.execPath, '-e', asking, url)).trim();

const names = 'hostname; cat /etc/hostname; echo "$HOSTNAME"; hostname -i; cat /etc/hosts; sort /etc/resolv.conf';

/** It says first what it finds its names to be, and answers with its own. */
const serves = (name: string, rest: object = {}): object =>
	shell('web', `${names}; mkdir -p /tmp/w; echo ${name} >/tmp/w/index.html; httpd -p 8000 -h /tmp/w; ${waits('answers')}`, {
		ports: [{containerPort: 8000, ...rest}],
	});

const more = {hostAliases: [{ip: '192.0.2.7', hostnames: ['db', 'db.example']}], dnsConfig: {options: [{name: 'ndots', value: '3'}]}};

const service = {
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name: 'd'},
	spec: {selector: {app: 'd'}, ports: [{port: 80, targetPort: 8000}]},
};

/** Prints what is answered; the shell's own programs need no name service for it. */
const get = (address: string, port = 8_000): string =>
	`said=$(printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 ${address} ${port} 2>/dev/null | tail -n 1); echo "\${said:-none}"`;

/** It asks from its first instruction on. */
const asks = (address: string): string => `for each in $(seq 20); do ${get(address)}; done; ${waits('over')}`;

test.serial('a pod in one has its address, its names and its ports, and is found by its Service', async t => {
	t.timeout(180_000);
	await begin();
	await spare();
	const d = {containers: [serves('d', {hostPort: 18_082})], ...more};
	await apply(
		service,
		dockerPod('d', d, {labels: {app: 'd'}}),
		dockerPod('p', {runtimeClassName: 'process', containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}]}),
		// A namespace of the host is nothing that one could be given.
		dockerPod('f', {hostIPC: true, containers: [serves('f')], ...more}),
	);
	for (const pod of ['d', 'p', 'f']) await ready(pod);
	t.true(await wasWarm('d'));
	t.false(await wasWarm('f'));
	const [ofD, ofF] = [await podIP('d'), await podIP('f')];
	t.regex(ofD, /^10\.244\./);
	const wanted = (await fine('logs', 'f')).replaceAll(ofF, ofD).replace(/^f$/gm, 'd').replaceAll('\tf\n', '\td\n');
	t.regex(
		wanted,
		/^d\nd\nd\n10\.[^]*\n192\.0\.2\.7\tdb\n[^]*nameserver 169\.254\.1\.1\noptions ndots:3\nsearch default\.svc\.cluster\.local /,
	);
	t.is(await fine('logs', 'd'), wanted, 'from its first instruction on');
	for (const ask of [fromP, fromHost]) t.is(await ask(`http://${ofD}:8000/`), 'd');
	t.is(await inPod('f', 'sh', '-c', get(ofD)), 'd\n', 'to another container');
	t.is(await fromHost('http://127.0.0.1:18082/'), 'd');
	const clusterIP = await clusterIPOf({fine}, 'd');
	await untilAnswered('the Service answers', () => fromP('http://d/'), /^d$/);
	t.regex(await inPod('d', 'nslookup', 'd.default.svc.cluster.local'), new RegExp(clusterIP.replaceAll('.', '\\.')));
	t.is(await inPod('d', 'sh', '-c', get(clusterIP, 80)), 'd\n', 'led back to itself');
});

test.serial('a policy holds for a pod in one from its first packet', async t => {
	t.timeout(120_000);
	await spare();
	await apply({
		apiVersion: 'networking.k8s.io/v1',
		kind: 'NetworkPolicy',
		metadata: {name: 'closed'},
		spec: {podSelector: {matchLabels: {is: 'closed'}}, policyTypes: ['Ingress', 'Egress']},
	});
	const script = asks(await podIP('d'));
	await apply(
		dockerPod('open', {containers: [shell('c', script)]}),
		dockerPod('closed', {containers: [shell('c', script)]}, {labels: {is: 'closed'}}),
	);
	for (const pod of ['open', 'closed']) {
		await says(/^over$/m, 'logs', pod);
		t.true(await wasWarm(pod));
	}
	t.is(await fine('logs', 'open'), `${'d\n'.repeat(20)}over\n`);
	t.is(await fine('logs', 'closed'), `${'none\n'.repeat(20)}over\n`);
	await fine('delete', 'pod', 'open', 'closed');
});

test.serial('one that dies after it was given is replaced, and the pod keeps its address', async t => {
	t.timeout(120_000);
	await spare();
	const before = await podIP('d');
	const infra = infrasIn(directory()).get(await uidOf('d'))?.id ?? '';
	await dockerd().docker('kill', infra);
	await says(/"restartCount": 1/, 'get', 'pod', 'd', '-o', 'json');
	await ready('d');
	t.true(await wasWarm('d'), 'in another one');
	t.not(infrasIn(directory()).get(await uidOf('d'))?.id, infra);
	t.is(await podIP('d'), before);
	await untilAnswered('it answers', () => fromP(`http://${before}:8000/`), /^d$/);
	await untilAnswered('its Service answers', () => fromP('http://d/'), /^d$/);
});

test.serial('the agent is killed: the same container answers, and pods are in ones that are made then', async t => {
	t.timeout(120_000);
	const address = await podIP('d');
	const container = await containerOf('d');
	const old = await spare();
	process.kill(home.endpoints().pid, 'SIGKILL');
	await begin();
	await ready('d');
	t.is(await podIP('d'), address);
	t.is(await containerOf('d'), container);
	await untilAnswered('it answers', () => fromP(`http://${address}:8000/`), /^d$/);
	for (const id of await spare()) t.false(old.includes(id));
	await apply(dockerPod('later', {containers: [serves('later')]}));
	await ready('later');
	t.true(await wasWarm('later'));
	t.is(await fromP(`http://${await podIP('later')}:8000/`), 'later');
});

/** What is to be seen of a pod that is given one, in the order in which it comes to be. */
const steps: readonly (readonly [string, (uid: string) => boolean])[] = [
	['it is written down', uid => infrasIn(directory()).has(uid)],
	['its cable begins', uid => readdirSync('/run/netns').some(name => name.endsWith(`-${uid}`))],
	['it is known to have its network', uid => infrasIn(directory()).get(uid)?.podIP !== undefined],
];

test.serial('the agent is killed at any step of giving one: the pod comes to be, and nothing is there twice', async t => {
	t.timeout(240_000);
	for (const [index, [step, isSeen]] of steps.entries()) {
		await spare();
		const before = new Set(foldersIn(directory()));
		const pod = `k-${index}`;
		const applied = apply(dockerPod(pod, {containers: [serves(pod)]}));
		const isThere = (): boolean => foldersIn(directory()).some(uid => !before.has(uid) && isSeen(uid));
		for (const untilMs = systemClock.monotonicMs() + 20_000; !isThere() && systemClock.monotonicMs() < untilMs;) await nextTurn();
		process.kill(home.endpoints().pid, 'SIGKILL');
		// What it said may be lost.
		await applied.catch(() => undefined);
		await begin();
		await ready(pod);
		t.is(await fromP(`http://${await podIP(pod)}:8000/`), pod, step);
		t.is(await inPod(pod, 'hostname'), `${pod}\n`);
	}
	const addresses = await Promise.all(['d', 'f', 'later', ...steps.map((_step, index) => `k-${index}`)].map(podIP));
	t.is(new Set(addresses).size, addresses.length);
	await spare();
	// Two of each pod, of which there are six.
	t.is((await dockerd().docker('ps', '-aq')).trim().split('\n').length, 2 * 6 + few);
});

test.serial('the Engine is killed with all that it has: pods come again with their addresses and names', async t => {
	t.timeout(180_000);
	const addresses = [await podIP('d'), await podIP('later')];
	await dockerd().kill();
	await dockerd().start();
	for (const [index, pod] of ['d', 'later'].entries()) {
		await says(/"restartCount": [12]/, 'get', 'pod', pod, '-o', 'json');
		await ready(pod);
		const address = addresses[index] ?? '';
		t.is(await podIP(pod), address);
		await untilAnswered(`${pod} answers`, () => fromP(`http://${address}:8000/`), new RegExp(`^${pod}$`));
		t.is(await inPod(pod, 'hostname'), `${pod}\n`);
	}
	await untilAnswered('its Service answers', () => fromP('http://d/'), /^d$/);
	await spare();
	await apply(dockerPod('last', {containers: [serves('last')]}));
	await ready('last');
	t.true(await wasWarm('last'));
	t.is(await fromP(`http://${await podIP('last')}:8000/`), 'last');
});

test.serial('what is removed leaves nothing, nor does what no pod had', async t => {
	t.timeout(120_000);
	const uids = await Promise.all(['d', 'p', 'f', 'later', 'last'].map(uidOf));
	const infra = infrasIn(directory()).get(await uidOf('last'))?.id ?? '';
	await fine('delete', 'pod', 'last');
	t.notRegex(await dockerd().docker('ps', '-aq', '--no-trunc'), new RegExp(infra));
	await leavesNothing(t);
	t.notRegex(await dockerd().inNamespace('ip', '-brief', 'link'), /^troupe/m);
	t.notRegex(await dockerd().inNamespace(nft, 'list', 'tables'), /troupe-pods/);
	t.deepEqual(
		readdirSync('/run/netns').filter(name => uids.some(uid => name.endsWith(`-${uid}`))),
		[],
	);
});
