// The window on the broker's own publishes, and what waits beyond it: the latest per retained topic, everything else in
// order, both bounded. What is replaced or dropped shows to a subscriber as a gap (`prev`).

export type OutboxLimits = {
	readonly windowMessages: number;
	readonly windowBytes: number;
	readonly waitingMessages: number;
	readonly waitingBytes: number;
};

export type OutboxOptions = OutboxLimits & {
	/** `done` is called once, now or later. `latestOnly` is what `publish` was told. */
	readonly emit: (topic: string, payload: Buffer, done: () => void, latestOnly: boolean) => void;
	readonly onReplaced: (topic: string) => void;
	readonly onDropped: (topic: string) => void;
	/** Nothing waits any more. */
	readonly onIdle?: () => void;
};

export type Outbox = {
	/** `latestOnly`: a newer message of the topic may take the place of one that waits. */
	readonly publish: (topic: string, payload: Buffer, latestOnly: boolean) => void;
	/** Forgets what waits. */
	readonly clear: () => void;
	readonly waiting: () => number;
};

type Item = {readonly topic: string; readonly payload: Buffer; readonly latestOnly: boolean};

export function createOutbox(options: OutboxOptions): Outbox {
	// A topic is the key of what only the latest matters of; a number of anything else. The order is that of publishing.
	const waiting = new Map<string | number, Item>();
	let waitingBytes = 0;
	let serial = 0;
	let open = 0;
	let openBytes = 0;
	let draining = false;

	const fits = (bytes: number): boolean => open === 0 || (open < options.windowMessages && openBytes + bytes <= options.windowBytes);

	const emit = ({topic, payload, latestOnly}: Item): void => {
		const emitted = (): void => {
			open -= 1;
			openBytes -= payload.length;
			drain();
		};
		open += 1;
		openBytes += payload.length;
		options.emit(topic, payload, emitted, latestOnly);
	};

	const forget = (key: string | number, item: Item): void => {
		waiting.delete(key);
		waitingBytes -= item.payload.length;
	};

	/** A loop, since `done` may be called inside `emit`. */
	const drain = (): void => {
		if (draining) return;
		draining = true;
		const before = waiting.size;
		for (const [key, item] of waiting) {
			if (!fits(item.payload.length)) break;
			forget(key, item);
			emit(item);
		}
		draining = false;
		if (before > 0 && waiting.size === 0) options.onIdle?.();
	};

	const wait = (item: Item): void => {
		const key = item.latestOnly ? item.topic : (serial += 1);
		const older = waiting.get(key);
		if (older !== undefined) {
			forget(key, older);
			options.onReplaced(item.topic);
		}
		waiting.set(key, item);
		waitingBytes += item.payload.length;
		for (const [oldest, dropped] of waiting) {
			if (waiting.size <= options.waitingMessages && waitingBytes <= options.waitingBytes) break;
			forget(oldest, dropped);
			options.onDropped(dropped.topic);
		}
	};

	return {
		publish(topic, payload, latestOnly) {
			const item = {topic, payload, latestOnly};
			if (waiting.size === 0 && fits(payload.length)) emit(item);
			else wait(item);
		},
		clear() {
			waiting.clear();
			waitingBytes = 0;
		},
		waiting: () => waiting.size,
	};
}
