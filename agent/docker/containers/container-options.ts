// What a container is made with: from its spec to the words of the Engine's API. Pure.

import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {deviceNames, withoutDevices} from '../../devices/variables.js';
import {labelsOf, nameOf, type Made} from '../engine/names.js';
import type {EngineVersion} from '../engine/version.js';
import type {CreateOptions} from '../sandboxes/infra-options.js';

/** One bind: what is at `source` for the Engine is seen at `target`. */
export type Bind = {
	readonly source: string;
	readonly target: string;
	readonly readOnly: boolean;
	/** With what is mounted below it. */
	readonly isDeep: boolean;
};

export type ContainerPlace = {
	readonly owner: string;
	/** The infra container whose namespaces it joins. */
	readonly infra: string;
	readonly sandbox: {
		readonly shareProcessNamespace: boolean;
		readonly hostPID: boolean;
		readonly hostIPC: boolean;
		readonly hostNetwork: boolean;
		readonly hostname: string;
	};
	readonly cgroupParent: string | undefined;
	/** The most processes of it. */
	readonly processes: number;
	/** As the Engine takes it: `1000`, `1000:1000`; '': the image's. */
	readonly user: string;
	/** Beside its own group. */
	readonly groups: readonly number[];
	readonly binds: readonly Bind[];
	readonly engine: EngineVersion['name'];
};

export const madeFrom = ({id, namespace, podName, attempt}: OpenedSpec, owner: string): Made => ({owner, namespace, podName, id, attempt});

export function containerOptions(spec: OpenedSpec, place: ContainerPlace): CreateOptions {
	const made = madeFrom(spec, place.owner);
	const {argv, argsOnly, tty, stdin, stdinOnce, workingDir} = spec;
	return {
		name: nameOf(made),
		Image: spec.imageId ?? spec.image,
		Labels: labelsOf(made),
		// Docker gives it the name of the container whose network it joins, and takes no other.
		...(place.engine === 'Podman' && !place.sandbox.hostNetwork ? {Hostname: place.sandbox.hostname} : {}),
		// With an entry point of its own nothing of the image's command is added.
		...(argv.length === 0 ? {} : argsOnly === true ? {Cmd: [...argv]} : {Entrypoint: [...argv], Cmd: []}),
		Env: withoutDevices(spec).map(({name, value}) => `${name}=${value}`),
		...(workingDir === undefined ? {} : {WorkingDir: workingDir}),
		...(place.user === '' ? {} : {User: place.user}),
		Tty: tty,
		OpenStdin: stdin,
		StdinOnce: stdinOnce === true,
		AttachStdin: false,
		AttachStdout: false,
		AttachStderr: false,
		// Probes are the pod's, not the image's.
		Healthcheck: {Test: ['NONE']},
		HostConfig: {
			...joined(place),
			...limitsOf(spec, place),
			...rightsOf(spec, place),
			...devicesOf(spec),
			Mounts: place.binds.map(mountOf),
			RestartPolicy: {Name: 'no'},
			// A buffer: what is kept is the copy of the agent.
			LogConfig: {Type: 'json-file', Config: {'max-size': '10m', 'max-file': '2'}},
		},
	};
}

type Part = NonNullable<CreateOptions['HostConfig']>;

function joined({infra, sandbox, cgroupParent, engine}: ContainerPlace): Part {
	const pid = sandbox.hostPID ? 'host' : sandbox.shareProcessNamespace ? `container:${infra}` : undefined;
	return {
		NetworkMode: `container:${infra}`,
		...(sandbox.hostNetwork && engine === 'Podman' ? {UTSMode: 'host'} : {}),
		IpcMode: sandbox.hostIPC ? 'host' : `container:${infra}`,
		...(pid === undefined ? {} : {PidMode: pid}),
		...(cgroupParent === undefined ? {} : {CgroupParent: cgroupParent}),
	};
}

/** As the kubelet: a period of 100 ms; shares of 1,024 for a CPU, at least 2. A limit may be above what the host has. */
function limitsOf({memoryLimitBytes, cpuLimitMillis, cpuRequestMillis}: OpenedSpec, {processes}: ContainerPlace): Part {
	const request = cpuRequestMillis ?? cpuLimitMillis;
	return {
		PidsLimit: processes,
		// The same for both: no swap.
		...(memoryLimitBytes === undefined ? {} : {Memory: memoryLimitBytes, MemorySwap: memoryLimitBytes}),
		...(cpuLimitMillis === undefined ? {} : {CpuPeriod: 100_000, CpuQuota: Math.max(1_000, cpuLimitMillis * 100)}),
		...(request === undefined ? {} : {CpuShares: Math.min(262_144, Math.max(2, Math.trunc((request * 1_024) / 1_000)))}),
	};
}

function rightsOf(spec: OpenedSpec, {groups}: ContainerPlace): Part {
	const {privileged, capabilities, seccomp, allowPrivilegeEscalation, readOnlyRoot} = spec;
	const securityOpt = [
		// As in Kubernetes: who may do everything may also gain rights.
		...(allowPrivilegeEscalation || privileged ? [] : ['no-new-privileges:true']),
		...(seccomp === 'unconfined' ? ['seccomp=unconfined'] : []),
	];
	return {
		...(privileged ? {Privileged: true} : {}),
		CapAdd: [...capabilities.add],
		CapDrop: [...capabilities.drop],
		SecurityOpt: securityOpt,
		GroupAdd: groups.map(String),
		ReadonlyRootfs: readOnlyRoot,
	};
}

/** What `docker run --gpus device=…` asks for. */
const devicesOf = ({devices}: OpenedSpec): Part =>
	devices === undefined || devices.own.length === 0
		? {}
		: {DeviceRequests: [{Driver: 'nvidia', DeviceIDs: [...deviceNames(devices)], Capabilities: [['gpu']]}]};

/** dockerode's types do not know NonRecursive. */
export function mountOf({source, target, readOnly, isDeep}: Bind): NonNullable<Part['Mounts']>[number] {
	const options = {Propagation: 'rprivate' as const, NonRecursive: !isDeep};
	return {Type: 'bind', Source: source, Target: target, ReadOnly: readOnly, BindOptions: options};
}
