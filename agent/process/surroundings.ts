// What a running program runs in, as the kernel knows it: whoever joins it needs nothing that was written down when it was started,
// so no secret of its environment is kept anywhere but in its processes.

import {closeSync, openSync, readFileSync, readSync, readlinkSync} from 'node:fs';
import {readFile, readdir} from 'node:fs/promises';
import {limits} from '../../api/limits.js';
import {statOf} from './identity.js';
import type {Drop} from './privileges.js';

export type Surroundings = {
	readonly pid: number;
	/** As it was started: what it has become by itself is its own affair. */
	readonly drop: Drop;
	readonly env: readonly {readonly name: string; readonly value: string}[];
	/** As the program sees it. */
	readonly directory: string;
};

/** 'beginning': the process has not become the program yet, and may still have other rights. Undefined: it is over. */
export function surroundingsOf(pid: number, drop: Drop): Surroundings | 'beginning' | undefined {
	try {
		const words = wordsOf(pid);
		// Read after the words: who is the program by them is its user by now.
		const status = readFileSync(`/proc/${pid}/status`, 'latin1');
		const stage = stageOf(words, status);
		if (stage !== 'program') return stage === 'over' ? undefined : stage;
		const parent = Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]);
		return {
			pid,
			drop,
			env: givenEnv(partsOf(`/proc/${parent}/environ`)),
			directory: readlinkSync(`/proc/${pid}/cwd`),
		};
	} catch {
		return undefined;
	}
}

/** Before a process becomes a program it is a shell with the last text of ours. */
const stageText = 'unset PWD OLDPWD SHLVL\n';

/**
 * How far a process is, by its words and its status. Without words it is over and not yet buried, or becomes another program in this moment:
 * the kernel takes the old words before it has the new ones.
 */
export function stageOf(words: Buffer, status: string): 'over' | 'beginning' | 'program' {
	if (/^State:\s+[ZX]/m.test(status)) return 'over';
	return words.length === 0 || words.includes(stageText) ? 'beginning' : 'program';
}

/** Throws errno exceptions where the process is gone. */
export const parentOf = (pid: number): number => Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);

/** What stands between the leader of a group of ours and its terminal: nsenter and script. */
const aboveTerminal = 3;

/** Who leads the terminal that a program below this leader of a group has made: the first on the way down that is in another group. */
export function terminalBelow(leader: number): number | undefined {
	let below = childOf(leader);
	for (let depth = 1; depth < aboveTerminal && below !== undefined && statOf(below)?.group === leader; depth++) below = childOf(below);
	return below;
}

/** Those of a program may be some megabytes, each with a NUL behind it. Ours are no longer than an environment is. */
function wordsOf(pid: number): Buffer {
	const descriptor = openSync(`/proc/${pid}/cmdline`, 'r');
	try {
		const buffer = Buffer.allocUnsafe(limits.environmentCharacters);
		return buffer.subarray(0, readSync(descriptor, buffer));
	} finally {
		closeSync(descriptor);
	}
}

/** The first child of a process of ours, which has one thread. */
function childOf(pid: number): number | undefined {
	try {
		return numbersIn(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'))[0];
	} catch {
		return undefined;
	}
}

/**
 * The processes that a process, or one of its threads, has begun and that are its children still. None where the kernel does not list them. A
 * program has as many of both as it likes, so this takes many turns.
 */
export async function childrenOf(pid: number): Promise<readonly number[]> {
	const found: (readonly number[])[] = [];
	try {
		for (const thread of await readdir(`/proc/${pid}/task`)) {
			found.push(numbersIn(await readFile(`/proc/${pid}/task/${thread}/children`, 'latin1')));
		}
	} catch {
		// It has ended.
	}
	return found.flat();
}

const numbersIn = (text: string): readonly number[] => text.split(' ').filter(Boolean).map(Number);

const partsOf = (file: string): string[] => readFileSync(file, 'utf8').split('\0').slice(0, -1);

/**
 * The environment that a program was given, from that of the shim or the terminal over it, where its variables are the values of numbered ones
 * of ours and the first is the PATH to look in: see `shimCommand`. What a program shows itself it may have written over, as those that show a
 * title in its place do.
 */
export function givenEnv(parts: readonly string[]): Surroundings['env'] {
	const values = new Map(
		parts.flatMap((part): [number, string][] => {
			const [, index, value] = /^T_*(\d+)=(.*)$/s.exec(part) ?? [];
			return index === undefined || value === undefined ? [] : [[Number(index), value]];
		}),
	);
	const path = values.get(0);
	values.delete(0);
	const given = [...values].sort(([a], [b]) => a - b).map(([, text]) => variableOf(text));
	return path === undefined || given.some(({name}) => name === 'PATH') ? given : [{name: 'PATH', value: path}, ...given];
}

function variableOf(text: string): Surroundings['env'][number] {
	const equals = text.indexOf('=');
	return {name: text.slice(0, equals), value: text.slice(equals + 1)};
}
