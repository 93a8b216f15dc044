// What it costs an agent to measure its pods: one sample of 100 pods of processes, in processor time of this process, and of a processor when there is one
// each some seconds. The floor is to read as many small files of the kernel as have to be read, and nothing else.

import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createProcessRuntime, type ProcessRuntime} from '../agent/process-runtime.js';
import {readSmall} from '../agent/usage/small-file.js';
import {stopEverything} from '../agent/process/containers/stop-everything.js';
import type {ContainerSpec, RuntimeCommand, RuntimeResults, SandboxSpec} from '../actors/node/runtime/runtime-port.js';
import {AppError, type Outcome} from '../api/errors.js';
import {limits} from '../api/limits.js';
import {systemClock} from '../system/time/clock.js';
import type {Benchmark} from './harness/benchmark.js';
import {ratios, type Row} from './harness/table.js';

const pods = 100;
const defaultRounds = 60;
/** Of a pod of one container: the group's processes, its processor time, two of memory, and what each of its two processes has read and written. */
const filesOfPod = 6;

export const usageBenchmark: Benchmark = {
	name: 'usage',
	about: `one sample of ${pods} pods of processes`,
	async run({rounds = defaultRounds}, scope) {
		const directory = await mkdtemp(path.join(tmpdir(), 'troupe-bench-usage-'));
		const runtime = createProcessRuntime({directory, clock: systemClock, path: process.env['PATH'], onWarning: () => undefined});
		scope.defer(async () => {
			await runtime.close();
			await stopEverything(directory, {clock: systemClock, graceMs: 0});
			await rm(directory, {recursive: true, force: true});
		});
		for (let pod = 0; pod < pods; pod++) await begin(runtime, `uid-${pod}`);
		const ours: number[] = [];
		const floor: number[] = [];
		let containers = 0;
		for (let round = 0; round < rounds; round++) {
			ours.push(await cpuMs(async () => void (containers = (await asked(runtime, {type: 'usage.read'})).containers.length)));
			floor.push(
				await cpuMs(() => {
					for (let file = 0; file < pods * filesOfPod; file++) readSmall('/proc/self/stat');
					return Promise.resolve();
				}),
			);
		}
		return rowsOf(ours, floor, containers);
	},
};

const rowsOf = (ours: readonly number[], floor: readonly number[], containers: number): readonly Row[] => [
	{what: `a sample of ${containers} containers`, values: ours, unit: 'ms of a processor'},
	{what: `as many small files read (${pods * filesOfPod})`, values: floor, unit: 'ms of a processor'},
	{what: 'the sample, by the files', values: ratios(ours, floor), unit: 'x'},
	{
		what: `of a processor, with a sample each ${limits.usageSampleMs / 1_000} s`,
		values: ours.map(ms => (100 * ms) / limits.usageSampleMs),
		unit: '%',
		goal: {atMost: 0.5},
	},
];

async function cpuMs(act: () => Promise<void>): Promise<number> {
	const before = process.cpuUsage();
	await act();
	const {user, system} = process.cpuUsage(before);
	return (user + system) / 1_000;
}

async function begin(runtime: ProcessRuntime, uid: string): Promise<void> {
	await asked(runtime, {type: 'sandbox.ensure', spec: sandboxOf(uid)});
	await asked(runtime, {type: 'container.start', spec: containerOf(uid)});
}

const sandboxOf = (uid: string): SandboxSpec => ({
	...{uid, namespace: 'default', name: uid, hostname: uid, controller: `default/Pod/${uid}`, runtimeClass: 'process'},
	...{shareProcessNamespace: false, hostNetwork: false, hostPID: false, hostIPC: false, hostAliases: [], hostPorts: []},
});

const containerOf = (uid: string): ContainerSpec => ({
	...{id: {uid, container: 'main'}, namespace: 'default', podName: uid, attempt: 0, image: 'program', imageId: undefined},
	...{argv: ['sleep', 'infinity'], env: [], workingDir: undefined, tty: false, stdin: false},
	...{runAsUser: undefined, runAsGroup: undefined, runAsNonRoot: false, allowPrivilegeEscalation: false, privileged: false},
	...{capabilities: {add: [], drop: []}, seccomp: 'default', groups: [], groupsPolicy: 'Merge', mounts: [], readOnlyRoot: false},
	...{memoryLimitBytes: undefined, cpuRequestMillis: undefined, cpuLimitMillis: undefined},
});

function asked<Type extends RuntimeCommand['type']>(
	runtime: ProcessRuntime,
	command: Extract<RuntimeCommand, {type: Type}>,
): Promise<RuntimeResults[Type]> {
	return new Promise((resolve, reject) => {
		runtime.run<Type>(command, (outcome: Outcome<RuntimeResults[Type]>) => {
			if (outcome.ok) resolve(outcome.value);
			else reject(AppError.of(outcome.error));
		});
	});
}
