// What a runner in a container that waits is told to become, and what it can become: one line of JSON over its socket. Its other ends are
// troupe_runner/wait.py and node-wait.ts in agent/functions/runners.
//
// What it keeps true: what it becomes is what a container of the pod's own would have been. What of a container is fixed when it is made has to be
// equal; whatever needs more (volumes, a lease, variables that are read before a program begins) has a container of its own.

import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {limits} from '../../../api/limits.js';
import {fixedVariables} from '../../devices/variables.js';
import {isReadAtStart} from '../../functions/warm/assignment.js';
import type {RunnerConfig} from '../../functions/runners/runner-config.js';
import type {CreateOptions} from '../sandboxes/infra-options.js';

export type Told = {
	/** Beside that of the image. */
	readonly env: Readonly<Record<string, string>>;
	readonly config: RunnerConfig;
};

/** Whether a pod's own words allow it: the rest is known when its container would be made. */
export function canWait({function: instance, mounts, exclusive, env, gpus}: OpenedSpec): boolean {
	const language = instance?.runtime ?? 'program';
	if (language === 'program' || mounts.length > 0 || exclusive === true || gpus !== undefined) return false;
	// The interpreter is looked for in PATH.
	return !env.some(({name}) => name === 'PATH' || isReadAtStart(name, language));
}

/** With its end; undefined: it is too long. */
export function lineOf(told: Told): string | undefined {
	const line = `${JSON.stringify(told)}\n`;
	return Buffer.byteLength(line) > limits.warmRunnerLineBytes ? undefined : line;
}

type Part = NonNullable<CreateOptions['HostConfig']>;

/** What the Engine can change while a container runs. */
const changeable = ['Memory', 'MemorySwap', 'CpuPeriod', 'CpuQuota', 'CpuShares', 'PidsLimit'] as const;

/** What a container has of its pod alone, and another one can be given: by its name, over its socket, or in its files. */
const ofPod: readonly string[] = ['name', 'Labels', 'Env', 'Entrypoint', 'HostConfig'];
const ofHost: readonly string[] = ['NetworkMode', 'IpcMode', 'CgroupParent', 'Mounts', ...changeable];

/** All that is fixed when a container is made, as a text that can be compared. */
export function fixedOf(options: CreateOptions): string {
	const {HostConfig = {}} = options;
	const rest = (from: object, without: readonly string[]) => Object.entries(from).filter(([name]) => !without.includes(name));
	return JSON.stringify([rest(options, ofPod), rest(HostConfig, ofHost), fixedVariables(options.Env)]);
}

/** What is to be changed of the limits of one that was made with others; undefined: a limit would have to go, which the Engine cannot do. */
export function changedLimits({HostConfig: had = {}}: CreateOptions, {HostConfig: wanted = {}}: CreateOptions): Part | undefined {
	if (changeable.some(name => had[name] !== undefined && wanted[name] === undefined)) return undefined;
	if (changeable.every(name => had[name] === wanted[name])) return {};
	return Object.fromEntries(changeable.flatMap(name => (wanted[name] === undefined ? [] : [[name, wanted[name]]])));
}
