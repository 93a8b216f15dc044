// Retained messages that live in the broker (presence and such), by topic level, so that a subscription looks only at what
// its filter can match. Bounded by count and bytes.

export type Retained = {readonly topic: string; readonly payload: Buffer; readonly qos: 0 | 1 | 2};

type Node = {readonly children: Map<string, Node>; retained: Retained | undefined};

const newNode = (): Node => ({children: new Map(), retained: undefined});
const isEmpty = (node: Node): boolean => node.children.size === 0 && node.retained === undefined;
const sizeOf = (retained: Retained | undefined): number => (retained === undefined ? 0 : retained.topic.length + retained.payload.length);

export class RetainedTree {
	readonly #root = newNode();
	readonly #maxTopics: number;
	readonly #maxBytes: number;
	#topics = 0;
	#bytes = 0;

	constructor(maxTopics: number, maxBytes: number) {
		this.#maxTopics = maxTopics;
		this.#maxBytes = maxBytes;
	}

	get size(): number {
		return this.#topics;
	}

	/** Keeps the message in place of an older one; an empty payload clears the topic. False: there is no room for it. */
	set(message: Retained): boolean {
		if (message.payload.length === 0) {
			this.#clear(this.#root, message.topic.split('/'), 0);
			return true;
		}
		const before = this.#find(message.topic)?.retained;
		const bytes = this.#bytes + sizeOf(message) - sizeOf(before);
		if (bytes > this.#maxBytes || (before === undefined && this.#topics >= this.#maxTopics)) return false;
		let node = this.#root;
		for (const level of message.topic.split('/')) {
			let child = node.children.get(level);
			if (child === undefined) node.children.set(level, (child = newNode()));
			node = child;
		}
		node.retained = message;
		this.#bytes = bytes;
		if (before === undefined) this.#topics += 1;
		return true;
	}

	/** What is retained under a filter; wildcards at the front do not match topics that begin with `$` [MQTT-4.7.2-1]. */
	match(filter: string): Iterable<Retained> {
		return matching(this.#root, filter.split('/'), 0);
	}

	#find(topic: string): Node | undefined {
		let node: Node | undefined = this.#root;
		for (const level of topic.split('/')) node = node?.children.get(level);
		return node;
	}

	#clear(node: Node, levels: readonly string[], depth: number): void {
		const level = levels[depth];
		if (level === undefined) {
			if (node.retained === undefined) return;
			this.#bytes -= sizeOf(node.retained);
			this.#topics -= 1;
			node.retained = undefined;
			return;
		}
		const child = node.children.get(level);
		if (child === undefined) return;
		this.#clear(child, levels, depth + 1);
		if (isEmpty(child)) node.children.delete(level);
	}
}

function* matching(node: Node, filter: readonly string[], depth: number): Generator<Retained> {
	const level = filter[depth];
	if (level === undefined || level === '#') {
		// `a/#` matches `a` itself [MQTT 4.7.1.2].
		if (node.retained !== undefined) yield node.retained;
		if (level === undefined) return;
	}
	if (level === '#' || level === '+') {
		for (const [name, child] of node.children) {
			if (depth === 0 && name.startsWith('$')) continue;
			yield* matching(child, filter, level === '#' ? depth : depth + 1);
		}
		return;
	}
	const child = node.children.get(level);
	if (child !== undefined) yield* matching(child, filter, depth + 1);
}
