// Answers of other resolvers, for as long as they said, within bounds: the ones that were not asked for the longest time go first.

import type {Answer} from 'dns-packet';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Resolved} from './resolved.js';

export type Cache = {
	/** With what is left of the time to live of each record. */
	readonly get: (key: string) => Resolved | undefined;
	/** `bytes`: of the answer as it came. */
	readonly set: (key: string, resolved: Resolved, bytes: number) => void;
	readonly size: () => number;
};

type Entry = {readonly resolved: Resolved; readonly bytes: number; readonly atMs: number; readonly untilMs: number};

export function createCache(clock: Clock): Cache {
	const entries = new Map<string, Entry>();
	let bytes = 0;
	const drop = (key: string): void => {
		bytes -= entries.get(key)?.bytes ?? 0;
		entries.delete(key);
	};
	return {
		get(key) {
			const entry = entries.get(key);
			if (entry === undefined) return undefined;
			drop(key);
			const nowMs = clock.monotonicMs();
			if (nowMs >= entry.untilMs) return undefined;
			entries.set(key, entry);
			bytes += entry.bytes;
			return aged(entry.resolved, Math.floor((nowMs - entry.atMs) / 1_000));
		},
		set(key, resolved, size) {
			const seconds = secondsOf(resolved);
			drop(key);
			if (seconds <= 0) return;
			const atMs = clock.monotonicMs();
			// An object is larger than what it was read from, and so is a key.
			const entry = {resolved, bytes: 4 * size + 2 * key.length, atMs, untilMs: atMs + seconds * 1_000};
			entries.set(key, entry);
			bytes += entry.bytes;
			for (const oldest of entries.keys()) {
				if (entries.size <= limits.dnsCacheEntries && bytes <= limits.dnsCacheBytes) return;
				drop(oldest);
			}
		},
		size: () => entries.size,
	};
}

/** What is not there is kept for as long as its zone says (RFC 2308). */
function secondsOf({rcode, answers, authorities}: Resolved): number {
	if (rcode === 'NOERROR' && answers.length > 0) return Math.min(limits.dnsCacheSeconds, ...answers.map(ttlOf));
	if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') return 0;
	const soa = authorities.find(each => each.type === 'SOA');
	return soa?.type === 'SOA' ? Math.min(limits.dnsNegativeSeconds, ttlOf(soa), soa.data.minimum ?? 0) : 0;
}

const ttlOf = (answer: Answer): number => ('ttl' in answer ? (answer.ttl ?? 0) : 0);

function aged(resolved: Resolved, seconds: number): Resolved {
	const age = (answer: Answer): Answer => ({...answer, ttl: Math.max(0, ttlOf(answer) - seconds)}) as Answer;
	const {answers, authorities, additionals} = resolved;
	return {...resolved, answers: answers.map(age), authorities: authorities.map(age), additionals: additionals.map(age)};
}
