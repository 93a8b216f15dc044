// What the commit pipeline needs of a store. Implemented by LevelDB, memory (and etcd); one contract suite holds for all.

/** The fence and the counter, written in the same transaction as every batch. */
export type Meta = {
	/** The last resourceVersion given out. */
	readonly version: number;
	/** Rises with every term of a leader. */
	readonly epoch: number;
	/** Random, new for an empty or restored store. */
	readonly lineage: string;
	/** Lineages whose past this store has, or gives up, by an operator's word: what is remembered of them gives way to it. */
	readonly replaces?: readonly string[];
	/** Of all records that are stored; undefined while some of them are still without checksums, as older versions wrote them. */
	readonly records?: RecordTotals;
};

/** How many records there are, and the sum of their checksums modulo 2^128, in hex: whatever their order, one that is missing shows. */
export type RecordTotals = {readonly count: number; readonly sum: string};

/** One write of a batch; a body of `undefined` removes the key. Serialised only by a driver that needs the bytes. */
export type Write = {readonly key: string; readonly body: (() => string) | undefined};

export type Batch = {
	readonly writes: readonly Write[];
	/** What `meta` must hold for the batch to be taken: the fence. */
	readonly expected: Meta;
	readonly next: Meta;
};

/**
 * `failed`: surely not applied. `unknown`: may or may not be applied; ask `readMeta`.
 * `fenced`: another writer wrote `meta`; this writer's epoch is over.
 */
export type CommitOutcome =
	| {readonly type: 'committed'}
	| {readonly type: 'failed'; readonly message: string}
	| {readonly type: 'unknown'; readonly message: string}
	| {readonly type: 'fenced'; readonly message: string};

export type StoredRecord = {readonly key: string; readonly body: string};

export type StoreFailure = {
	readonly ok: false;
	readonly message: string;
	/** What is there is not what was written: no later attempt helps. */
	readonly damaged?: true;
};

export type MetaOutcome = {readonly ok: true; readonly meta: Meta | undefined} | StoreFailure;

export type LoadOutcome = {readonly ok: true; readonly records: Iterable<StoredRecord>} | StoreFailure;

/** All there is as of one moment, read while others write. */
export type Snapshot = {
	readonly meta: Meta | undefined;
	/** In key order and in portions; `meta` is not among them. Throws where reading fails. */
	readonly records: AsyncIterable<readonly StoredRecord[]>;
};

/** Callbacks, not promises, so that the virtual world runs it without an event loop. A callback is called exactly once. */
export type StoreDriver = {
	readonly name: string;
	/** One batch at a time: the next is handed over after the outcome of the last. */
	readonly commit: (batch: Batch, done: (outcome: CommitOutcome) => void) => void;
	readonly readMeta: (done: (outcome: MetaOutcome) => void) => void;
	/**
	 * All records whose key begins with the prefix, in key order. A driver that has them in memory all at once keeps what `read` makes of each in
	 * its place as soon as it has it.
	 */
	readonly load: (prefix: string, done: (outcome: LoadOutcome) => void, read?: (record: StoredRecord) => StoredRecord) => void;
	/** For a backup, which never runs in the virtual world. Rejects where the store cannot be read. */
	readonly snapshot: (prefix: string) => Promise<Snapshot>;
	/** Closes files and connections; later calls fail. */
	readonly close: () => Promise<void>;
};
