// Which instances of functions a runner that waits already can become, and what it is told then.
//
// What it keeps true: what it becomes is what the shim of a start of its own would have made of it. Whatever needs more than that (a terminal, an
// input, volumes, a lease, variables that are read before a program begins) has a start of its own.

import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {limits} from '../../../api/limits.js';
import type {RunnerConfig} from '../../functions/runners/runner-config.js';
import {isReadAtStart, type Assignment} from '../../functions/warm/assignment.js';
import type {Host} from '../host/host.js';
import type {MountPlan} from '../mounts/mount-plan.js';
import type {Drop} from '../users/privileges.js';
import type {ShimCommand} from './shim.js';

export type Assignable = {
	/** The interpreter. */
	readonly program: string;
	/** What the runner is told, but for its configuration. */
	readonly line: (config: RunnerConfig) => string | undefined;
};

export type Beginnings = {
	readonly program: string;
	readonly drop: Drop;
	readonly isAgent: boolean;
	readonly env: Assignment['env'];
	readonly directory: string;
	readonly startedAtMs: number;
	readonly deadline: number | undefined;
	readonly cgroups: readonly string[];
	readonly dataKib: number | undefined;
	/** A file of the agent's own view. */
	readonly networkFile: string | undefined;
	readonly mounts: MountPlan | undefined;
	/** What this node keeps in memory only, if that is mounted. */
	readonly memory: string | undefined;
};

/** Undefined: no runner that waits can become it. */
export function assignableOf(
	{function: instance, tty, stdin, readOnlyRoot, mounts: asked}: OpenedSpec,
	host: Host,
	beginnings: Beginnings,
): Assignable | undefined {
	const {drop, isAgent, deadline, mounts, env, program} = beginnings;
	// Only names of the node's own may be in the place of files.
	const isPlain =
		asked.length === 0 && !readOnlyRoot && (mounts === undefined || (mounts.covers.length === 0 && mounts.hidden.length === 0));
	if (instance?.runtime !== 'python' || tty || stdin || !isPlain || deadline !== undefined) return undefined;
	if (isAgent || drop.user.uid === 0 || host.agent.uid !== 0 || host.namespaces === undefined) return undefined;
	if (env.some(([name]) => isReadAtStart(name))) return undefined;
	const assignment = assignmentOf(host, beginnings);
	return {
		program,
		line(config) {
			const line = `${JSON.stringify({...assignment, config} satisfies Assignment)}\n`;
			return Buffer.byteLength(line) > limits.warmRunnerLineBytes ? undefined : line;
		},
	};
}

function assignmentOf(
	{bootId}: Host,
	{drop, env, directory, startedAtMs, cgroups, dataKib, networkFile, mounts, memory}: Beginnings,
): Omit<Assignment, 'config'> {
	return {
		startedAtMs,
		bootId,
		cgroups,
		network: networkFile === undefined ? null : `${process.pid}/root${networkFile}`,
		files: (mounts?.mounts ?? []).map(({folder, file = '', target}) => [`${folder}/${file}`, target]),
		hidden: mounts === undefined || memory === undefined ? [] : [memory],
		// As the script of a view has it.
		umask: mounts === undefined || mounts.mounts.length === 0 ? null : 0o022,
		user: drop.user,
		groups: drop.groups,
		mayGain: drop.mayGain,
		dataBytes: dataKib === undefined ? null : dataKib * 1_024,
		userProcesses: drop.userProcesses ?? null,
		env,
		directory,
	};
}

/** The environment of a shim that was spawned with its program, as the file of one that was not has it. */
export const givenText = ({env}: ShimCommand): string =>
	Object.entries(env)
		.map(([name, value]) => `${name}=${value}\0`)
		.join('');
