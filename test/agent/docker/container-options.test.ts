import test from 'ava';
import {containerOptions, type ContainerPlace} from '../../../agent/docker/containers/container-options.js';
import {exitOf, timeOf} from '../../../agent/docker/containers/endings.js';
import {identityOf, needsImage} from '../../../agent/docker/containers/identity.js';
import {firstFile} from '../../../agent/docker/containers/image-users.js';
import {obstacleToRights} from '../../../agent/docker/containers/rights.js';
import {madeOf} from '../../../agent/docker/engine/names.js';
import {versionOf} from '../../../agent/docker/engine/version.js';
import {tarOf} from '../../../agent/docker/programs/tar.js';
import {infraOptions, type InfraPlace} from '../../../agent/docker/sandboxes/infra-options.js';
import type {ContainerDevices, OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {aSandbox} from '../_sandbox.js';
import {aContainer} from '../runtime-contract.js';

const place: ContainerPlace = {
	owner: 'owner-of-this-home',
	infra: 'f00',
	sandbox: {shareProcessNamespace: false, hostPID: false, hostIPC: false, hostNetwork: false, hostname: 'web-0'},
	cgroupParent: undefined,
	processes: 100,
	user: '',
	groups: [],
	binds: [],
	engine: 'Docker',
};
const spec = (rest: Partial<OpenedSpec> = {}): OpenedSpec => ({...aContainer('runs'), env: [], ...rest});

test('a container joins its infra container, restarts by nobody, and gains no rights', t => {
	const {HostConfig: host, Labels} = containerOptions(spec(), place);
	t.is(host?.NetworkMode, 'container:f00');
	t.is(host?.IpcMode, 'container:f00');
	t.is(host?.PidMode, undefined);
	t.deepEqual(host?.RestartPolicy, {Name: 'no'});
	t.deepEqual(host?.SecurityOpt, ['no-new-privileges:true']);
	t.is(host?.Privileged, undefined);
	t.deepEqual(madeOf(Labels ?? {}), {id: {uid: 'uid-1', container: 'main'}, attempt: 0});
});

test('only Podman is told the name of the pod for each container', t => {
	t.is(containerOptions(spec(), place).Hostname, undefined);
	t.is(containerOptions(spec(), {...place, engine: 'Podman'}).Hostname, 'web-0');
	const ofHost = containerOptions(spec(), {...place, engine: 'Podman', sandbox: {...place.sandbox, hostNetwork: true}});
	t.deepEqual([ofHost.Hostname, ofHost.HostConfig?.UTSMode], [undefined, 'host']);
	const parts = [{Name: 'Podman Engine'}, {Name: 'Conmon'}];
	t.deepEqual(versionOf({Version: '4.3.1', Components: parts} as {Version: string}), {name: 'Podman', version: '4.3.1'});
	t.deepEqual(versionOf({Version: '20.10.24'}), {name: 'Docker', version: '20.10.24'});
});

test('privileged, Unconfined and namespaces of the host are said as the Engine takes them', t => {
	const sandbox = {...place.sandbox, hostPID: true, hostIPC: true};
	const {HostConfig: host} = containerOptions(spec({privileged: true, seccomp: 'unconfined'}), {...place, sandbox});
	t.true(host?.Privileged);
	t.deepEqual(host?.SecurityOpt, ['seccomp=unconfined']);
	t.is(host?.PidMode, 'host');
	t.is(host?.IpcMode, 'host');
	const shared = {...place.sandbox, shareProcessNamespace: true};
	t.is(containerOptions(spec(), {...place, sandbox: shared}).HostConfig?.PidMode, 'container:f00');
	const infra = infraOptions(aSandbox('u', {hostNetwork: true, hostname: 'mine'}), {owner: 'o', image: 'i', cgroupParent: undefined});
	t.is(infra.Hostname, undefined);
	t.is(infra.HostConfig?.NetworkMode, 'host');
});

test('whom it asks for names is all said or nothing, for what is not said the Engine takes from its host', t => {
	const place = {owner: 'o', image: 'i', cgroupParent: undefined};
	const dnsOf = (names: InfraPlace['names']) => {
		const {Dns, DnsSearch, DnsOptions} = infraOptions(aSandbox('u'), {...place, names}).HostConfig ?? {};
		return [Dns, DnsSearch, DnsOptions];
	};
	t.deepEqual(dnsOf(undefined), [undefined, undefined, undefined]);
	t.deepEqual(dnsOf({nameservers: ['10.0.0.1'], searches: ['a', 'b'], options: ['ndots:5']}), [['10.0.0.1'], ['a', 'b'], ['ndots:5']]);
	t.deepEqual(dnsOf({nameservers: ['10.0.0.1'], searches: [], options: []}), [['10.0.0.1'], ['.'], ['ndots:1']]);
});

test('limits are those of the kubelet: a period of 100 ms, shares of 1,024, no swap', t => {
	const {HostConfig: host} = containerOptions(spec({cpuLimitMillis: 2_500, cpuRequestMillis: 250, memoryLimitBytes: 1_000_000}), place);
	t.is(host?.CpuPeriod, 100_000);
	t.is(host?.CpuQuota, 250_000);
	t.is(host?.CpuShares, 256);
	t.is(host?.Memory, 1_000_000);
	t.is(host?.MemorySwap, 1_000_000);
	t.is(host?.PidsLimit, 100);
	const smallest = containerOptions(spec({cpuLimitMillis: 1, cpuRequestMillis: 1}), place).HostConfig;
	t.is(smallest?.CpuQuota, 1_000);
	t.is(smallest?.CpuShares, 2);
});

test('a command replaces what the image runs, arguments alone do not', t => {
	const command = containerOptions(spec({argv: ['a', 'b']}), place);
	t.deepEqual([command.Entrypoint, command.Cmd], [['a', 'b'], []]);
	const args = containerOptions(spec({argv: ['a', 'b'], argsOnly: true}), place);
	t.deepEqual([args.Entrypoint, args.Cmd], [undefined, ['a', 'b']]);
	const none = containerOptions(spec({argv: []}), place);
	t.deepEqual([none.Entrypoint, none.Cmd], [undefined, undefined]);
});

test('ports of the host are bindings of the infra container', t => {
	const hostPorts = [
		{containerPort: 53, hostPort: 1_053, hostIP: '10.0.0.1', protocol: 'UDP'},
		{containerPort: 53, hostPort: 1_054, hostIP: undefined, protocol: 'UDP'},
	] as const;
	const options = infraOptions(aSandbox('u', {hostPorts}), {owner: 'o', image: 'i', cgroupParent: '/p'});
	t.deepEqual(options.HostConfig?.PortBindings, {
		'53/udp': [
			{HostIp: '10.0.0.1', HostPort: '1053'},
			{HostIp: '', HostPort: '1054'},
		],
	});
	t.deepEqual(options.ExposedPorts, {'53/udp': {}});
	t.is(options.HostConfig?.CgroupParent, '/p');
});

test('an image is looked at only where its lists decide', t => {
	const wanted = {runAsUser: undefined, runAsGroup: undefined, runAsNonRoot: false, groups: [], groupsPolicy: 'Merge'} as const;
	t.false(needsImage(wanted));
	t.true(needsImage({...wanted, runAsNonRoot: true}));
	t.false(needsImage({...wanted, runAsNonRoot: true, runAsUser: 5}));
	t.true(needsImage({...wanted, groupsPolicy: 'Strict', runAsUser: 5}));
	t.false(needsImage({...wanted, groupsPolicy: 'Strict', runAsUser: 5, runAsGroup: 5}));
	const unknown = identityOf({...wanted, runAsNonRoot: true}, {user: 'ghost', passwd: '', group: ''});
	t.regex(unknown.ok ? '' : unknown.reason, /"ghost".*set runAsUser/);
	const ofImage = {user: 'app:staff', passwd: 'app:x:7:8::/:/bin/sh', group: ''};
	t.deepEqual(identityOf({...wanted, groupsPolicy: 'Strict'}, ofImage), {ok: true, identity: {user: 'app:staff', groups: []}});
});

test('capabilities beyond those of Docker need the operator, with and without their prefix', t => {
	const asking = (...add: string[]): string | undefined => obstacleToRights(spec({capabilities: {add, drop: ['ALL']}}));
	t.is(asking('CHOWN', 'CAP_NET_RAW'), undefined);
	t.regex(asking('cap_sys_admin') ?? '', /cap_sys_admin/);
	t.regex(asking('ALL') ?? '', /ALL/);
});

test('an end has the code, the signal and the reason of how it came', t => {
	const ended = {attempt: 1, wasOomKilled: false, startedAtMs: 5, finishedAtMs: 4, ran: {handle: 'docker://a', imageId: 'sha256:b'}};
	t.deepEqual(exitOf({...ended, exitCode: 0}), {
		attempt: 1,
		exitCode: 0,
		signal: undefined,
		startedAtMs: 5,
		finishedAtMs: 5,
		reason: 'Completed',
		handle: 'docker://a',
		imageId: 'sha256:b',
	});
	t.like(exitOf({...ended, exitCode: 143}), {signal: 15, reason: 'Error'});
	t.like(exitOf({...ended, exitCode: 128}), {signal: undefined});
	t.like(exitOf({...ended, exitCode: 255}), {signal: undefined});
	t.like(exitOf({...ended, exitCode: 137, wasOomKilled: true}), {signal: 9, reason: 'OOMKilled'});
	t.like(exitOf({...ended, exitCode: undefined}), {reason: 'Unknown'});
	t.is(timeOf('0001-01-01T00:00:00Z'), undefined);
	t.is(timeOf('2026-01-01T00:00:00.123456789Z'), Date.UTC(2026, 0, 1, 0, 0, 0, 123));
});

test('the first file of an archive is read, and nothing where it is none', t => {
	t.is(firstFile(tarOf('passwd', Buffer.from('root:x:0:0'))), 'root:x:0:0');
	t.is(firstFile(Buffer.alloc(0)), '');
	t.is(firstFile(Buffer.alloc(2_048, 'x')), '');
});

test('devices are asked for as docker run --gpus does, and who has none is told so where its Engine would give all', t => {
	const device = (index: number, uuid?: string) => ({file: `/dev/nvidia${index}`, index, uuid});
	const env = [{name: 'NVIDIA_VISIBLE_DEVICES', value: 'all'}];
	const made = (devices: ContainerDevices | undefined) => {
		const {Env, HostConfig} = containerOptions(spec({env, ...(devices === undefined ? {} : {devices})}), place);
		return [HostConfig?.DeviceRequests, Env];
	};
	const asked = (...ids: readonly string[]) => [{Driver: 'nvidia', DeviceIDs: ids, Capabilities: [['gpu']]}];
	t.deepEqual(made({own: [device(0, 'GPU-a'), device(2, 'GPU-c')], others: ['/dev/nvidia1']})[0], asked('GPU-a', 'GPU-c'));
	t.deepEqual(made({own: [device(0, 'GPU-a'), device(2)], others: []})[0], asked('0', '2'), 'of one of them no name is known');
	t.deepEqual(made({own: [], others: ['/dev/nvidia0']}), [undefined, ['NVIDIA_VISIBLE_DEVICES=void']]);
	t.deepEqual(made(undefined), [undefined, ['NVIDIA_VISIBLE_DEVICES=all']], 'the host has none');
});
