// Which pod has which device of the node. On disk before a pod hears of it, so that every later agent gives none of them to another one.

import {readFileSync, statSync} from 'node:fs';
import {isObject} from '../../api/object.js';
import {limits} from '../../api/limits.js';
import {parsedJson, valueOr} from '../../api/value-or.js';
import {valueOrFor} from '../../system/files/errno.js';
import {writeFileAtomic} from '../../system/files/atomic-file.js';

export type Allotment = {
	/** Of those that are present the ones that no pod has. */
	readonly free: (present: readonly number[]) => readonly number[];
	/** In their order; undefined: it was given none. One that has given its own back has an empty list until it is forgotten. */
	readonly of: (uid: string) => readonly number[] | undefined;
	/** Of those that are present some that no pod has, as many as wanted; nothing where there are fewer. What it has already stays. */
	readonly take: (uid: string, count: number, present: readonly number[]) => readonly number[] | undefined;
	/** The pod has ended, and is still there. */
	readonly release: (uid: string) => void;
	/** Nothing is left of the pod. */
	readonly forget: (uid: string) => void;
	readonly holders: () => readonly string[];
	/** Why it gives out nothing; undefined: it does. */
	readonly problem: () => string | undefined;
	/** Resolves once all of that is on disk. Rejects with an Error that names the file. */
	readonly saved: () => Promise<void>;
};

export function openAllotment(file: string): Allotment {
	const read = valueOr(undefined, () => readAllotment(file));
	const isSpent = ([, indexes]: readonly [string, readonly number[]]): boolean => indexes.length === 0;
	const held = new Map(read?.filter(entry => !isSpent(entry)) ?? []);
	/** In the order in which they gave theirs back. */
	const spent = new Set(read?.filter(isSpent).map(([uid]) => uid) ?? []);
	let isSaved = true;
	let saving: Promise<void> = Promise.resolve();
	const changed = (): void => void (isSaved = false);
	const save = async (): Promise<void> => {
		if (isSaved) return;
		isSaved = true;
		try {
			await writeFileAtomic(file, JSON.stringify(Object.fromEntries([...held, ...[...spent].map(uid => [uid, []] as const)])), 0o600);
		} catch (error) {
			isSaved = false;
			throw error;
		}
	};
	const free = (present: readonly number[]): readonly number[] => {
		const taken = new Set([...held.values()].flat());
		return read === undefined ? [] : present.filter(index => !taken.has(index));
	};
	const of = (uid: string): readonly number[] | undefined => held.get(uid) ?? (spent.has(uid) ? [] : undefined);
	return {
		free,
		of,
		take(uid, count, present) {
			const own = of(uid);
			if (own !== undefined) return own;
			const given = free(present).slice(0, count);
			if (given.length < count) return undefined;
			held.set(uid, given);
			changed();
			return given;
		},
		release(uid) {
			if (!held.delete(uid)) return;
			spent.add(uid);
			const [oldest] = spent;
			// It would be given some by another agent, and give them back once that has looked at it.
			if (spent.size > limits.gpuSpentPods && oldest !== undefined) spent.delete(oldest);
			changed();
		},
		forget(uid) {
			if (held.delete(uid) || spent.delete(uid)) changed();
		},
		holders: () => [...held.keys(), ...spent],
		problem: () =>
			read === undefined
				? `"${file}" does not say any more which pod has which: remove it once no pod has a GPU, and start the agent again`
				: undefined,
		saved: () => (saving = saving.catch(() => undefined).then(save)),
	};
}

/** Undefined: it is damaged. Throws errno exceptions where it cannot be read, which comes to the same. */
function readAllotment(file: string): readonly (readonly [string, readonly number[]])[] | undefined {
	const isLarge = (valueOrFor(undefined, ['ENOENT'], () => statSync(file))?.size ?? 0) > limits.gpuRecordBytes;
	const said = isLarge ? undefined : parsedJson(valueOrFor('{}', ['ENOENT'], () => readFileSync(file, 'utf8')));
	if (!isObject(said)) return undefined;
	const entries = Object.entries(said);
	if (!entries.every((entry): entry is [string, number[]] => isIndexes(entry[1]))) return undefined;
	const all = entries.flatMap(([, indexes]) => indexes);
	return new Set(all).size === all.length ? entries : undefined;
}

const isIndexes = (value: unknown): boolean =>
	Array.isArray(value) && value.length <= limits.nodeGpus && value.every(index => Number.isSafeInteger(index) && Number(index) >= 0);
