// What a running program runs in, as the kernel knows it: whoever joins it needs nothing that was written down when it was started,
// so no secret of its environment is kept anywhere but in its processes.

import {readFileSync, readlinkSync} from 'node:fs';
import {readFile, readdir} from 'node:fs/promises';
import {statOf} from './identity.js';
import type {Drop} from './privileges.js';

export type Surroundings = {
	readonly pid: number;
	/** As it was started: what it has become by itself is its own affair. */
	readonly drop: Drop;
	readonly env: readonly {readonly name: string; readonly value: string}[];
};

/**
 * 'beginning': an ordinary user's process has not become the program yet, and has the rights of the shim over its namespaces still. Undefined: it
 * is over. Of the program only what the kernel keeps of it is asked: to read its memory (`cmdline`, `environ`) may wait for ever.
 */
export function surroundingsOf(pid: number, drop: Drop): Surroundings | 'beginning' | undefined {
	try {
		const status = readFileSync(`/proc/${pid}/status`, 'latin1');
		if (/^State:\s+[ZX]/m.test(status)) return undefined;
		const parent = parentIn(status);
		const [own, above, ours] = [pid, parent, 'self'].map(each => readlinkSync(`/proc/${each}/ns/user`));
		return own === above && own !== ours ? 'beginning' : {pid, drop, env: givenEnv(partsOf(`/proc/${parent}/environ`))};
	} catch {
		return undefined;
	}
}

const parentIn = (status: string): number => Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]);

/** Throws errno exceptions where the process is gone. */
export const parentOf = (pid: number): number => parentIn(readFileSync(`/proc/${pid}/status`, 'latin1'));

/** What stands between the leader of a group of ours and its terminal: nsenter and script. */
const aboveTerminal = 3;

/** Who leads the terminal that a program below this leader of a group has made: the first on the way down that is in another group. */
export function terminalBelow(leader: number): number | undefined {
	let below = childOf(leader);
	for (let depth = 1; depth < aboveTerminal && below !== undefined && statOf(below)?.group === leader; depth++) below = childOf(below);
	return below;
}

/** The first child of a process of ours. */
const childOf = (pid: number): number | undefined => childrenNow(pid)[0];

/** The children of a process that has one thread; none where it is gone, or the kernel does not list them. */
export function childrenNow(pid: number): readonly number[] {
	try {
		return numbersIn(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'));
	} catch {
		return [];
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
function givenEnv(parts: readonly string[]): Surroundings['env'] {
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
