// A terminal for a program, by script(1) of util-linux: it makes one, hands on what is typed and what is written, and the exit code.
//
// script ends with the shell over it, and the program with script, whatever either of them was ended by: each asks the kernel to be
// killed when the one above it is gone. The program gets signals itself: script would give it two seconds, whatever its grace.

import {codeOf, findTool} from '../../os/tools.js';

export type Terminal = {
	/** Absolute paths. */
	readonly script: string;
	readonly setpriv: string;
};

const trialCode = 7;

/** What a program is told of a terminal when the manifest says nothing: as Docker and Kubernetes do. */
export const defaultTerm = {name: 'TERM', value: 'xterm'};

/** Undefined where it does not work: tried once. */
export function findTerminal(): Terminal | undefined {
	const script = findTool('script');
	const setpriv = findTool('setpriv');
	if (script === undefined || setpriv === undefined) return undefined;
	const terminal = {script, setpriv};
	return codeOf(underTerminal(terminal, `test -t 0 && test -t 1 && exit ${trialCode}`)) === trialCode ? terminal : undefined;
}

/** A program that runs this shell text in a terminal of its own. */
export const underTerminal = ({script, setpriv}: Terminal, text: string): readonly string[] => [
	...endsWithParent(setpriv),
	script,
	'-qefc',
	text,
	'/dev/null',
];

/** Words before a program that is killed when its parent ends. They come after a change of user, which takes it back. */
export const endsWithParent = (setpriv: string): readonly string[] => [setpriv, '--pdeathsig', 'KILL', '--'];

/** The size of a terminal that no person looks at, and whose it is. */
export const terminalSetup = (owner: number | undefined): string =>
	`stty rows 24 columns 80 2>/dev/null\n${owner === undefined ? '' : `chown ${owner} /proc/self/fd/0 2>/dev/null\n`}`;
