// A container's program as a further program joins it, read from the kernel: nothing that was written down when it was started is
// needed, so no secret of its environment is kept anywhere but in its processes.

import {readFileSync, readlinkSync} from 'node:fs';
import {parentIn} from '../../os/process-tree.js';
import {shimDescriptors} from '../start/shim.js';
import type {Drop} from '../users/privileges.js';

export type RunningProgram = {
	readonly pid: number;
	/** As it was started: what it has become by itself is its own affair. */
	readonly drop: Drop;
	readonly env: readonly {readonly name: string; readonly value: string}[];
};

/**
 * 'beginning': an ordinary user's process has not become the program yet, and has the rights of the shim over its namespaces still. Undefined: it
 * is over. Of the program only what the kernel keeps of it is asked: to read its memory (`cmdline`, `environ`) may wait for ever.
 */
export function runningProgramOf(pid: number, drop: Drop): RunningProgram | 'beginning' | undefined {
	try {
		const status = readFileSync(`/proc/${pid}/status`, 'latin1');
		if (/^State:\s+[ZX]/m.test(status)) return undefined;
		const parent = parentIn(status);
		const [own, above, ours] = [pid, parent, 'self'].map(each => readlinkSync(`/proc/${each}/ns/user`));
		return own === above && own !== ours ? 'beginning' : {pid, drop, env: givenTo(parent)};
	} catch {
		return undefined;
	}
}

/** A shim that was spawned before its program was known has no environment, and a file in memory in the place of it. */
function givenTo(shim: number): RunningProgram['env'] {
	const parts = partsOf(`/proc/${shim}/environ`);
	return givenEnv(parts.length > 0 ? parts : partsOf(`/proc/${shim}/fd/${shimDescriptors.given}`));
}

const partsOf = (file: string): string[] => readFileSync(file, 'utf8').split('\0').slice(0, -1);

/**
 * The environment that a program was given, from that of the shim or the terminal over it, where its variables are the values of numbered ones
 * of ours and the first is the PATH to look in: see `shimCommand`. What a program shows itself it may have written over, as those that show a
 * title in its place do.
 */
function givenEnv(parts: readonly string[]): RunningProgram['env'] {
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

function variableOf(text: string): RunningProgram['env'][number] {
	const equals = text.indexOf('=');
	return {name: text.slice(0, equals), value: text.slice(equals + 1)};
}
