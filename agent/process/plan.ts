// From the spec of a container to what is spawned, or to the reason why it cannot be.
//
// Everything that can be known beforehand is checked here, so that a container that cannot start is an answer with a reason
// and not an exit with a number.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {OpenedSpec} from '../../actors/node/runtime-port.js';
import {chooseUser, type Dropper, type User} from './privileges.js';
import {findProgram, obstacleToDirectory} from './programs.js';
import {isOdd, isUnsayable, shimCommand} from './shim.js';
import type {SpawnPlan} from './spawn.js';

export type Host = {
	readonly agent: User;
	/** Undefined: none works, the shim itself runs as the user. */
	readonly dropper: Dropper | undefined;
	/** Where programs are looked up when the container's environment has no PATH. */
	readonly path: string;
	readonly bootId: string;
};

const defaultDirectory = '/';

/** Fails with ERR_BAD_REQUEST for what no host could run and with ERR_RUNTIME for what this one cannot. */
export function planOf(
	spec: OpenedSpec,
	host: Host,
	startedAtMs: number,
	deadline?: number,
): Outcome<Omit<SpawnPlan, 'folder' | 'attempt'>> {
	const name = spec.id.container;
	const problem = problemOf(spec);
	if (problem !== undefined) return failed('ERR_BAD_REQUEST', {message: `container "${name}": ${problem}`});
	const refused = (reason: string): ReturnType<typeof failed> =>
		failed('ERR_RUNTIME', {message: `container "${name}" cannot start: ${reason}`});
	if (spec.tty) return refused('it asks for a tty, which the process runtime does not have');

	const choice = chooseUser(host.agent, {uid: spec.runAsUser, gid: spec.runAsGroup});
	if (!choice.ok) return refused(choice.reason);
	const {user} = choice;
	const isAgent = user.uid === host.agent.uid && user.gid === host.agent.gid;
	const looker = {user, isAgent};
	const directory = spec.workingDir ?? defaultDirectory;
	const obstacle = obstacleToDirectory(directory, looker);
	if (obstacle !== undefined) return refused(obstacle);
	const searchPath = spec.env.findLast(variable => variable.name === 'PATH')?.value ?? host.path;
	const program = findProgram(spec.argv[0] ?? '', searchPath, directory, looker);
	if (!program.ok) return refused(program.reason);
	if (isUnsayable({program: program.file, env: spec.env})) {
		return refused(`the path of its program, "${program.file}", has a "=" and so cannot be combined with the names of its variables`);
	}
	return succeeded({
		command: shimCommand({
			argv: spec.argv,
			program: program.file,
			env: spec.env,
			path: host.path,
			drop: isAgent ? undefined : host.dropper?.(user),
			startedAtMs,
			bootId: host.bootId,
			deadline,
		}),
		directory,
		stdin: spec.stdin,
		logOwner: isAgent ? undefined : user,
		shimUser: isAgent || host.dropper !== undefined ? undefined : user,
	});
}

/** What no kernel takes. */
function problemOf({argv, env, attempt, workingDir}: OpenedSpec): string | undefined {
	if (argv.length === 0) return 'command must name a program, got none';
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
