// What happened to each object and why: a few entries an object, coalesced by reason, written with the object's next commit or
// soon after.

import {eventsStoreKey, type ObjectKey} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {Cancel, Clock} from './clock.js';

export type ObjectEvent = {
	readonly type: 'Normal' | 'Warning';
	readonly reason: string;
	readonly message: string;
	readonly count: number;
	readonly firstAtMs: number;
	readonly lastAtMs: number;
};

export type EventLogOptions = {
	readonly clock: Clock;
	/** Writes the record; an undefined body removes it. `failed` is called when it was not taken. */
	readonly put: (storeKey: string, body: (() => string) | undefined, failed: () => void) => void;
	readonly onEvent?: (key: ObjectKey, event: ObjectEvent) => void;
};

export class EventLog {
	readonly #options: EventLogOptions;
	readonly #events = new Map<ObjectKey, readonly ObjectEvent[]>();
	readonly #dirty = new Set<ObjectKey>();
	#flushTimer: Cancel | undefined;

	constructor(options: EventLogOptions) {
		this.#options = options;
	}

	/** Takes in what the store holds; what is unreadable or too old is left out. */
	load(key: ObjectKey, body: string): void {
		const events = parseEvents(body);
		if (events.length > 0) this.#events.set(key, events);
	}

	record(
		key: ObjectKey,
		{event, reason, message}: {readonly event: 'Normal' | 'Warning'; readonly reason: string; readonly message: string},
	): void {
		const nowMs = this.#options.clock.nowMs();
		const present = this.of(key);
		const same = present.find(each => each.reason === reason && each.type === event);
		const recorded: ObjectEvent = {
			type: event,
			reason,
			message,
			count: (same?.count ?? 0) + 1,
			firstAtMs: same?.firstAtMs ?? nowMs,
			lastAtMs: nowMs,
		};
		this.#events.set(key, [...present.filter(each => each !== same), recorded].slice(-limits.eventsPerObject));
		this.#dirty.add(key);
		this.#flushTimer ??= this.#options.clock.after(limits.eventFlushMs, () => {
			this.#flushTimer = undefined;
			this.flush();
		});
		this.#options.onEvent?.(key, recorded);
	}

	/** Oldest first; those over an hour old are not shown. */
	of(key: ObjectKey): readonly ObjectEvent[] {
		const oldestMs = this.#options.clock.nowMs() - limits.eventTtlMs;
		return (this.#events.get(key) ?? []).filter(({lastAtMs}) => lastAtMs >= oldestMs);
	}

	keys(): Iterable<ObjectKey> {
		return this.#events.keys();
	}

	/** Joins the commit of the object they are about. */
	flushWith(key: ObjectKey): void {
		if (this.#dirty.delete(key)) this.#write(key);
	}

	/** Writes what is dirty, and drops what nobody will be shown any more. */
	flush(): void {
		for (const key of this.#dirty) this.#write(key);
		this.#dirty.clear();
		for (const key of [...this.#events.keys()]) {
			if (this.of(key).length > 0) continue;
			this.#events.delete(key);
			this.#options.put(eventsStoreKey(key), undefined, () => undefined);
		}
		if (this.#dirty.size === 0) {
			this.#flushTimer?.();
			this.#flushTimer = undefined;
		}
	}

	close(): void {
		this.#flushTimer?.();
		this.#flushTimer = undefined;
	}

	#write(key: ObjectKey): void {
		const events = this.of(key);
		this.#options.put(eventsStoreKey(key), events.length === 0 ? undefined : () => JSON.stringify(events), () => {
			this.#dirty.add(key);
		});
	}
}

function parseEvents(body: string): ObjectEvent[] {
	try {
		const parsed: unknown = JSON.parse(body);
		return Array.isArray(parsed) ? parsed.filter(isEvent) : [];
	} catch {
		return []; // Events are a help for people; a torn one is not worth a start.
	}
}

function isEvent(value: unknown): value is ObjectEvent {
	if (typeof value !== 'object' || value === null) return false;
	const {reason, message, count, firstAtMs, lastAtMs} = value as Record<string, unknown>;
	return [reason, message].every(each => typeof each === 'string') && [count, firstAtMs, lastAtMs].every(each => typeof each === 'number');
}
