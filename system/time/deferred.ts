// A promise that is settled from outside, by several if need be; the first word counts.

export type Deferred<Value = void> = {
	readonly promise: Promise<Value>;
	readonly isSettled: () => boolean;
	readonly resolve: (value: Value) => void;
	readonly reject: (error: unknown) => void;
};

export function createDeferred<Value = void>(): Deferred<Value> {
	let settled = false;
	let onResolve: (value: Value) => void = () => undefined;
	let onReject: (error: unknown) => void = () => undefined;
	const promise = new Promise<Value>((resolve, reject) => {
		onResolve = resolve;
		onReject = reject;
	});
	return {
		promise,
		isSettled: () => settled,
		resolve(value) {
			settled = true;
			onResolve(value);
		},
		reject(error) {
			settled = true;
			onReject(error);
		},
	};
}
