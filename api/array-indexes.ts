// The indexes of an array of jobs, as Slurm writes them: `0-19`, `1,3,5-9`, `0-19:2`, and `%4` behind them for how many run at a time.

import {limits} from './limits.js';

export type ArrayIndexes = {readonly indexes: readonly number[]; readonly atOnce: number | undefined};

/** Undefined: it is no such text, has an index twice, or more of them than are taken. */
export function parseArrayIndexes(text: string): ArrayIndexes | undefined {
	if (text.length > limits.slurmFileCharacters) return undefined;
	const [, list = '', atOnce] = /^([^%]+)(?:%([1-9]\d{0,5}))?$/.exec(text) ?? [];
	const indexes = new Set<number>();
	for (const part of list.split(',')) {
		const [, first, last = first, step = '1'] = /^(\d{1,7})(?:-(\d{1,7})(?::([1-9]\d{0,6}))?)?$/.exec(part) ?? [];
		if (first === undefined || Number(last) < Number(first)) return undefined;
		for (let index = Number(first); index <= Number(last); index += Number(step)) {
			if (indexes.has(index) || indexes.size >= limits.slurmArrayJobs) return undefined;
			indexes.add(index);
		}
	}
	return {indexes: [...indexes], atOnce: atOnce === undefined ? undefined : Number(atOnce)};
}
