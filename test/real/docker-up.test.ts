// `troupe up --docker`: pods of class docker as a person meets them, by commands alone, while what they stand on is killed.
//
// The cluster runs in the network namespace of its Engine, where its pods have their addresses; so does each command.

import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {nodeName} from '../e2e/_rig.js';
import {dockerCluster, dockerPod, shell, waits} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);

const {home, fine, apply, up, says, leavesNothing} = dockerCluster(test, dockerd);

type Status = {
	readonly podIP?: string;
	readonly containerStatuses?: readonly {readonly name: string; readonly containerID?: string; readonly restartCount: number}[];
};

const statusOf = async (pod: string): Promise<Status> =>
	(JSON.parse(await fine('get', 'pod', pod, '-o', 'json')) as {readonly status: Status}).status;

const idsOf = ({containerStatuses = []}: Status): readonly (string | undefined)[] => containerStatuses.map(({containerID}) => containerID);

const ready = (pod: string): Promise<string> => fine('wait', `pod/${pod}`, '--for', 'condition=Ready', '--timeout', '30s');

const theTwo = dockerPod('two', {
	volumes: [{name: 'shared', emptyDir: {}}],
	containers: [
		shell('web', 'echo shared >/www/index.html; exec httpd -f -p 8080 -h /www', {volumeMounts: [{name: 'shared', mountPath: '/www'}]}),
		shell(
			'asks',
			`until printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc 127.0.0.1 8080; do sleep 0.1; done; cat /data/index.html; ${waits('asked')}`,
			{
				volumeMounts: [{name: 'shared', mountPath: '/data', readOnly: true}],
			},
		),
	],
});

/** The Engine's own pids of the pod's infra container. */
const infraPid = async (pod: string): Promise<number> => {
	const [id = ''] = idsOf(await statusOf(pod)).map(each => each?.replace('docker://', '') ?? '');
	const network = (await dockerd().docker('inspect', '-f', '{{.HostConfig.NetworkMode}}', id)).trim();
	return Number(await dockerd().docker('inspect', '-f', '{{.State.Pid}}', network.replace('container:', '')));
};

test.serial('a pod of two containers: one network, one volume, its name; and a process beside it', async t => {
	t.regex(await up(), /processes of this host, or containers of Docker \d/);
	await apply(
		theTwo,
		dockerPod('process', {runtimeClassName: 'process', containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}]}),
	);
	await ready('two');
	await ready('process');
	t.regex(
		await says(/asked/, 'logs', 'two', '-c', 'asks'),
		/200 OK[^]*\n\r?\nshared\nshared\nasked\n$/,
		'over localhost, then from the volume',
	);
	t.is(await fine('exec', 'two', '-c', 'web', '--', 'hostname'), 'two\n');
	const {podIP = ''} = await statusOf('two');
	t.is(await dockerd().inNamespace('busybox', 'wget', '-qO-', `http://${podIP}:8080/`), 'shared\n');
	t.regex(await fine('describe', 'pod', 'two'), /Runtime Class: +docker[^]*Container ID: +docker:\/\/[0-9a-f]{64}/);
	t.regex(await fine('get', 'pods'), /process +1\/1 +Running[^]*two +2\/2 +Running/);
});

test.serial('containers that crash, run out of memory, and have no image', async t => {
	await apply(
		dockerPod('crash', {containers: [shell('c', 'echo bye; exit 3')]}),
		// Not at once: what runs out of memory within the first moments of its container the Engine may not notice itself.
		dockerPod('oom', {
			restartPolicy: 'Never',
			containers: [shell('c', 'sleep 1; tail /dev/zero', {resources: {limits: {memory: '16Mi'}}})],
		}),
		dockerPod('absent', {containers: [{name: 'c', image: 'localhost:1/nosuch:1'}]}),
	);
	await says(/crash +0\/1 +retry \d+ in .*: exit 3/, 'get', 'pods');
	t.regex(
		await says(/CrashLoopBackOff/, 'describe', 'pod', 'crash'),
		/Last State: +Terminated \(Error\): exit code 3[^]*its last lines:\s+bye/,
	);
	await says(/oom +0\/1 +OOMKilled/, 'get', 'pods');
	t.regex(await fine('describe', 'pod', 'oom'), /Terminated \(OOMKilled\): exit code 137/);
	await says(/absent +0\/1 .*(ErrImagePull|ImagePullBackOff)/, 'get', 'pods');
	const described = await says(/ImagePullBackOff/, 'describe', 'pod', 'absent');
	t.regex(described, /cannot pull image "localhost:1\/nosuch:1": .*connection refused/);
	await fine('delete', 'pod', 'crash', 'oom', 'absent');
	const left = await dockerd().docker('ps', '-a', '--filter', 'label=troupe.dev/pod', '--format', '{{.Label "troupe.dev/pod"}}');
	t.deepEqual([...new Set(left.trim().split('\n'))], ['two'], 'what is deleted has no containers');
});

test.serial('a sidecar runs beside the others, and ends after them', async t => {
	const side = shell('side', 'trap "echo ends; exit 0" TERM; echo runs; sleep infinity & wait', {restartPolicy: 'Always'});
	await apply(dockerPod('sidecar', {restartPolicy: 'Never', initContainers: [side], containers: [shell('main', 'echo main; sleep 1')]}));
	await says(/sidecar +0\/2 +Completed/, 'get', 'pods');
	t.is(await fine('logs', 'sidecar', '-c', 'side'), 'runs\nends\n');
	await fine('delete', 'pod', 'sidecar');
});

test.serial('a Deployment is updated, and that is undone', async t => {
	const deployment = (said: string): object => ({
		apiVersion: 'apps/v1',
		kind: 'Deployment',
		metadata: {name: 'web'},
		spec: {
			replicas: 2,
			selector: {matchLabels: {app: 'web'}},
			template: {
				metadata: {labels: {app: 'web'}},
				spec: {runtimeClassName: 'docker', terminationGracePeriodSeconds: 1, containers: [shell('c', waits(said))]},
			},
		},
	});
	const said = async (text: string): Promise<void> => {
		await fine('rollout', 'status', 'deployment/web', '--timeout', '30s');
		await says(new RegExp(`^(\\[web-.*\\] ${text}\n){2}$`), 'logs', '-l', 'app=web');
	};
	await apply(deployment('first'));
	await said('first');
	await apply(deployment('second'));
	await said('second');
	await fine('rollout', 'undo', 'deployment/web');
	await said('first');
	await fine('delete', 'deployment', 'web');
	t.is(await fine('get', 'deployments', '-o', 'name'), '');
});

test.serial('the infra container is killed: the pod begins again', async t => {
	const before = idsOf(await statusOf('two'));
	process.kill(await infraPid('two'), 'SIGKILL');
	await says(/SandboxChanged/, 'describe', 'pod', 'two');
	await says(/two +2\/2 +Running +2 /, 'get', 'pods');
	const {podIP = '', ...after} = await statusOf('two');
	t.is(idsOf(after).filter(id => before.includes(id)).length, 0);
	t.is(
		await dockerd().inNamespace('busybox', 'wget', '-qO-', `http://${podIP}:8080/`),
		'shared\n',
		'the address is that of the new sandbox',
	);
});

test.serial('up is killed and started again: the same containers run on', async t => {
	const before = await statusOf('two');
	const {pid} = home.endpoints();
	process.kill(pid, 'SIGKILL');
	await eventually('up is dead', () => !lives(pid));
	await up();
	await ready('two');
	const after = await statusOf('two');
	t.deepEqual(idsOf(after), idsOf(before));
	t.is(after.podIP, before.podIP);
	t.regex(await fine('exec', 'two', '-c', 'web', '--', 'ps'), /httpd/);
});

test.serial('dockerd is killed: the node says so, processes run on; then the pod begins again', async t => {
	const before = await statusOf('process');
	await dockerd().kill();
	t.regex(
		await says(/DockerNotReady +True +EngineGone/, 'describe', 'node', nodeName),
		/Docker's Engine (closed the connection|cannot be reached): .*(look whether|start Docker)/,
	);
	t.deepEqual(idsOf(await statusOf('process')), idsOf(before));
	await dockerd().start();
	await says(/two +2\/2 +Running +4 /, 'get', 'pods');
	t.notRegex(await says(/DockerReady/, 'describe', 'node', nodeName), /DockerNotReady +True/);
	t.is(await fine('exec', 'two', '-c', 'asks', '--', 'cat', '/data/index.html'), 'shared\n');
});

test.serial('down --pods leaves nothing', leavesNothing);
