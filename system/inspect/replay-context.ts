// The context of a recorded step: it answers what it was asked then. What it was not asked then it says, and answers with nothing.

import type {ApiObject, Json} from '../../api/object.js';
import type {Known} from '../index/object-index.js';
import type {Context, Pending} from '../kernel/behavior.js';
import {seededRandom} from '../time/random.js';
import {decode, type Shared} from './portable.js';
import {readName} from './recording-context.js';
import type {RecordedRead, ReplayableStep} from './step-record.js';

export type ReplayContext = {
	readonly context: Context;
	/** What was asked of it that the record does not know. */
	readonly notes: () => readonly string[];
};

export function replayContext({address, cause, context: recorded}: ReplayableStep, shared: Shared | undefined): ReplayContext {
	const missing = new Set<string>();
	const unknown = (what: string): void => void missing.add(`it looks at what was not looked at when it was recorded: ${what}`);
	const random = seededRandom(1);
	const draws = [...(recorded.draws ?? [])];
	const uuids = [...(recorded.uuids ?? [])];
	const times = [...(recorded.monotonicMs ?? [])];
	const children = recorded.children ?? [];
	const has = new Map(recorded.hasChild);
	let pending: ReadonlyMap<string, Pending> | undefined;
	const context: Context = {
		self: address,
		cause,
		nowMs: recorded.nowMs,
		get monotonicMs() {
			// The clock stands still after the last time that was read.
			const time = times.length > 1 ? times.shift() : times[0];
			if (time === undefined) unknown('monotonicMs');
			return time ?? 0;
		},
		get children() {
			if (recorded.children === undefined) unknown('children');
			return children;
		},
		hasChild(name) {
			const answer = has.get(name);
			if (answer === undefined && recorded.children === undefined) unknown(`hasChild "${name}"`);
			return answer ?? children.includes(name);
		},
		random: {
			next: () => draws.shift() ?? (unknown('random numbers'), random.next()),
			uuid: () => uuids.shift() ?? (unknown('random UUIDs'), random.uuid()),
		},
		get pending() {
			if (recorded.pending === undefined) unknown('pending');
			return (pending ??= new Map(recorded.pending === undefined ? [] : (decode(recorded.pending, shared) as Map<string, Pending>)));
		},
		known: knownOf(recorded.reads ?? [], recorded.objects ?? [], recorded.version, unknown, shared),
	};
	return {context, notes: () => [...missing]};
}

function knownOf(
	reads: readonly RecordedRead[],
	encoded: readonly Json[],
	version: number | undefined,
	unknown: (what: string) => void,
	shared: Shared | undefined,
): Known {
	const byName = new Map(reads.map(read => [readName(read.ask, read.of), read]));
	const objects = new Map<number, ApiObject>();
	/** One object, however often it is read. */
	const objectAt = (place: number): ApiObject | undefined => {
		if (!objects.has(place) && encoded[place] !== undefined) objects.set(place, decode(encoded[place], shared) as ApiObject);
		return objects.get(place);
	};
	const readOf = (ask: string, of: readonly Json[]): RecordedRead | undefined => {
		const read = byName.get(readName(ask, of));
		if (read === undefined) unknown(`${ask} ${of.map(each => JSON.stringify(each)).join(' ')}`);
		return read;
	};
	const one = (ask: string, of: readonly Json[]): ApiObject | undefined => objectAt(readOf(ask, of)?.object ?? -1);
	const number = (ask: string, of: readonly Json[]): number => readOf(ask, of)?.number ?? 0;
	const partsRead = (ask: string, of: readonly Json[]): ReadonlyMap<string, Json> => {
		const parts = readOf(ask, of)?.parts;
		return parts === undefined ? new Map<string, Json>() : (decode(parts, shared) as Map<string, Json>);
	};
	function* each(ask: string, of: readonly Json[]): Iterable<ApiObject> {
		const read = readOf(ask, of);
		for (const place of read?.list ?? []) {
			const object = objectAt(place);
			if (object !== undefined) yield object;
		}
		if (read !== undefined && read.whole !== true) unknown(`the rest of ${ask} ${of.map(part => JSON.stringify(part)).join(' ')}`);
	}
	return {
		get version() {
			if (version === undefined) unknown('the version');
			return version ?? 0;
		},
		get: key => one('get', [key]),
		byUid: uid => one('byUid', [uid]),
		byOwner: uid => each('byOwner', [uid]),
		list: (plural, namespace) => each('list', namespace === undefined ? [plural] : [plural, namespace]),
		select: (plural, namespace, selector) => each('select', [plural, namespace, selector]),
		byTerm: (plural, term) => each('byTerm', [plural, term]),
		countByTerm: (plural, term) => number('countByTerm', [plural, term]),
		sumByTerm: (plural, term) => number('sumByTerm', [plural, term]),
		countOf: (plural, namespace) => number('countOf', [plural, namespace]),
		countInNamespace: namespace => number('countInNamespace', [namespace]),
		inNamespace: namespace => each('inNamespace', [namespace]),
		part: (key, name) => partsRead('part', [key, name]).get(name),
		partsOf: key => partsRead('partsOf', [key]),
	};
}
