// One small shell stands over each container, so that its end is known whether or not an agent lives.
//
// What it keeps true: nothing of a user is parsed by a shell: words are positional arguments, variables travel as values of
// T1, T2, ... and become themselves only in the last process before the program, which has the program's rights. The record
// of the process is on disk before the program runs, its exit code after it ended, and the group is killed by the shim itself.

import {refusedWord} from '../attempts/refused.js';
import {asOwnerWords, mountWords, shimWords, type Namespaces} from '../host/namespaces.js';
import {endsWithParent, terminalSetup, underTerminal, type Terminal} from '../host/terminal.js';
import type {MountScript} from '../mounts/mount-script.js';

/**
 * Descriptors of the shim. The program gets none of them; `proc`, the node's /proc, is there only where the shim has another one. A shim that
 * was spawned before its program was known has two more: `given` stands for its environment, on `control` its program is told what to be.
 */
export const shimDescriptors = {state: 3, lifeline: 4, proc: 5, given: 6, control: 7} as const;

export type Launch = {
	readonly argv: readonly string[];
	readonly env: readonly {readonly name: string; readonly value: string}[];
	/** Where to look up the first word when `env` has no PATH. */
	readonly path: string;
	/** What drops privileges, words before the program; undefined: the program runs as the shim does. */
	readonly drop: readonly string[] | undefined;
	readonly startedAtMs: number;
	readonly bootId: string;
	/** The uptime, in 1/100 s, at which the program is not begun any more: the end of its pod's lease. */
	readonly deadline?: number | undefined;
	/** Files `cgroup.procs` that the program joins before it begins; where they cannot be opened, the attempt is refused. At most four. */
	readonly cgroups?: readonly string[] | undefined;
	/** The most of data that each process of the program may have, where no cgroup bounds its memory. */
	readonly dataKib?: number | undefined;
	/** The most processes of its user, in all that runs as that user. */
	readonly userProcesses?: number | undefined;
	/** A FIFO: a line that the agent writes into it ends the program's input, a FIFO too, which stays open until then. */
	readonly inputEnd?: string | undefined;
	/** A view of the node's files of its own. */
	readonly view?: View | undefined;
	/** Where the program begins, as it sees it. */
	readonly directory: string;
	/** It sees its own processes only; undefined: those of the node. */
	readonly namespaces?: Namespaces | undefined;
	/** Words before the shim, which take it to the network of its pod; undefined: it has the node's. */
	readonly enterNetwork?: readonly string[] | undefined;
	/** Its stdin, stdout and stderr are a terminal, which belongs to that user; undefined: to the agent's. */
	readonly terminal?: (Terminal & {readonly owner: number | undefined}) | undefined;
};

export type View = MountScript & {
	/** What makes a mount namespace for it; undefined: the shim has one of its own. */
	readonly unshare: string | undefined;
};

export type ShimCommand = {readonly file: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>};

const shell = '/bin/sh';

/**
 * The program runs in the foreground: what a shell starts in the background would ignore SIGINT and SIGQUIT for ever. The
 * price is that a signal to the shim alone changes nothing until the program has ended; stopping goes to the program itself.
 * What is left of the group is killed by the shim, or by the kernel where the shim was the first of a namespace.
 */
const shimText = (
	cgroups: number,
	hasInput: boolean,
	isFirst: boolean,
	launch: string,
	after = '',
): string => `trap : HUP INT QUIT USR1 USR2 PIPE ALRM TERM
${each(cgroups, checkText)}${hasInput ? inputText(cgroups + 1) : ''}(
${hasInput ? closeInputText : ''}${each(cgroups, openText)}${cgroups > 0 || hasInput ? `shift ${cgroups + (hasInput ? 1 : 0)}\n` : ''}${launch}
)
echo "exit $?" >&${shimDescriptors.state}
${after}${each(cgroups, emptyText)}${isFirst ? '' : 'kill -s KILL 0'}`;

const each = (count: number, text: (index: number) => string): string => Array.from({length: count}, (_, index) => text(index)).join('');

/** What is refused before its process was written down is no attempt; the command that asked for it is answered with the reason. */
const checkText = (index: number): string => `[ -w "\${${index + 1}}" ] || {
echo "${refusedWord} its limits cannot be set: \${${index + 1}} cannot be written" >&${shimDescriptors.state}
exit 1
}
`;

/** The files are opened where they are seen; a view of the node need not have them. */
const openText = (index: number): string => `exec ${groupDescriptor(index)}>"\${${index + 1}}"\n`;

const groupDescriptor = (index: number): number => 6 + index;

/**
 * The process joins by itself, and after it was told of, for the kernel lets it wait for some milliseconds. The shim stays outside: it lives
 * on when the kernel kills for want of memory, and when all of the group is killed.
 */
const joinText = (index: number): string => `echo 0 >&${groupDescriptor(index)} || exit 126
exec ${groupDescriptor(index)}>&-
`;

/** What has left the process group ends, too. Trees of version 1 have no such file; there it is the agent that kills. */
const emptyText = (index: number): string => `echo 1 2>/dev/null >"\${${index + 1}%procs}kill"
`;

/**
 * A process of the group holds the writing end of the program's input until it is told not to. It reads from the shim's own end of the
 * FIFO that tells it, so it is over with the shim, whatever that was ended by. Both FIFOs are opened for reading and writing first,
 * for that never waits; the input by the name that the shim's stdin has.
 */
const inputText = (word: number): string => `command exec 6<>"\${${word}}" 7<"\${${word}}" 8>"\${${word}}" 6>&- 9>/proc/self/fd/0
(
exec ${shimDescriptors.state}>&- ${shimDescriptors.lifeline}>&- ${shimDescriptors.proc}>&- 8>&-
read -r line <&7
) &
exec 9>&- 7<&-
`;

const closeInputText = 'exec 8>&-\n';

/** Goes on in a mount namespace of its own, which hears of what is unmounted on the node. */
function inView({unshare, text, words: ofView}: View, {text: rest, words: ofRest, env}: ShellText): ShellText {
	const inside = `${text}${rest}`;
	const words = [...ofView, ...ofRest];
	if (unshare === undefined) return {text: inside, words, env};
	const outside = `text=$1\nshift\nexec ${mountWords(unshare).join(' ')} -- ${shell} -c "$text" sh "$@"`;
	return {text: outside, words: [inside, ...words], env};
}

/** Not by whom the agent has to wait for: the way there may be one that never answers. */
const inDirectory = (directory: string, {text, words, env}: ShellText): ShellText => ({
	text: `cd -- "$1" 2>/dev/null || {
printf '${refusedWord} working directory "%s" cannot be entered\\n' "\${1%%
*}" >&${shimDescriptors.state}
exit 1
}
shift
${text}`,
	words: [directory, ...words],
	env,
});

/**
 * A write to the lifeline says that the state file has news; its end says that the shim is gone. The pid is told first, from
 * a short file: shells read byte by byte, and the agent need not wait for the long one.
 */
const beginText = (
	cgroups: number,
	deadline: number | undefined,
	proc: string,
	launch: string,
): string => `while read -r key pid; do [ "$key" = Pid: ] && break; done <${proc}/self/status
echo "running $1 $2 $pid" >&${shimDescriptors.state}
echo >&${shimDescriptors.lifeline}
read -r stat <${proc}/self/stat
echo "process $stat" >&${shimDescriptors.state}
echo >&${shimDescriptors.lifeline}
${each(cgroups, joinText)}${deadline === undefined ? '' : leaseText(deadline)}stage=$3
shift 3
exec 2>&1 ${shimDescriptors.state}>&- ${shimDescriptors.lifeline}>&- ${shimDescriptors.proc}>&-
${launch}`;

/**
 * The last look at the lease is after the process was written down: whatever held it up before, a watchdog that strikes after this look
 * finds the process, and one that has struck lets it not begin.
 */
const leaseText = (deadline: number): string => `read -r up rest </proc/uptime
now=\${up%.*}\${up#*.}
[ "$now" -lt ${deadline} ] || exit 137
`;

/** What to spawn for a container. The environment of the shim holds nothing that a loader, a library or a shell reads. */
export function shimCommand(launch: Launch): ShimCommand {
	const {cgroups = [], inputEnd, view, terminal, namespaces} = launch;
	const prefix = unusedPrefix(launch.env);
	const stage = stageText(launch, prefix);
	const before = [
		...(namespaces === undefined ? [] : asOwnerWords(namespaces)),
		...(launch.drop ?? []),
		...(terminal === undefined ? [] : endsWithParent(terminal.setpriv)),
	];
	const last = before.length === 0 ? stage : `exec ${before.join(' ')} ${shell} -c "$stage" sh "$@"`;
	const words = [String(launch.startedAtMs), launch.bootId, stage, ...launch.argv];
	const begun = {
		text: beginText(cgroups.length, launch.deadline, namespaces === undefined ? '/proc' : `/proc/self/fd/${shimDescriptors.proc}`, last),
		words,
		env: {},
	};
	const seen = terminal === undefined ? begun : inTerminal(terminal, begun, prefix);
	const entered = inDirectory(launch.directory, seen);
	const whole = view === undefined ? entered : inView(view, entered);
	const variables = launch.env.map(({name, value}, index): [string, string] => [`${prefix}${index + 1}`, `${name}=${value}`]);
	const [file = shell, ...outside] = [...(launch.enterNetwork ?? []), ...(namespaces === undefined ? [] : shimWords(namespaces)), shell];
	return {
		file,
		args: [
			...outside,
			'-c',
			shimText(cgroups.length, inputEnd !== undefined, namespaces !== undefined, whole.text),
			'troupe-shim',
			...cgroups,
			...(inputEnd === undefined ? [] : [inputEnd]),
			...whole.words,
		],
		env: {...Object.fromEntries(variables), [`${prefix}0`]: launch.path, ...whole.env},
	};
}

export type Waiting = {
	readonly argv: readonly string[];
	readonly namespaces: Namespaces;
	/** It waits in an empty network of its own; otherwise in the node's. */
	readonly hasNetwork: boolean;
	/** Files `cgroup.procs` of the groups in which it waits. */
	readonly cgroups: readonly string[];
};

/** What to spawn before it is known for whom: its program has the descriptors of the shim, and writes its process down itself. */
export function waitingCommand({argv, namespaces, hasNetwork, cgroups}: Waiting): ShimCommand {
	const [file = shell, ...words] = [...shimWords(namespaces, hasNetwork), shell];
	return {
		file,
		args: [...words, '-c', shimText(0, false, true, waitingText, leftText), 'troupe-shim', ...cgroups, '--', ...argv],
		env: {},
	};
}

/** The groups in which it has waited are no others'. An agent of then may know nothing of them. */
const leftText = `for file do
[ "$file" != -- ] || break
rmdir "\${file%/*}"
done 2>/dev/null
`;

/** It becomes another user: libuv's io_uring would go on as root (CVE-2024-22017). */
const waitingText = `while [ "$1" != -- ]; do
echo 0 >"$1" || exit 126
shift
done 2>&1
shift
UV_USE_IO_URING=0
export UV_USE_IO_URING
exec "$@" 2>&1`;

type ShellText = {readonly text: string; readonly words: readonly string[]; readonly env: Readonly<Record<string, string>>};

/** script(1) hands no arguments on, so they are variables on the way. */
function inTerminal(terminal: Terminal & {readonly owner: number | undefined}, {text, words}: ShellText, prefix: string): ShellText {
	const names = words.map((_, index) => `${prefix}w${index + 1}`);
	const inner = [
		`set -- ${names.map(name => `"$${name}"`).join(' ')}`,
		`unset ${prefix}t SHELL ${names.join(' ')}`,
		`${terminalSetup(terminal.owner)}${text}`,
	].join('\n');
	const program = underTerminal(terminal, `"$${prefix}t"`).join(' ');
	return {
		text: `exec ${program}`,
		words: [],
		env: {[`${prefix}t`]: inner, ...Object.fromEntries(words.map((word, index) => [names[index] ?? '', word]))},
	};
}

/** A name for our variables that none of the user's begins with. */
export function unusedPrefix(env: Launch['env']): string {
	let prefix = 'T';
	while (env.some(({name}) => name.startsWith(prefix))) prefix += '_';
	return prefix;
}

/**
 * The last text before the program: makes the environment exactly the given one, and says why the first word is no program. It consists of our
 * words and of numbers. Names that are no shell variables, or special ones, are set by env(1), which shows them in its arguments until it execs.
 */
export function stageText({env, dataKib, userProcesses}: Pick<Launch, 'env' | 'dataKib' | 'userProcesses'>, prefix: string): string {
	const reference = (index: number): string => `"$${prefix}${index + 1}"`;
	const indexes = env.map((_, index) => index);
	const odd = indexes.filter(index => isOdd(env[index]?.name ?? ''));
	const plain = indexes.filter(index => !odd.includes(index));
	const ownPath = env.some(({name}) => name === 'PATH');
	return [
		// Not the address space, of which many a program reserves more than any machine has. It fails where there is a lower limit already.
		...(dataKib === undefined ? [] : [`ulimit -d ${dataKib} 2>/dev/null`]),
		// As dash and others have it, and as bash has it: there -p is something that cannot be set.
		...(userProcesses === undefined ? [] : [`ulimit -p ${userProcesses} 2>/dev/null || ulimit -u ${userProcesses} 2>/dev/null`]),
		'unset PWD OLDPWD SHLVL',
		...(ownPath ? [] : [`PATH="$${prefix}0"`]),
		...(plain.length === 0 ? [] : [`export ${plain.map(reference).join(' ')}`]),
		searchText(`${prefix}f`, `${prefix}p`, `${prefix}r`),
		// exec and env would take some first words for something else.
		odd.length === 0
			? `case $1 in -*) shift; set -- "$${prefix}f" "$@" ;; esac`
			: `shift; set -- ${odd.map(reference).join(' ')} "$${prefix}f" "$@"`,
		`unset ${[-1, ...indexes].map(index => `${prefix}${index + 1}`).join(' ')}`,
		odd.length === 0 ? 'exec "$@"' : 'exec /usr/bin/env "$@"',
	].join('\n');
}

/**
 * Finds the file of the first word as exec would, or ends with what Docker says and the code of a shell. The shell looks by itself, as the
 * program's user and where the program will be: what is there may be a program's own, and wait for ever.
 */
const searchText = (file: string, rest: string, reason: string): string => `${rest}=\${1:+$PATH:}
${reason}='127 executable file not found in $PATH'
case $1 in */*) ${rest}=: ${reason}='127 no such file or directory' ;; esac
while [ -n "$${rest}" ]; do
${file}=\${${rest}%%:*}
case $1 in */*) ${file}=$1 ;; *) ${file}=\${${file}:-.}/$1 ;; esac
${rest}=\${${rest}#*:}
[ -f "$${file}" ] && [ -x "$${file}" ] && ${reason}= && break
[ ! -e "$${file}" ] || ${reason}='126 permission denied'
done
[ -z "$${reason}" ] || {
printf 'exec: "%s": %s\n' "$1" "\${${reason}#* }" >&2
exit "\${${reason}%% *}"
}`;

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that some shell computes, checks or forbids to set. */
const special =
	/^(?:_|BASH.*|COLUMNS|DIRSTACK|EGID|EUID|FUNCNAME|GID|GROUPS|HISTCMD|IFS|LINENO|LINES|OLDPWD|OPTARG|OPTERR|OPTIND|PIPESTATUS|POSIXLY_CORRECT|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|UID)$/;

/** Whether only env(1) can set it. */
export const isOdd = (name: string): boolean => !identifier.test(name) || special.test(name);

/** True when env(1) would have to set a variable and take this program for another one. */
export const isUnsayable = (program: string, env: Launch['env']): boolean => program.includes('=') && env.some(({name}) => isOdd(name));
