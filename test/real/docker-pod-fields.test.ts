// Every field of a pod that says what its containers may do and have, on Docker: as it is seen from inside of the container, and as the kernel
// and the Engine tell it on the host. From the manifest to the process, through a real cluster.

import {existsSync, readFileSync, readlinkSync, mkdtempSync, mkdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import {mountsIn, readMountinfo} from '../../agent/os/mountinfo.js';
import {eventually, followObjects} from '../../bench/rigs/cluster/waiting.js';
import {dockerCluster, dockerPod, shell} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);
const cluster = dockerCluster(test, dockerd);
const {apply, ask} = cluster;

type Inspected = {
	readonly State: {readonly Pid: number};
	readonly Config: {readonly Tty: boolean; readonly OpenStdin: boolean; readonly StdinOnce: boolean; readonly User: string};
	readonly HostConfig: {readonly Privileged: boolean; readonly NetworkMode: string; readonly RestartPolicy: {readonly Name: string}};
	readonly HostsPath: string;
};

/** A container's process, seen from the host. */
type Seen = {
	readonly inspected: Inspected;
	/** Of /proc/PID/status. */
	readonly status: (name: string) => string;
	readonly file: (name: string) => string;
	readonly link: (name: string) => string;
	/** Which namespace of this sort is its own, its pod's, or the host's. */
	readonly namespace: (sort: string) => 'own' | 'pod' | 'host';
	/** A file of its control group, of either version. */
	readonly group: (controller: string, v1: string, v2: string) => string;
	/** What is mounted there: its file system, and whether it is read-only there. */
	readonly mount: (point: string) => string;
};

type Row = {
	readonly field: string;
	readonly pod?: object;
	readonly container?: object;
	/** A script, and all that it says. */
	readonly inside?: readonly [script: string, said: string | RegExp];
	/** What is looked at on the host, and what is to be there. */
	readonly host?: readonly [look: (seen: Seen) => unknown, found: unknown];
	/** It does not run, and its container says why. */
	readonly refused?: RegExp;
	/** Only nodes whose operator allows it have such a pod. */
	readonly needsLeave?: true;
};

const status = (name: string): string => `grep ^${name}: /proc/self/status | cut -f2-`;
const usual = '00000000a80425fb';
const mounted = (...mounts: readonly object[]): object => ({volumeMounts: mounts});
const security = (securityContext: object): {readonly container: object} => ({container: {securityContext}});
const ofPod = (securityContext: object): {readonly pod: object} => ({pod: {securityContext}});
const identity = "echo $(id -u) $(id -g) $(id -G | tr ' ' '\\n' | sort -n | uniq | tr '\\n' ' ')";
const ids = (seen: Seen): readonly string[] => [seen.status('Uid'), seen.status('Gid'), sorted(seen.status('Groups'))];
const sorted = (numbers: string): string => [...new Set(numbers.split(' ').map(Number))].sort((a, b) => a - b).join(' ');
const four = (id: number): string => Array(4).fill(id).join('\t');
const group = (controller: string, v1: string, v2: string): string =>
	`cat /sys/fs/cgroup/${controller}/${v1} 2>/dev/null || cat /sys/fs/cgroup/${v2}`;

/** 2: a filter; 0: none. Where the Engine's kernel has none it says so. */
const filtered = ({seccomp}: Given): string => (seccomp ? '2' : '0');

/** What the kernel of this machine, or who gave the machine, has left to the Engine. */
type Given = {
	readonly seccomp: boolean;
	/** Root has all capabilities. */
	readonly all: boolean;
};

const rows = (folder: string, given: Given): readonly Row[] => [
	{
		field: 'nothing at all',
		inside: [`${identity}; ${status('CapEff')}; ${status('NoNewPrivs')}; ${status('Seccomp')}`, `0 0 0\n${usual}\n1\n${filtered(given)}\n`],
		host: [
			seen => [
				...ids(seen),
				...['CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp'].map(seen.status),
				...['net', 'ipc', 'pid', 'mnt', 'uts'].map(seen.namespace),
				seen.group('pids', 'pids.max', 'pids.max'),
				seen.inspected.HostConfig.Privileged,
				seen.inspected.HostConfig.RestartPolicy.Name,
			],
			[
				four(0),
				four(0),
				'0',
				usual,
				usual,
				'0000000000000000',
				'1',
				filtered(given),
				'pod',
				'pod',
				'own',
				'own',
				'own',
				'1024',
				false,
				'no',
			],
		],
	},
	{field: 'runAsUser', ...security({runAsUser: 4711}), inside: [identity, '4711 0 0\n'], host: [ids, [four(4711), four(0), '0']]},
	{
		field: 'runAsUser of the pod',
		...ofPod({runAsUser: 12, runAsGroup: 13}),
		inside: [identity, '12 13 13\n'],
		host: [ids, [four(12), four(13), '13']],
	},
	{
		field: "runAsUser of the container before the pod's",
		...ofPod({runAsUser: 12, runAsGroup: 13}),
		...security({runAsUser: 14}),
		inside: [identity, '14 13 13\n'],
		host: [ids, [four(14), four(13), '13']],
	},
	{field: 'runAsGroup', ...security({runAsGroup: 5}), inside: [identity, '0 5 5\n'], host: [ids, [four(0), four(5), '5']]},
	{
		field: 'runAsNonRoot',
		...security({runAsNonRoot: true, runAsUser: 5}),
		inside: ['id -u', '5\n'],
		host: [({status: of}) => of('Uid'), four(5)],
	},
	{field: 'runAsNonRoot and root', ...security({runAsNonRoot: true}), refused: /it would run as root/},
	{
		field: 'supplementalGroups',
		...ofPod({supplementalGroups: [7, 8]}),
		inside: [identity, '0 0 0 7 8\n'],
		host: [({status: of}) => sorted(of('Groups')), '0 7 8'],
	},
	{
		field: 'supplementalGroupsPolicy: Merge',
		...ofPod({supplementalGroups: [7], supplementalGroupsPolicy: 'Merge'}),
		container: {image: 'with-users'},
		inside: [identity, '1000 1000 7 1000 2000 3000\n'],
		host: [ids, [four(1000), four(1000), '7 1000 2000 3000']],
	},
	{
		field: 'supplementalGroupsPolicy: Strict',
		...ofPod({supplementalGroups: [7], supplementalGroupsPolicy: 'Strict'}),
		container: {image: 'with-users'},
		inside: [identity, '1000 1000 7 1000\n'],
		host: [ids, [four(1000), four(1000), '7 1000']],
	},
	{
		field: 'fsGroup',
		pod: {securityContext: {fsGroup: 4242, runAsUser: 9}, volumes: [{name: 'v', emptyDir: {}}]},
		container: mounted({name: 'v', mountPath: '/v'}),
		inside: [`touch /v/file && stat -c '%u %g' /v/file; ${status('Groups')}`, /^9 4242\n(0 )?4242 ?\n$/],
		host: [({link, status: of}) => [statSync(`${link('root')}/v/file`).gid, of('Groups').includes('4242')], [4242, true]],
	},
	{
		field: 'readOnlyRootFilesystem',
		pod: {volumes: [{name: 'v', emptyDir: {}}]},
		container: {securityContext: {readOnlyRootFilesystem: true}, ...mounted({name: 'v', mountPath: '/v'})},
		inside: ['touch /x 2>/dev/null || echo no; touch /v/x && echo yes', 'no\nyes\n'],
		host: [({mount}) => ['/', '/v'].map(point => mount(point).startsWith('ro ')), [true, false]],
	},
	{
		field: 'allowPrivilegeEscalation',
		...security({allowPrivilegeEscalation: true}),
		inside: [status('NoNewPrivs'), '0\n'],
		host: [({status: of}) => of('NoNewPrivs'), '0'],
	},
	{
		field: 'capabilities.drop',
		...security({capabilities: {drop: ['ALL']}}),
		inside: [`${status('CapEff')}; chown 5 /tmp 2>/dev/null || echo no`, '0000000000000000\nno\n'],
		host: [({status: of}) => ['CapEff', 'CapPrm', 'CapBnd', 'CapInh'].map(of), Array(4).fill('0000000000000000')],
	},
	{
		field: 'capabilities.add of those that are usual',
		...security({capabilities: {drop: ['ALL'], add: ['CHOWN']}}),
		inside: [`${status('CapEff')}; chown 5 /tmp && echo yes`, '0000000000000001\nyes\n'],
		host: [({status: of}) => [of('CapEff'), of('CapBnd')], ['0000000000000001', '0000000000000001']],
	},
	{
		field: 'capabilities.add of others',
		needsLeave: true,
		...security({capabilities: {add: ['NET_ADMIN']}}),
		inside: [`${status('CapEff')}; ip link set lo down && ip link set lo up && echo yes`, '00000000a80435fb\nyes\n'],
		host: [({status: of}) => of('CapEff'), '00000000a80435fb'],
	},
	{
		field: 'seccompProfile: RuntimeDefault',
		...security({seccompProfile: {type: 'RuntimeDefault'}}),
		inside: [status('Seccomp'), `${filtered(given)}\n`],
		host: [({status: of}) => of('Seccomp'), filtered(given)],
	},
	{
		field: 'seccompProfile: Unconfined',
		needsLeave: true,
		...ofPod({seccompProfile: {type: 'Unconfined'}}),
		inside: [status('Seccomp'), '0\n'],
		host: [({status: of}) => of('Seccomp'), '0'],
	},
	{
		field: 'privileged',
		needsLeave: true,
		...security({privileged: true}),
		// An Engine that has not got all rights itself cannot give them.
		...(given.all ? {} : {refused: /unable to apply caps/}),
		inside: [`${status('CapEff')}; ${status('NoNewPrivs')}; ${status('Seccomp')}`, /^0000[0-9a-f]+\n0\n0\n$/],
		host: [({inspected, status: of}) => [inspected.HostConfig.Privileged, of('CapEff') === statusIn(dockerdPid(), 'CapEff')], [true, true]],
	},
	{
		field: 'hostNetwork',
		needsLeave: true,
		pod: {hostNetwork: true},
		inside: ['ip -o addr show docker0 | grep -c 10.244.1.1', '1\n'],
		host: [({namespace}) => ['net', 'ipc', 'pid'].map(namespace), ['host', 'pod', 'own']],
	},
	{
		field: 'hostPID',
		needsLeave: true,
		pod: {hostPID: true},
		inside: ['ps | grep -c "[d]ockerd --data-root" | grep -v ^0 >/dev/null && echo yes', 'yes\n'],
		host: [({namespace}) => ['net', 'ipc', 'pid'].map(namespace), ['pod', 'pod', 'host']],
	},
	{
		field: 'hostIPC',
		needsLeave: true,
		pod: {hostIPC: true},
		host: [({namespace}) => ['net', 'ipc', 'pid'].map(namespace), ['pod', 'host', 'own']],
	},
	{
		field: 'shareProcessNamespace',
		pod: {shareProcessNamespace: true},
		inside: ['ps | grep -c "^ *1 .*infra"', '1\n'],
		host: [({namespace}) => namespace('pid'), 'pod'],
	},
	{
		field: 'hostname',
		pod: {hostname: 'other'},
		inside: ['hostname; cat /etc/hostname; echo $HOSTNAME', 'other\nother\nother\n'],
		host: [({file}) => /\sother\n/.test(file('root/etc/hosts')), true],
	},
	{
		field: 'hostAliases',
		pod: {hostAliases: [{ip: '10.1.2.3', hostnames: ['db', 'db.local']}]},
		inside: ["grep 10.1.2.3 /etc/hosts | tr '\\t' ' '", '10.1.2.3 db\n10.1.2.3 db.local\n'],
		host: [({inspected}) => readFileSync(inspected.HostsPath, 'utf8').includes('10.1.2.3\tdb.local\n'), true],
	},
	{
		field: 'limits.memory',
		container: {resources: {limits: {memory: '64Mi'}}},
		inside: [group('memory', 'memory.limit_in_bytes', 'memory.max'), '67108864\n'],
		host: [
			({group: of}) => [
				of('memory', 'memory.limit_in_bytes', 'memory.max'),
				['67108864', '0', ''].includes(of('memory', 'memory.memsw.limit_in_bytes', 'memory.swap.max')),
			],
			['67108864', true],
		],
	},
	{
		field: 'limits.cpu and requests.cpu',
		container: {resources: {limits: {cpu: '1500m'}, requests: {cpu: '250m'}}},
		inside: [group('cpu', 'cpu.cfs_quota_us', 'cpu.max'), /^150000\b/],
		host: [
			({group: of}) => [
				of('cpu', 'cpu.cfs_quota_us', 'cpu.max').split(' ')[0],
				['256', '10'].includes(of('cpu', 'cpu.shares', 'cpu.weight')),
			],
			['150000', true],
		],
	},
	{
		field: 'command, args, workingDir and env',
		container: {workingDir: '/tmp', env: [{name: 'WORD', value: 'two words; $(HOSTNAME) `id`'}]},
		inside: ['pwd; echo "$WORD"', /^\/tmp\ntwo words; .* `id`\n$/],
		host: [
			({file, link}) => [readlinkSync(link('cwd')), file('environ').includes('WORD=two words; '), file('cmdline').startsWith('sh\0-c\0')],
			['/tmp', true, true],
		],
	},
	{
		field: 'tty',
		container: {tty: true},
		inside: ['test -t 0 && test -t 1 && echo yes', 'yes\r\n'],
		host: [({inspected}) => inspected.Config.Tty, true],
	},
	{
		field: 'stdin and stdinOnce',
		container: {stdin: true, stdinOnce: true},
		inside: ['readlink /proc/self/fd/0', /^pipe:/],
		host: [({inspected: {Config}}) => [Config.OpenStdin, Config.StdinOnce, Config.Tty], [true, true, false]],
	},
	{
		field: 'stdin left out',
		inside: ['readlink /proc/self/fd/0', '/dev/null\n'],
		host: [({inspected: {Config}}) => [Config.OpenStdin, Config.StdinOnce, Config.Tty], [false, false, false]],
	},
	{
		field: 'emptyDir in memory',
		pod: {volumes: [{name: 'v', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}}]},
		container: mounted({name: 'v', mountPath: '/v'}),
		inside: ['grep -c " /v tmpfs " /proc/mounts; dd if=/dev/zero of=/v/x bs=1k count=2048 2>/dev/null || echo full', '1\nfull\n'],
		host: [({mount}) => mount('/v'), 'rw tmpfs'],
	},
	{
		field: 'configMap and secret volumes',
		pod: {
			volumes: [
				{name: 'c', configMap: {name: 'words', defaultMode: 0o440}},
				{name: 's', secret: {secretName: 'words'}},
			],
		},
		container: mounted({name: 'c', mountPath: '/c'}, {name: 's', mountPath: '/s'}),
		inside: [
			'cat /c/word /s/word; stat -Lc %a /c/word; for d in /c /s; do touch $d/x 2>/dev/null || echo no; done',
			'hello\nsecret\n440\nno\nno\n',
		],
		host: [({mount}) => [mount('/c').startsWith('ro '), mount('/s')], [true, 'ro tmpfs']],
	},
	{
		field: 'hostPath, read-only',
		pod: {volumes: [{name: 'v', hostPath: {path: folder, type: 'Directory'}}]},
		container: mounted({name: 'v', mountPath: '/v', readOnly: true}),
		inside: ['cat /v/file; touch /v/x 2>/dev/null || echo no', 'of the host\nno\n'],
		host: [({mount, link}) => [mount('/v').startsWith('ro '), statSync(`${link('root')}/v`).ino], [true, statSync(folder).ino]],
	},
	{
		field: 'hostPath, and a subPath of it',
		pod: {volumes: [{name: 'v', hostPath: {path: folder}}]},
		container: mounted({name: 'v', mountPath: '/v', subPath: 'a/b'}),
		inside: ['touch /v/x && ls /v', 'x\n'],
		host: [({link}) => statSync(`${link('root')}/v`).ino === statSync(path.join(folder, 'a/b')).ino, true],
	},
	{field: 'imagePullPolicy: Never', container: {image: 'nosuch:1', imagePullPolicy: 'Never'}, refused: /nosuch:1/},
];

const dockerdPid = (): number => dockerd().pid() ?? 0;
const statusIn = (pid: number, name: string): string =>
	new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';

function hasAll(): boolean {
	const last = BigInt(readFileSync('/proc/sys/kernel/cap_last_cap', 'utf8').trim());
	return BigInt(`0x${statusIn(dockerdPid(), 'CapEff')}`) === (1n << (last + 1n)) - 1n;
}

async function inspect(id: string): Promise<Inspected> {
	const [inspected] = JSON.parse(await dockerd().docker('inspect', id)) as readonly Inspected[];
	if (inspected === undefined) throw new Error(`there is no container ${id}`);
	return inspected;
}

async function look(pod: Pod): Promise<Seen> {
	const inspected = await inspect(pod.status?.containerStatuses?.[0]?.containerID?.slice('docker://'.length) ?? '');
	const pid = inspected.State.Pid;
	const infra = (await inspect(inspected.HostConfig.NetworkMode.slice('container:'.length))).State.Pid;
	const file = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8');
	const inode = (of: number, sort: string): string => readlinkSync(`/proc/${of}/ns/${sort}`);
	return {
		inspected,
		file,
		status: name => statusIn(pid, name),
		link: name => `/proc/${pid}/${name}`,
		namespace: sort => {
			const own = inode(pid, sort);
			if (own === inode(dockerdPid(), sort)) return 'host';
			return own === inode(infra, sort) ? 'pod' : 'own';
		},
		group(controller, v1, v2) {
			const lines = file('cgroup')
				.split('\n')
				.map(line => line.split(':'));
			const first = lines.find(([, controllers = '']) => controllers.split(',').includes(controller));
			const [, , ...folder] = first ?? lines.find(([number]) => number === '0') ?? [];
			const tree = mountsIn(readMountinfo()).find(({type, options}) =>
				first === undefined ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(controller),
			);
			const name = path.join(tree?.point ?? '', folder.join(':'), first === undefined ? v2 : v1);
			return existsSync(name) ? readFileSync(name, 'utf8').trim() : '';
		},
		mount(point) {
			const line =
				file('mountinfo')
					.split('\n')
					.find(each => each.split(' ')[4] === point) ?? '';
			return `${line.split(' ')[5]?.split(',')[0]} ${line.split(' - ')[1]?.split(' ')[0]}`;
		},
	};
}

/** Busybox with a user of its own, `app` (1000), who is in further groups. */
async function imageWithUsers(): Promise<void> {
	const folder = mkdtempSync('/tmp/troupe-users-');
	try {
		writeFileSync(path.join(folder, 'passwd'), 'root:x:0:0::/:/bin/sh\napp:x:1000:1000::/:/bin/sh\n');
		writeFileSync(path.join(folder, 'group'), 'root:x:0:\napp:x:1000:\nmore:x:2000:app\nmost:x:3000:app,root\n');
		writeFileSync(path.join(folder, 'Dockerfile'), 'FROM busybox\nCOPY passwd group /etc/\nUSER app\n');
		await dockerd().docker('build', '-q', '-t', 'with-users', folder);
	} finally {
		rmSync(folder, {recursive: true, force: true});
	}
}

const podName = (at: number): string => `row-${at}`;

const podOf = ({pod = {}, container = {}, inside}: Row, at: number): object => {
	const script = `${inside?.[0] ?? 'true'}; echo --end--; trap "exit 0" TERM; sleep infinity & wait`;
	return dockerPod(podName(at), {...pod, containers: [shell('main', script, container)]});
};

/** The text, or the expression that it matches. */
const like = (text: string, wanted: string | RegExp): string => (wanted instanceof RegExp && wanted.test(text) ? String(wanted) : text);

async function saidBy(pod: string): Promise<string> {
	let said = '';
	const hasEnded = async (): Promise<boolean> => (said = await ask('logs', pod)).includes('--end--');
	await eventually(`${pod} has said all`, hasEnded, () => said);
	return said.replace(/--end--\r?\n$/, '');
}

const waitingOf = (pod: Pod): string => pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
const runs = (pod: Pod): boolean => pod.status?.containerStatuses?.[0]?.state?.running !== undefined;

test.serial('each field of a pod is what it says, from inside and from the host', async t => {
	const folder = mkdtempSync('/tmp/troupe-host-');
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	writeFileSync(path.join(folder, 'file'), 'of the host\n');
	mkdirSync(path.join(folder, 'a/b'), {recursive: true});
	await imageWithUsers();
	await cluster.up('--allow-privileged');
	const given = {seccomp: /name=seccomp/.test(await dockerd().docker('info', '-f', '{{.SecurityOptions}}')), all: hasAll()};
	if (!given.all)
		t.log('ROOT OF THIS MACHINE HAS NOT GOT ALL CAPABILITIES: its Engine starts no privileged container, and that is looked for');
	if (!given.seccomp) t.log("THE ENGINE'S KERNEL HAS NO SECCOMP: no container has a filter, and rows of it expect none");
	const words = {metadata: {name: 'words'}, apiVersion: 'v1'};
	await apply({...words, kind: 'ConfigMap', data: {word: 'hello\n'}}, {...words, kind: 'Secret', stringData: {word: 'secret\n'}});
	const table = rows(folder, given);
	await apply(...table.map(podOf));
	const pods = await followObjects(await cluster.client(), 'pods');
	// All that differs is told at once.
	const seen: {[field: string]: readonly unknown[]} = {};
	const wanted: {[field: string]: readonly unknown[]} = {};
	for (const [at, row] of table.entries()) {
		const {field, inside: [, said] = ['', ''], host: [ofHost, there] = [() => undefined, undefined], refused} = row;
		const pod = await pods.until(field, objects => {
			const each = objects.get(podName(at)) as Pod | undefined;
			return each !== undefined && (refused === undefined ? runs(each) : waitingOf(each) !== '') && each;
		});
		if (refused !== undefined) {
			seen[field] = [runs(pod), like(waitingOf(pod), refused)];
			wanted[field] = [false, String(refused)];
			continue;
		}
		seen[field] = [like(await saidBy(podName(at)), said), ofHost(await look(pod))];
		wanted[field] = [String(said), there];
	}
	t.deepEqual(seen, wanted);
	t.log(`${table.length} rows`);
	pods.close();
});

test.serial('what needs the leave of the operator has no node without it', async t => {
	const table = rows('/', {seccomp: false, all: true}).filter(({needsLeave}) => needsLeave);
	await cluster.fine('down', '--pods');
	await cluster.up();
	await ask('delete', 'pods', '--all');
	await apply(...table.map(podOf));
	for (const [at, {field}] of table.entries())
		t.regex(await cluster.says(/PodScheduled +False/, 'describe', 'pod', podName(at)), /0\/1 nodes fit: vm: .*privileged/, field);
	t.is((await dockerd().docker('ps', '-aq', '--filter', 'label=troupe.dev/pod-uid')).trim(), '');
});
