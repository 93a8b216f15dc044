// Retained messages that live in the broker (presence and such), by topic level, so that a subscription looks only at what
// its filter can match. Bounded by count and bytes, in all and for each login: none can take the room of the others.

export type Retained = {
	readonly topic: string;
	readonly payload: Buffer;
	readonly qos: 0 | 1 | 2;
	/** The login that wrote it; undefined: the process of the broker itself. */
	readonly by?: string | undefined;
};

export type RetainedBounds = {
	readonly topics: number;
	readonly bytes: number;
	readonly topicsPerLogin: number;
	readonly bytesPerLogin: number;
};

/** What is retained of one login. */
type Share = {readonly topics: number; readonly bytes: number};

type Node = {readonly children: Map<string, Node>; retained: Retained | undefined};

const newNode = (): Node => ({children: new Map(), retained: undefined});
const isEmpty = (node: Node): boolean => node.children.size === 0 && node.retained === undefined;
const sizeOf = (retained: Retained | undefined): number => (retained === undefined ? 0 : retained.topic.length + retained.payload.length);

export class RetainedTree {
	readonly #root = newNode();
	readonly #bounds: RetainedBounds;
	readonly #shares = new Map<string, Share>();
	#topics = 0;
	#bytes = 0;

	constructor(bounds: RetainedBounds) {
		this.#bounds = bounds;
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
		if (!this.#hasRoom(message, before)) return false;
		let node = this.#root;
		for (const level of message.topic.split('/')) {
			let child = node.children.get(level);
			if (child === undefined) node.children.set(level, (child = newNode()));
			node = child;
		}
		node.retained = message;
		this.#count(before, -1);
		this.#count(message, 1);
		return true;
	}

	/** What is retained under a filter; wildcards at the front do not match topics that begin with `$` [MQTT-4.7.2-1]. */
	match(filter: string): Iterable<Retained> {
		return matching(this.#root, filter.split('/'), 0);
	}

	#hasRoom(message: Retained, before: Retained | undefined): boolean {
		const {topics, bytes, topicsPerLogin, bytesPerLogin} = this.#bounds;
		const replaced = before === undefined ? 0 : 1;
		if (this.#topics + 1 - replaced > topics || this.#bytes + sizeOf(message) - sizeOf(before) > bytes) return false;
		if (message.by === undefined) return true;
		const share = this.#shares.get(message.by) ?? {topics: 0, bytes: 0};
		const own = before?.by === message.by ? before : undefined;
		return share.topics + 1 - (own === undefined ? 0 : 1) <= topicsPerLogin && share.bytes + sizeOf(message) - sizeOf(own) <= bytesPerLogin;
	}

	#count(message: Retained | undefined, sign: 1 | -1): void {
		if (message === undefined) return;
		const bytes = sign * sizeOf(message);
		this.#topics += sign;
		this.#bytes += bytes;
		if (message.by === undefined) return;
		const share = this.#shares.get(message.by) ?? {topics: 0, bytes: 0};
		if (share.topics + sign === 0) this.#shares.delete(message.by);
		else this.#shares.set(message.by, {topics: share.topics + sign, bytes: share.bytes + bytes});
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
			this.#count(node.retained, -1);
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
