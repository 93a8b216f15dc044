// What was opened, closed in reverse: whatever fails half way, nothing of it is left.

export type Close = () => Promise<void> | void;

export type Closers = {
	readonly add: (close: Close) => void;
	readonly closeAll: () => Promise<void>;
};

export function createClosers(): Closers {
	const closers: Close[] = [];
	return {
		add: close => void closers.push(close),
		async closeAll() {
			for (const close of closers.splice(0).reverse()) await close();
		},
	};
}
