// `troupe up --docker` on the socket of Podman: pods of class docker as a person meets them, and what does not run there is refused.
//
// The cluster runs in the network namespace of its Engine, where its pods have their addresses; so does each command.

import test from 'ava';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {nodeName} from '../e2e/_rig.js';
import {dockerCluster, dockerPod, shell} from './_docker-cluster.js';
import {sharedPodman} from './_dockerd.js';

const podman = sharedPodman(test);

const {home, fine, apply, up, says, leavesNothing} = dockerCluster(test, podman);

type Status = {
	readonly podIP?: string;
	readonly containerStatuses?: readonly {readonly containerID?: string}[];
};

const statusOf = async (pod: string): Promise<Status> =>
	(JSON.parse(await fine('get', 'pod', pod, '-o', 'json')) as {readonly status: Status}).status;

const idsOf = ({containerStatuses = []}: Status): readonly (string | undefined)[] => containerStatuses.map(({containerID}) => containerID);

const web = shell('web', 'echo shared >/www/index.html; exec httpd -f -p 8080 -h /www', {
	volumeMounts: [{name: 'shared', mountPath: '/www'}],
});

const ask = "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc 127.0.0.1 8080";
const asks = shell('asks', `until ${ask}; do sleep 0.1; done; cat /data/index.html; trap "exit 0" TERM; sleep infinity & wait`, {
	volumeMounts: [{name: 'shared', mountPath: '/data', readOnly: true}],
});

test.serial('a pod of two containers: one network, one volume, one name, its log, and exec', async t => {
	t.regex(await up(), /processes of this host, or containers of Podman \d/);
	await apply(dockerPod('two', {volumes: [{name: 'shared', emptyDir: {}}], containers: [web, asks]}));
	await fine('wait', 'pod/two', '--for', 'condition=Ready', '--timeout', '60s');
	t.regex(
		await says(/shared\nshared\n$/, 'logs', 'two', '-c', 'asks'),
		/200 OK[^]*\n\r?\nshared\nshared\n$/,
		'over localhost, then the volume',
	);
	t.is(await fine('exec', 'two', '-c', 'web', '--', 'hostname'), 'two\n');
	const {podIP = ''} = await statusOf('two');
	t.is(await podman().inNamespace('busybox', 'wget', '-qO-', `http://${podIP}:8080/`), 'shared\n');
});

test.serial('containers that crash or run out of memory, and an exclusive pod, which is refused', async t => {
	const limited = {resources: {limits: {memory: '16Mi'}}};
	await apply(
		dockerPod('crash', {containers: [shell('c', 'echo bye; exit 3')]}),
		dockerPod('oom', {restartPolicy: 'Never', containers: [shell('c', 'sleep 1; tail /dev/zero', limited)]}),
		dockerPod('alone', {containers: [shell('c', 'sleep infinity')]}, {annotations: {'troupe.dev/exclusive': 'true'}}),
	);
	t.regex(
		await says(/Last State: +Terminated/, 'describe', 'pod', 'crash'),
		/Last State: +Terminated \(Error\): exit code 3[^]*its last lines:\s+bye/,
	);
	// Podman 4.3 does not tell why.
	await says(/Terminated \((OOMKilled|Error)\): exit code 137/, 'describe', 'pod', 'oom');
	await says(/exclusive pods do not run on Podman/, 'describe', 'pod', 'alone');
	await fine('delete', 'pod', 'crash', 'oom', 'alone');
	const left = await podman().docker('ps', '-a', '--format', '{{.Label "troupe.dev/pod"}}');
	t.deepEqual([...new Set(left.trim().split('\n'))], ['two'], 'what is deleted has no containers');
});

test.serial('the infra container is killed: the pod begins again', async t => {
	const before = idsOf(await statusOf('two'));
	const filters = ['label=troupe.dev/pod=two', 'label=troupe.dev/container=_infra'].flatMap(filter => ['--filter', filter]);
	const id = (await podman().docker('ps', '-q', ...filters)).trim();
	process.kill(Number(await podman().docker('inspect', '-f', '{{.State.Pid}}', id)), 'SIGKILL');
	await says(/SandboxChanged/, 'describe', 'pod', 'two');
	await says(/two +2\/2 +Running +2 /, 'get', 'pods');
	const {podIP = '', ...after} = await statusOf('two');
	t.deepEqual(
		idsOf(after).filter(each => before.includes(each)),
		[],
	);
	t.is(await podman().inNamespace('busybox', 'wget', '-qO-', `http://${podIP}:8080/`), 'shared\n');
});

test.serial('up and the service are killed and started again: the same containers run on', async t => {
	const before = await statusOf('two');
	const {pid} = home.endpoints();
	process.kill(pid, 'SIGKILL');
	await eventually('up is dead', () => !lives(pid));
	await up();
	await podman().kill();
	await says(/DockerNotReady +True +EngineGone/, 'describe', 'node', nodeName);
	await podman().start();
	await says(/DockerReady/, 'describe', 'node', nodeName);
	await says(/two +2\/2 +Running +2 /, 'get', 'pods');
	const after = await statusOf('two');
	t.deepEqual(idsOf(after), idsOf(before));
	t.is(after.podIP, before.podIP);
	t.regex(await fine('exec', 'two', '-c', 'web', '--', 'ps'), /httpd/);
});

test.serial('down --pods leaves nothing', leavesNothing);
