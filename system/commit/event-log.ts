// What happened to each object and why: a few entries an object, coalesced by reason, part and cause, written with the object's next commit or
// soon after.

import {eventsStoreKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {parsedJson} from '../../api/value-or.js';
import type {EventNews} from '../kernel/behavior.js';
import type {Cancel, Clock} from '../time/clock.js';

export type ObjectEvent = Omit<EventNews, 'event' | 'isOneOfMany'> & {
	readonly type: EventNews['event'];
	readonly count: number;
	readonly firstAtMs: number;
	readonly lastAtMs: number;
};

export type EventLogOptions = {
	readonly clock: Clock;
	/** Writes the record; an undefined body removes it. Calls back once, with whether it was taken. */
	readonly put: (storeKey: string, body: (() => string) | undefined, done: (taken: boolean) => void) => void;
	readonly onEvent?: (key: ObjectKey, event: ObjectEvent) => void;
	/** Whether there is such an object now. */
	readonly isThere: (key: ObjectKey) => boolean;
};

export class EventLog {
	readonly #options: EventLogOptions;
	readonly #events = new Map<ObjectKey, readonly ObjectEvent[]>();
	/** Those whose object is gone, oldest first. */
	readonly #gone = new Set<ObjectKey>();
	readonly #dirty = new Set<ObjectKey>();
	/** Events that count many: told on with the next write, not each time. */
	readonly #untold = new Map<ObjectKey, ReadonlyMap<string, ObjectEvent>>();
	#flushTimer: Cancel | undefined;
	/** Writes without an outcome yet. */
	#writing = 0;
	#closed = false;
	#whenWritten: (() => void) | undefined;

	constructor(options: EventLogOptions) {
		this.#options = options;
	}

	/** Takes in what the store holds; what is unreadable is left out. */
	load(key: ObjectKey, body: string): void {
		const events = parseEvents(body);
		if (events.length === 0) return;
		this.#events.set(key, events);
		if (!this.#options.isThere(key)) this.#gone.add(key);
	}

	record(key: ObjectKey, news: EventNews): void {
		const nowMs = this.#options.clock.nowMs();
		const present = this.of(key);
		const {event, reason, message, fieldPath, aspect} = combined(news, present);
		const same = present.find(
			each => each.reason === reason && each.type === event && each.fieldPath === fieldPath && each.aspect === aspect,
		);
		const recorded: ObjectEvent = {
			type: event,
			reason,
			message,
			...(fieldPath === undefined ? {} : {fieldPath}),
			...(aspect === undefined ? {} : {aspect}),
			count: (same?.count ?? 0) + 1,
			firstAtMs: same?.firstAtMs ?? nowMs,
			lastAtMs: nowMs,
		};
		const others = present.filter(each => each !== same);
		// One reason with ever other causes, such as exit codes, leaves room for the rest of the story.
		const alike = others.filter(each => each.reason === reason && each.type === event && each.fieldPath === fieldPath);
		const left = alike.length < limits.eventAspects ? others : others.filter(each => each !== alike[0]);
		this.#events.set(key, [...left, recorded].slice(-limits.eventsPerObject));
		this.#dirty.add(key);
		this.#flushLater();
		if (aspect === similar) this.#untold.set(key, new Map(this.#untold.get(key)).set(reason, recorded));
		else this.#options.onEvent?.(key, recorded);
		if (!this.#options.isThere(key)) this.left(key);
	}

	/** The object is gone: its events are told for their time, unless too many others go after it. */
	left(key: ObjectKey): void {
		if (!this.#events.has(key)) return;
		this.#gone.delete(key);
		this.#gone.add(key);
		for (const oldest of this.#gone) {
			if (this.#gone.size <= limits.goneObjects) return;
			this.forget(oldest);
		}
	}

	/** Another object has this name now: what happened to the one before is not its story. */
	forget(key: ObjectKey): void {
		this.#gone.delete(key);
		this.#untold.delete(key);
		if (!this.#events.delete(key)) return;
		this.#dirty.delete(key);
		this.#write(key);
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

	/** Writes what is dirty, and drops what is too old to be shown. */
	flush(): void {
		this.#cancelTimer();
		const dirty = [...this.#dirty];
		this.#dirty.clear();
		for (const key of dirty) this.#write(key);
		for (const key of [...this.#events.keys()]) if (this.of(key).length === 0) this.#write(key);
	}

	/** Writes what is dirty one last time; calls back when everything has its outcome. */
	finish(done: () => void): void {
		this.close();
		this.flush();
		this.#whenWritten = done;
		this.#checkWritten();
	}

	/** Writes nothing more by itself. */
	close(): void {
		this.#closed = true;
		this.#cancelTimer();
	}

	#write(key: ObjectKey): void {
		this.#tellOn(key);
		const events = this.of(key);
		if (events.length === 0) {
			this.#events.delete(key);
			this.#gone.delete(key);
		}
		this.#writing++;
		this.#options.put(eventsStoreKey(key), events.length === 0 ? undefined : () => JSON.stringify(events), taken => {
			this.#writing--;
			if (!taken) this.#writeAgain(key);
			this.#checkWritten();
		});
	}

	#tellOn(key: ObjectKey): void {
		for (const event of this.#untold.get(key)?.values() ?? []) this.#options.onEvent?.(key, event);
		this.#untold.delete(key);
	}

	/** A store in trouble is asked again at the next flush. */
	#writeAgain(key: ObjectKey): void {
		this.#dirty.add(key);
		this.#flushLater();
	}

	#flushLater(): void {
		if (this.#closed) return;
		this.#flushTimer ??= this.#options.clock.after(limits.eventFlushMs, () => this.flush());
	}

	#cancelTimer(): void {
		this.#flushTimer?.();
		this.#flushTimer = undefined;
	}

	#checkWritten(): void {
		if (this.#writing > 0) return;
		const done = this.#whenWritten;
		this.#whenWritten = undefined;
		done?.();
	}
}

const similar = 'similar';

/** The first of many are told one by one, then all others as one, as the EventAggregator of Kubernetes does. */
function combined(news: EventNews, present: readonly ObjectEvent[]): EventNews {
	if (news.isOneOfMany !== true) return news;
	const alike = present.filter(
		({reason, type, fieldPath}) => reason === news.reason && type === news.event && fieldPath === news.fieldPath,
	);
	const isKnown = alike.some(({aspect}) => aspect === news.aspect);
	const others = alike.filter(({aspect}) => aspect !== similar);
	if (isKnown || others.length < limits.eventAspects - 1) return news;
	return {...news, message: `(combined from similar events): ${news.message}`, aspect: similar};
}

/** Events are a help for people; a torn one is not worth a start. */
function parseEvents(body: string): ObjectEvent[] {
	const parsed = parsedJson(body);
	return Array.isArray(parsed) ? parsed.filter(isEvent) : [];
}

function isEvent(value: unknown): value is ObjectEvent {
	if (typeof value !== 'object' || value === null) return false;
	const {type, reason, message, fieldPath, aspect, count, firstAtMs, lastAtMs} = value as Record<string, unknown>;
	if (type !== 'Normal' && type !== 'Warning') return false;
	if ([fieldPath, aspect].some(each => each !== undefined && typeof each !== 'string')) return false;
	return [reason, message].every(each => typeof each === 'string') && [count, firstAtMs, lastAtMs].every(each => typeof each === 'number');
}
