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

type Item = {readonly topic: string; readonly payload: Buffer; readonly latestOnly: boolean};

export class Outbox {
	readonly #options: OutboxOptions;
	// A topic is the key of what only the latest matters of; a number of anything else. The order is that of publishing.
	readonly #waiting = new Map<string | number, Item>();
	#waitingBytes = 0;
	#serial = 0;
	#open = 0;
	#openBytes = 0;
	#draining = false;

	constructor(options: OutboxOptions) {
		this.#options = options;
	}

	/** `latestOnly`: a newer message of the topic may take the place of one that waits. */
	publish(topic: string, payload: Buffer, latestOnly: boolean): void {
		const item = {topic, payload, latestOnly};
		if (this.#waiting.size === 0 && this.#fits(payload.length)) this.#emit(item);
		else this.#wait(item);
	}

	/** Forgets what waits. */
	clear(): void {
		this.#waiting.clear();
		this.#waitingBytes = 0;
	}

	waiting(): number {
		return this.#waiting.size;
	}

	#fits(bytes: number): boolean {
		return this.#open === 0 || (this.#open < this.#options.windowMessages && this.#openBytes + bytes <= this.#options.windowBytes);
	}

	#emit({topic, payload, latestOnly}: Item): void {
		const emitted = (): void => {
			this.#open -= 1;
			this.#openBytes -= payload.length;
			this.#drain();
		};
		this.#open += 1;
		this.#openBytes += payload.length;
		this.#options.emit(topic, payload, emitted, latestOnly);
	}

	#forget(key: string | number, item: Item): void {
		this.#waiting.delete(key);
		this.#waitingBytes -= item.payload.length;
	}

	/** A loop, since `done` may be called inside `emit`. */
	#drain(): void {
		if (this.#draining) return;
		this.#draining = true;
		const before = this.#waiting.size;
		for (const [key, item] of this.#waiting) {
			if (!this.#fits(item.payload.length)) break;
			this.#forget(key, item);
			this.#emit(item);
		}
		this.#draining = false;
		if (before > 0 && this.#waiting.size === 0) this.#options.onIdle?.();
	}

	#wait(item: Item): void {
		const key = item.latestOnly ? item.topic : (this.#serial += 1);
		const older = this.#waiting.get(key);
		if (older !== undefined) {
			this.#forget(key, older);
			this.#options.onReplaced(item.topic);
		}
		this.#waiting.set(key, item);
		this.#waitingBytes += item.payload.length;
		for (const [oldest, dropped] of this.#waiting) {
			if (this.#waiting.size <= this.#options.waitingMessages && this.#waitingBytes <= this.#options.waitingBytes) break;
			this.#forget(oldest, dropped);
			this.#options.onDropped(dropped.topic);
		}
	}
}
