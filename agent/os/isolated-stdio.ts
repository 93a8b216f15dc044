// What a child process has open: what it is given, and nothing else of the agent's.

import {closeSync, constants, openSync} from 'node:fs';
import {inheritableFiles} from './descriptors.js';

type Stdio = readonly Stream[];
type Stream = number | 'ignore' | 'pipe';

/** Puts /dev/null over each file that a child would inherit: a descriptor of two digits is not one that every shell can close. */
export function covered(stdio: Stdio, kept: (descriptor: number) => number): Stream[] {
	const files = inheritableFiles().filter(descriptor => descriptor >= stdio.length);
	if (files.length === 0) return [...stdio];
	const nothing = kept(openSync('/dev/null', constants.O_RDWR));
	const last = Math.max(...files);
	const above = Array.from({length: last + 1 - stdio.length}, (_, index) => files.includes(index + stdio.length));
	return [...stdio, ...above.map(covers => (covers ? nothing : 'ignore'))];
}

/** For a helper or a program that needs no files of the agent: `close` after the spawn. Throws errno exceptions. */
export function isolatedStdio(first: Stdio = ['ignore', 'ignore', 'ignore']): {
	readonly stdio: Stream[];
	readonly close: () => void;
} {
	const open: number[] = [];
	const stdio = covered(first, descriptor => {
		open.push(descriptor);
		return descriptor;
	});
	return {
		stdio,
		close() {
			for (const descriptor of open) closeSync(descriptor);
		},
	};
}
