// One small shell stands over each container, so that its end is known whether or not an agent lives.
//
// What it keeps true: nothing of a user is parsed by a shell: words are positional arguments, variables travel as values of
// T1, T2, ... and become themselves only in the last process before the program, which has the program's rights. The record
// of the process is on disk before the program runs, its exit code after it ended, and the group is killed by the shim itself.

/** Descriptors of the shim. The program gets none of them. */
const shimDescriptors = {state: 3, lifeline: 4} as const;

export type Launch = {
	readonly argv: readonly string[];
	/** Where the first word was found. */
	readonly program: string;
	readonly env: readonly {readonly name: string; readonly value: string}[];
	/** Where to look up the first word when `env` has no PATH. */
	readonly path: string;
	/** What drops privileges, words before the program; undefined: the program runs as the shim does. */
	readonly drop: readonly string[] | undefined;
	readonly startedAtMs: number;
	readonly bootId: string;
	/** The uptime, in 1/100 s, at which the program is not begun any more: the end of its pod's lease. */
	readonly deadline?: number | undefined;
};

export type ShimCommand = {readonly file: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>};

const shell = '/bin/sh';

/**
 * The program runs in the foreground: what a shell starts in the background would ignore SIGINT and SIGQUIT for ever. The
 * price is that a signal to the shim alone changes nothing until the program has ended; stopping goes to the program itself.
 * A write to the lifeline says that the state file has news; its end says that the shim is gone. The pid is told first, from
 * a short file: shells read byte by byte, and the agent need not wait for the long one.
 */
const shimText = (launch: string, deadline: number | undefined): string => `trap : HUP INT QUIT USR1 USR2 PIPE ALRM TERM
(
while read -r key pid; do [ "$key" = Pid: ] && break; done </proc/self/status
echo "running $1 $2 $pid" >&${shimDescriptors.state}
echo >&${shimDescriptors.lifeline}
read -r stat </proc/self/stat
echo "process $stat" >&${shimDescriptors.state}
echo >&${shimDescriptors.lifeline}
${deadline === undefined ? '' : leaseText(deadline)}stage=$3
shift 3
exec 2>&1 ${shimDescriptors.state}>&- ${shimDescriptors.lifeline}>&-
${launch}
)
echo "exit $?" >&${shimDescriptors.state}
kill -s KILL 0`;

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
	const prefix = unusedPrefix(launch.env);
	const stage = stageText(launch, prefix);
	const text = launch.drop === undefined ? stage.text : `exec ${launch.drop.join(' ')} ${shell} -c "$stage" sh "$@"`;
	const variables = launch.env.map(({name, value}, index): [string, string] => [`${prefix}${index + 1}`, `${name}=${value}`]);
	return {
		file: shell,
		args: ['-c', shimText(text, launch.deadline), 'troupe-shim', String(launch.startedAtMs), launch.bootId, stage.text, ...stage.argv],
		env: {...Object.fromEntries(variables), [`${prefix}0`]: launch.path},
	};
}

/** A name for our variables that none of the user's begins with. */
function unusedPrefix(env: Launch['env']): string {
	let prefix = 'T';
	while (env.some(({name}) => name.startsWith(prefix))) prefix += '_';
	return prefix;
}

/**
 * The last text before the program: makes the environment exactly the given one. It consists of our words and of numbers.
 * Names that are no shell variables, or special ones, are set by env(1), which shows them in its arguments until it execs.
 */
function stageText({argv, program, env}: Launch, prefix: string): {readonly text: string; readonly argv: readonly string[]} {
	const reference = (index: number): string => `"$${prefix}${index + 1}"`;
	const indexes = env.map((_, index) => index);
	const odd = indexes.filter(index => isOdd(env[index]?.name ?? ''));
	const plain = indexes.filter(index => !odd.includes(index));
	const ownPath = env.some(({name}) => name === 'PATH');
	const text = [
		'unset PWD OLDPWD SHLVL',
		...(ownPath ? [] : [`PATH="$${prefix}0"`]),
		...(odd.length === 0 ? [] : [`set -- ${odd.map(reference).join(' ')} "$@"`]),
		...(plain.length === 0 ? [] : [`export ${plain.map(reference).join(' ')}`]),
		`unset ${[-1, ...indexes].map(index => `${prefix}${index + 1}`).join(' ')}`,
		odd.length === 0 ? 'exec "$@"' : 'exec /usr/bin/env "$@"',
	].join('\n');
	// exec and env would take such a first word for something else.
	const [word = '', ...rest] = argv;
	return {text, argv: odd.length > 0 || word.startsWith('-') ? [program, ...rest] : argv};
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that some shell computes, checks or forbids to set. */
const special =
	/^(?:_|BASH.*|COLUMNS|DIRSTACK|EGID|EUID|FUNCNAME|GID|GROUPS|HISTCMD|IFS|LINENO|LINES|OLDPWD|OPTARG|OPTERR|OPTIND|PIPESTATUS|POSIXLY_CORRECT|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|UID)$/;

/** Whether only env(1) can set it. */
export const isOdd = (name: string): boolean => !identifier.test(name) || special.test(name);

/** True when env(1) would have to set a variable and take this program for another one. */
export const isUnsayable = ({program, env}: Pick<Launch, 'program' | 'env'>): boolean =>
	program.includes('=') && env.some(({name}) => isOdd(name));
