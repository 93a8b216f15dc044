// Flags in front of the command, as in `troupe -n shop get pods`: people who know kubectl write some of them there. Pure.

import type {FlagSpecs} from '../command.js';
import {allNamespacesFlag, clusterFlags, namespaceFlag} from './flags.js';

/** Those that mean the same for every command that has them. `--help` alone is a command of its own. */
const {help: _help, ...cluster} = clusterFlags;
const movable: FlagSpecs = {...cluster, ...namespaceFlag, ...allNamespacesFlag};

export type Led = {
	/** The flags in front, with their values. */
	readonly leading: readonly string[];
	/** The command, and all behind it. */
	readonly rest: readonly string[];
};

/** Parts the flags in front from the command; nothing is in front where one of them may not be there, or no command comes. */
export function withoutLeading(argv: readonly string[]): Led {
	let at = 0;
	for (let word = argv[0] ?? ''; word.startsWith('-') && at < argv.length; word = argv[at] ?? '') {
		const length = lengthOf(word);
		if (length === 0) return {leading: [], rest: argv};
		at += length;
	}
	return at < argv.length ? {leading: argv.slice(0, at), rest: argv.slice(at)} : {leading: [], rest: argv};
}

/** How many words the flag is: one, or two with its value; 0 for what must stand behind the command. */
function lengthOf(word: string): 0 | 1 | 2 {
	for (const [name, {short, type}] of Object.entries(movable)) {
		if (word.startsWith(`--${name}=`)) return 1;
		if (word === `--${name}` || word === `-${short ?? ''}`) return type === 'boolean' ? 1 : 2;
		if (short !== undefined && type === 'string' && word.startsWith(`-${short}`)) return 1;
	}
	return 0;
}
