// A promise that several may settle; the first word counts.

export type Decision = {
	readonly promise: Promise<void>;
	readonly isSettled: () => boolean;
	readonly resolve: () => void;
	readonly reject: (error: unknown) => void;
};

export function openDecision(): Decision {
	let settled = false;
	let onResolve: () => void = () => undefined;
	let onReject: (error: unknown) => void = () => undefined;
	const promise = new Promise<void>((resolve, reject) => {
		onResolve = resolve;
		onReject = reject;
	});
	return {
		promise,
		isSettled: () => settled,
		resolve() {
			settled = true;
			onResolve();
		},
		reject(error) {
			settled = true;
			onReject(error);
		},
	};
}
