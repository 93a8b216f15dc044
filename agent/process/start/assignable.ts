// Which instances of functions a runner that waits already can become, and what it is told then.
//
// What it keeps true: what it becomes is what the shim of a start of its own would have made of it. Whatever needs more than that (a terminal, an
// input, volumes, a lease, variables that are read before a program begins) has a start of its own.

import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {limits} from '../../../api/limits.js';
import type {RunnerConfig} from '../../functions/runners/runner-config.js';
import {isReadAtStart, type Assignment, type NodeAssignment, type PythonAssignment} from '../../functions/warm/assignment.js';
import type {WarmWish} from '../../functions/warm/wish.js';
import type {Host} from '../host/host.js';
import type {MountPlan} from '../mounts/mount-plan.js';
import type {MountScript} from '../mounts/mount-script.js';
import type {Drop} from '../users/privileges.js';
import type {ShimCommand} from './shim.js';

export type Assignable = {
	readonly wish: WarmWish;
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
	/** What puts these in place. */
	readonly view: MountScript | undefined;
	/** What this node keeps in memory only, if that is mounted. */
	readonly memory: string | undefined;
};

/** Undefined: no runner that waits can become it. */
export function assignableOf(
	{function: instance, tty, stdin, readOnlyRoot, mounts: asked, memoryLimitBytes}: OpenedSpec,
	host: Host,
	beginnings: Beginnings,
): Assignable | undefined {
	const {drop, isAgent, deadline, mounts, env, program} = beginnings;
	// Only names of the node's own may be in the place of files.
	const isPlain =
		asked.length === 0 && !readOnlyRoot && (mounts === undefined || (mounts.covers.length === 0 && mounts.hidden.length === 0));
	if (instance === undefined || instance.runtime === 'program' || tty || stdin || !isPlain || deadline !== undefined) return undefined;
	if (isAgent || drop.user.uid === 0 || host.agent.uid !== 0 || host.namespaces === undefined) return undefined;
	const {runtime: language} = instance;
	if (env.some(([name]) => isReadAtStart(name, language))) return undefined;
	if (language === 'nodejs' && !mayBeNode(host, beginnings)) return undefined;
	const assignment = language === 'python' ? ofPython(host, beginnings) : ofNode(host, beginnings);
	return {
		wish: {language, program, memoryBytes: language === 'nodejs' ? memoryLimitBytes : undefined},
		line(config) {
			const line = `${JSON.stringify({...assignment, config})}\n`;
			return Buffer.byteLength(line) > limits.warmRunnerLineBytes ? undefined : line;
		},
	};
}

/** Node.js sets no limits of its own, and what waits gains no rights. Only the agent's own waits. */
const mayBeNode = ({noGain}: Host, {program, drop, dataKib}: Beginnings): boolean =>
	noGain !== undefined && !drop.mayGain && drop.userProcesses === undefined && dataKib === undefined && program === process.execPath;

const assignmentOf = ({bootId}: Host, {drop, env, directory, startedAtMs, cgroups, mounts}: Beginnings): Omit<Assignment, 'config'> => ({
	startedAtMs,
	bootId,
	cgroups,
	// As the script of a view has it.
	umask: mounts === undefined || mounts.mounts.length === 0 ? null : 0o022,
	user: drop.user,
	groups: drop.groups,
	env,
	directory,
});

function ofPython(host: Host, beginnings: Beginnings): Omit<PythonAssignment, 'config'> {
	const {drop, dataKib, networkFile, mounts, memory} = beginnings;
	return {
		...assignmentOf(host, beginnings),
		network: networkFile === undefined ? null : `${process.pid}/root${networkFile}`,
		files: (mounts?.mounts ?? []).map(({folder, file = '', target}) => [`${folder}/${file}`, target]),
		hidden: mounts === undefined || memory === undefined ? [] : [memory],
		mayGain: drop.mayGain,
		dataBytes: dataKib === undefined ? null : dataKib * 1_024,
		userProcesses: drop.userProcesses ?? null,
	};
}

const ofNode = (host: Host, beginnings: Beginnings): Omit<NodeAssignment, 'config'> => ({
	...assignmentOf(host, beginnings),
	view: beginnings.view === undefined ? null : {text: beginnings.view.text, words: beginnings.view.words},
});

/** The environment of a shim that was spawned with its program, as the file of one that was not has it. */
export const givenText = ({env}: ShimCommand): string =>
	Object.entries(env)
		.map(([name, value]) => `${name}=${value}\0`)
		.join('');
