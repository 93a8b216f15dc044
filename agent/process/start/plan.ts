// From the spec of a container to what is spawned, or to the reason why it cannot be.
//
// Everything that can be known beforehand is checked here, so that a container that cannot start is an answer with a reason
// and not an exit with a number.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {Host} from '../host/host.js';
import {defaultTerm} from '../host/terminal.js';
import {mountScript, type MountTools} from '../mounts/mount-script.js';
import {withDeviceVariables} from '../../devices/variables.js';
import {planMounts, seenBy, type MountPlan, type Wanted} from '../mounts/mount-plan.js';
import {isSameUser, type User} from '../../os/user.js';
import {chooseUser, type Drop} from '../users/privileges.js';
import {assignableOf} from './assignable.js';
import {findProgram, obstacleToDirectory, type ProgramSearch} from './programs.js';
import {isOdd, isUnsayable, shimCommand, shimDescriptors, type Launch, type View} from './shim.js';
import {dropInView, rightsOf} from './rights.js';
import type {SpawnPlan} from './spawn.js';

const defaultDirectory = '/';

/** What a start is given beside its spec. */
export type Start = Pick<Launch, 'startedAtMs' | 'deadline' | 'cgroups' | 'dataKib' | 'inputEnd' | 'enterNetwork'> & {
	/** Of the pod's volumes, and where mounts are put together. */
	readonly around: Omit<Wanted, 'mounts' | 'readOnlyRoot' | 'podHome'>;
	/** The user of the pod, where the node has given it one. */
	readonly own: User | undefined;
	/** The most processes that it may have. */
	readonly userProcesses: number | undefined;
	/** The folder of the pod's own for programs of a user; undefined: there is none. */
	readonly homeOf: (user: User) => string | undefined;
	/** What this node keeps in memory only, if that is mounted. */
	readonly memory: string | undefined;
	/** The network namespace of the pod; undefined: it has the node's. */
	readonly networkFile: string | undefined;
};

/** Fails with ERR_BAD_REQUEST for what no host could run and with ERR_RUNTIME for what this one cannot. */
export function planOf(
	spec: OpenedSpec,
	host: Host,
	{around, own, userProcesses, homeOf, ...start}: Start,
): Outcome<Omit<SpawnPlan, 'folder' | 'attempt'>> {
	const name = spec.id.container;
	const problem = problemOf(spec);
	if (problem !== undefined) return failed('ERR_BAD_REQUEST', {message: `container "${name}": ${problem}`});
	const refused = (reason: string): ReturnType<typeof failed> =>
		failed('ERR_RUNTIME', {message: `container "${name}" cannot start: ${reason}`});
	if (spec.tty && host.terminal === undefined) return refused('it asks for a tty, and this node has no script(1) of util-linux that works');

	const choice = whoRuns(spec, host, own, userProcesses);
	if (!choice.ok) return refused(choice.reason);
	const {who} = choice;
	if (host.mountTools === undefined && (spec.mounts.length > 0 || spec.readOnlyRoot)) return refused(noMounts(spec, host));
	const podHome = homeOf(who.drop.user);
	// Where nothing can be mounted the node says that all pods can open them.
	const mayClose = host.mountTools !== undefined;
	const closed = mayClose ? spec.devices?.others : [];
	const seen = planMounts({...around, mounts: spec.mounts, readOnlyRoot: spec.readOnlyRoot, podHome, closed});
	if (!seen.ok) return refused(seen.reason);
	if (spec.function !== undefined && (spec.readOnlyRoot || (seen.plan !== undefined && seen.plan.podHome === undefined)))
		return refused('it is an instance of a function, and needs its own folder: with nothing mounted over it, and not read-only');
	// What it has mounted over its folder hides that.
	const home = (seen.plan === undefined ? podHome : seen.plan.podHome) ?? defaultDirectory;
	const directory = spec.workingDir ?? home;
	const environment = environmentOf({...spec, env: withDeviceVariables(spec, mayClose)}, home, host.path);
	const program = programOf(spec, directory, environment, who, seen.plan);
	if (!program.ok) return refused(program.reason);
	return succeeded(spawnPlanOf(spec, host, {...start, ...who, program: program.file, directory, environment, mounts: seen.plan}));
}

/** Who a container runs as, and the words that make its program so. */
type Who = {readonly drop: Drop; readonly isAgent: boolean; readonly words: readonly string[] | undefined};

function whoRuns(
	spec: OpenedSpec,
	host: Host,
	own: User | undefined,
	userProcesses: number | undefined,
): {readonly ok: true; readonly who: Who} | {readonly ok: false; readonly reason: string} {
	const choice = chooseUser(host.agent, {own, uid: spec.runAsUser, gid: spec.runAsGroup, isNonRoot: spec.runAsNonRoot});
	if (!choice.ok) return choice;
	const {user} = choice;
	const drop: Drop = {
		user,
		groups: spec.groups.filter(group => group !== user.gid),
		userProcesses: user.uid === own?.uid ? userProcesses : undefined,
		// What set-user-ID files trust, /etc/shadow and the like, may be a volume.
		mayGain: spec.allowPrivilegeEscalation && spec.mounts.length === 0,
	};
	const rights = rightsOf(host, drop);
	if (!rights.ok) return rights;
	return {ok: true, who: {drop, isAgent: isSameUser(user, host.agent), words: rights.drop}};
}

/** What its user begins in that directory, or what is in the way. */
function programOf(
	{argv}: OpenedSpec,
	directory: string,
	{env, searchPath}: Environment,
	{drop, isAgent}: Who,
	mounts: MountPlan | undefined,
): ProgramSearch {
	const looker = {user: drop.user, isAgent, groups: drop.groups, seen: seenBy(mounts)};
	const obstacle = obstacleToDirectory(directory, looker);
	if (obstacle !== undefined) return {ok: false, reason: obstacle};
	const program = findProgram(argv[0] ?? '', searchPath, directory, looker);
	if (!program.ok || !isUnsayable(program.file, env)) return program;
	const reason = `the path of its program, "${program.file}", has a "=" and so cannot be combined with the names of its variables`;
	return {ok: false, reason};
}

type Decided = Pick<Launch, 'startedAtMs' | 'deadline' | 'cgroups' | 'dataKib' | 'inputEnd' | 'enterNetwork' | 'directory'> &
	Pick<Start, 'memory' | 'networkFile'> &
	Who & {readonly program: string; readonly environment: Environment; readonly mounts: MountPlan | undefined};

function spawnPlanOf(spec: OpenedSpec, host: Host, decided: Decided): Omit<SpawnPlan, 'folder' | 'attempt'> {
	const {drop, isAgent, words, program, directory, environment, mounts, memory, networkFile, ...start} = decided;
	const {startedAtMs, deadline, cgroups = [], dataKib} = start;
	const env = environment.env.map(({name, value}) => [name, value] as const);
	const {user} = drop;
	const view = mounts === undefined || host.mountTools === undefined ? undefined : viewOf(mounts, host.mountTools, host, memory);
	return {
		command: shimCommand({
			argv: spec.argv,
			env: environment.env,
			path: host.path,
			directory,
			drop: mounts === undefined ? words : dropInView(host, words, drop),
			bootId: host.bootId,
			userProcesses: drop.userProcesses,
			view,
			namespaces: host.namespaces,
			terminal: spec.tty && host.terminal !== undefined ? {...host.terminal, owner: isAgent ? undefined : user.uid} : undefined,
			...start,
		}),
		input: spec.stdin ? 'kept' : spec.tty ? 'open' : 'none',
		isApart: host.namespaces !== undefined,
		privateRoot: mounts !== undefined && mounts.covers.length > 0 ? mounts.root : undefined,
		beginning: {...drop, directory, ...environment.shown},
		logOwner: isAgent ? undefined : user,
		shimUser: isAgent || host.dropper !== undefined ? undefined : user,
		assignable: assignableOf(spec, host, {
			...{program, drop, isAgent, env, directory, startedAtMs, deadline, cgroups, dataKib, networkFile, mounts, view, memory},
		}),
	};
}

type Environment = Pick<Launch, 'env'> & {
	/** Where its first word is looked up. */
	readonly searchPath: string;
	/** What may be told of it. */
	readonly shown: Pick<SpawnPlan['beginning'], 'home' | 'path'>;
};

/** What its spec says, and what every program has where that says nothing. */
function environmentOf({env, tty}: OpenedSpec, home: string, path: string): Environment {
	const variableOf = (name: string) => env.findLast(variable => variable.name === name);
	const usual = [...(tty ? [defaultTerm] : []), {name: 'HOME', value: home}, {name: 'PATH', value: path}];
	/** Of a Secret no value is shown. */
	const shownValue = (name: string, otherwise: string): string =>
		env.some(variable => variable.name === name && variable.isSecret === true) ? '<from a secret>' : (variableOf(name)?.value ?? otherwise);
	return {
		env: [...usual.filter(({name}) => variableOf(name) === undefined), ...env],
		searchPath: variableOf('PATH')?.value ?? path,
		shown: {home: shownValue('HOME', home), path: shownValue('PATH', path)},
	};
}

const noMounts = ({mounts}: OpenedSpec, {agent}: Host): string =>
	`it asks for ${mounts.length > 0 ? 'volumes' : 'a read-only root'}, and this node gives ${agent.uid === 0 ? 'the agent no mount namespaces' : 'an agent that is not root no user namespaces in which it could mount them'}`;

const viewOf = (plan: MountPlan, tools: MountTools, {namespaces}: Host, memory: string | undefined): View => ({
	unshare: namespaces === undefined ? tools.unshare : undefined,
	...mountScript(plan, tools, {memory, stateDescriptor: shimDescriptors.state}),
});

/** What no kernel takes. */
function problemOf({argv, env, attempt, workingDir}: OpenedSpec): string | undefined {
	if (!Number.isSafeInteger(attempt) || attempt < 0) return `attempt must be a whole number from 0, got ${attempt}`;
	if ([...argv, workingDir ?? ''].some(word => word.includes('\0'))) return 'command, args and workingDir must not hold NUL characters';
	const wrong = env.find(({name, value}) => name === '' || /[=\0]/.test(name) || value.includes('\0'));
	if (wrong !== undefined)
		return `the name of a variable must not be empty or hold "=" or NUL, nor its value NUL, got the name ${JSON.stringify(wrong.name)}`;
	const odd = env.find(({name, isSecret}) => isSecret === true && isOdd(name));
	if (odd !== undefined)
		return `variable ${JSON.stringify(odd.name)} gets its value from a Secret, so its name must be letters, digits and "_", not starting with a digit, and none that shells use: another one would be set where all users of the node can read it`;
	return undefined;
}
