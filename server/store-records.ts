// Records of the term's store that are no objects, one at a time.

export type StoreRecords = {
	/** An undefined body removes it. In the order of the calls. Rejects with an AppError. */
	readonly put: (key: string, body: string | undefined) => Promise<void>;
	/** Undefined: there is none. Rejects with an AppError. */
	readonly get: (key: string) => Promise<string | undefined>;
};
