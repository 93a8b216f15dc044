// What a node's side of the tests starts from.

import type {ContainerExit, RunningContainer, Sandbox} from '../../actors/node/runtime/runtime-port.js';
import type {RuntimeInfo} from '../../actors/protocol/runtime-info.js';
import {syncProtocol, type Assignment, type Hello} from '../../actors/protocol/sync-message.js';
import {aContainer, nowMs} from './_objects.js';

export const aRuntimeInfo = (overrides: Partial<RuntimeInfo> = {}): RuntimeInfo => ({
	name: 'process',
	version: '0.1.0',
	cpuMillis: 2000,
	memoryBytes: 4_294_967_296,
	maxPods: 110,
	features: [],
	conditions: [{type: 'SharedNetwork', reason: 'NoNamespaces', message: 'pods share the network of the host'}],
	hostIP: '127.0.0.1',
	hostBootId: 'boot-of-the-host',
	os: 'Debian',
	kernel: '6.1',
	architecture: 'amd64',
	...overrides,
});

export const aHello = (overrides: Partial<Hello> = {}): Hello => ({
	type: 'hello',
	protocol: syncProtocol,
	node: 'node-a',
	labels: {},
	session: 'session-1',
	epoch: 7,
	lineage: 'ours',
	have: {},
	info: aRuntimeInfo(),
	...overrides,
});

export const sandbox: Sandbox = {podIP: '127.1.0.5', hostIP: '127.0.0.1'};

export const anAssignment = ({
	spec,
	...overrides
}: Partial<Omit<Assignment, 'spec'>> & {spec?: Partial<Assignment['spec']>} = {}): Assignment => ({
	namespace: 'default',
	name: 'web',
	uid: 'uid-of-web',
	labels: {},
	annotations: {},
	nodeName: 'node-a',
	deletionGraceSeconds: undefined,
	spec: {containers: [aContainer()], restartPolicy: 'Always', terminationGracePeriodSeconds: 30, nodeName: 'node-a', ...spec},
	...overrides,
});

export const aRunningContainer = (attempt = 0): RunningContainer => ({
	attempt,
	pid: 100 + attempt,
	startedAtMs: nowMs,
	handle: `h${attempt}`,
});

export const anExit = (overrides: Partial<ContainerExit> = {}): ContainerExit => ({
	attempt: 0,
	exitCode: 1,
	signal: undefined,
	startedAtMs: nowMs - 1000,
	finishedAtMs: nowMs,
	reason: 'Error',
	...overrides,
});
