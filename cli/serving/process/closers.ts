// What was opened, closed in reverse: where the start or the end fails half way, nothing of it is left open.

export type Close = () => Promise<void> | void;

export type Closers = {
	readonly add: (close: Close) => void;
	/** Closes all, then rejects with the first failure there was. */
	readonly closeAll: () => Promise<void>;
};

export function createClosers(): Closers {
	const closers: Close[] = [];
	return {
		add: close => void closers.push(close),
		async closeAll() {
			const failures: unknown[] = [];
			for (const close of closers.splice(0).reverse()) {
				try {
					await close();
				} catch (error) {
					failures.push(error);
				}
			}
			if (failures.length > 0) throw failures[0];
		},
	};
}
