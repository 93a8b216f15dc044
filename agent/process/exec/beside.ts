// Starts a program beside that of a container: as the same user, with the same environment, directory, mounts and control groups.
//
// As with the shim nothing of a user is parsed by a shell, and variables become themselves only in the last process before the program.

import {spawn, type ChildProcess} from 'node:child_process';
import type {Stock} from '../attempts/stock.js';
import type {Host} from '../host/host.js';
import {defaultTerm, type Terminal} from '../host/terminal.js';
import {stageText, unusedPrefix, type ShimCommand} from '../start/shim.js';
import {isolatedStdio} from '../../os/isolated-stdio.js';
import {isSameUser} from '../../os/user.js';

import {viewDescriptor, type Entering} from './entering.js';
import {openPipes, type Pipes} from './pipes.js';
import type {RunningProgram} from './running-program.js';
import type {TerminalSize} from '../../terminal-size.js';

export type Beside = {
	readonly argv: readonly string[];
	readonly stdin: boolean;
	/** A new one, and the program that makes it. */
	readonly terminal: (TerminalSize & Pick<Terminal, 'script'>) | undefined;
	/** Files `cgroup.procs` to join. */
	readonly procsFiles: readonly string[];
	readonly entering: Entering;
};

const shell = '/bin/sh';

/** What is spawned. The environment of the first processes holds nothing that a loader, a library or a shell reads. */
export function besideCommand(
	{argv, stdin, terminal, procsFiles, entering: {folder, view, words: enteringWords}}: Beside,
	{env: variables, drop: {userProcesses}}: RunningProgram,
	searchPath: string,
): ShimCommand {
	const env = terminal === undefined || variables.some(({name}) => name === 'TERM') ? variables : [...variables, defaultTerm];
	const prefix = unusedPrefix(env);
	const stage = `exec ${viewDescriptor}<&-\n${stageText({env, userProcesses}, prefix)}`;
	const values = Object.fromEntries(env.map(({name, value}, index) => [`${prefix}${index + 1}`, `${name}=${value}`]));
	const words = terminal === undefined ? [] : argv;
	const last =
		terminal === undefined
			? [shell, '-c', ...(stdin ? [inputText, 'sh'] : []), stage, ...(stdin ? [] : ['sh']), ...argv]
			: // Echo as in a terminal, though our end of it is none; the program's exit code; nothing of its own in the output.
				[
					terminal.script,
					'--quiet',
					'--return',
					'--flush',
					'--echo',
					'always',
					'--command',
					terminalText(stage, words.length, prefix, terminal),
					'/dev/null',
				];
	return {
		file: shell,
		args: ['-c', joinText(procsFiles.length, view), 'troupe-exec', ...procsFiles, folder, ...enteringWords, ...last],
		env: {...values, [`${prefix}0`]: searchPath, ...Object.fromEntries(words.map((word, index) => [`${prefix}w${index + 1}`, word]))},
	};
}

/**
 * A pipe that the program may open again by /dev/stdin, which is its own and ends when what is handed on does: to open a FIFO that no
 * process writes to any more would wait for ever. What hands it on holds none of the program's output open.
 */
const inputText = `stage=$1
shift
{ /bin/cat <&3 3<&- 2>/dev/null & } 3<&0 | exec ${shell} -c "$stage" sh "$@"`;

/** script(1) takes one text for a shell: ours. The user's words are values of variables of it. */
function terminalText(stage: string, words: number, prefix: string, {rows, columns}: TerminalSize): string {
	const names = Array.from({length: words}, (_, index) => `${prefix}w${index + 1}`);
	return [
		`stty rows ${rows} cols ${columns} 2>/dev/null`,
		`set -- ${names.map(name => `"$${name}"`).join(' ')}`,
		`unset ${names.join(' ')} SHELL`,
		stage,
	].join('\n');
}

/**
 * The folder is entered here, and not by whom the agent has to wait for: the way there may be one that never answers. The view is that of the
 * node and the pod's volumes as long as its program is in the agent's user namespace, to which it cannot return. One that has left it may have
 * put anything in the place of what begins there as root.
 */
const joinText = (groups: number, view: string | undefined): string => `${Array.from(
	{length: groups},
	(_, index) => `echo 0 2>/dev/null >"\${${index + 1}}" || {
echo 'exec: the container is over' >&2
exit 126
}
`,
).join('')}${groups === 0 ? '' : `shift ${groups}\n`}cd "$1" 2>/dev/null || {
echo 'exec: the folder of the program cannot be entered' >&2
exit 126
}
shift
${view === undefined ? '' : viewText(view)}exec "$@"`;

/** `view` is a path of ours: nothing in it means anything to a shell. */
const viewText = (view: string): string => `command exec ${viewDescriptor}<${view}/mnt && [ ${view}/user -ef /proc/self/ns/user ] || {
echo 'exec: the program has gone to namespaces of its own making' >&2
exit 126
}
`;

export type Spawned = {readonly child: ChildProcess; readonly pipes: Pipes};

/** In a group and a session of its own. Throws errno exceptions. */
export function spawnBeside(beside: Beside, program: RunningProgram, host: Host, stock: Stock): Spawned {
	const {file, args, env} = besideCommand(beside, program, host.path);
	const {user} = program.drop;
	const isAgent = isSameUser(user, host.agent);
	const {pipes, forChild, close} = openPipes(stock, beside.stdin, isAgent ? undefined : user);
	// As with the shim: where nothing drops rights, all of it runs as the user.
	const asUser = isAgent || host.dropper !== undefined ? {} : user;
	const isolated = isolatedStdio(forChild);
	try {
		return {child: spawn(file, args, {cwd: '/', env, detached: true, stdio: isolated.stdio, ...asUser}), pipes};
	} catch (error) {
		pipes.destroy();
		throw error;
	} finally {
		isolated.close();
		close();
	}
}

/** SIGKILL to the group of such a program, and to the one that its terminal has made. */
export function killBeside({pid}: ChildProcess, inTerminal: number | undefined): void {
	for (const leader of [inTerminal, pid]) {
		try {
			if (leader !== undefined && leader > 1) process.kill(-leader, 'SIGKILL');
		} catch {
			// Over.
		}
	}
}
