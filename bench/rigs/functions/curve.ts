// How many instances a function has over time.

import {pause} from '../../harness/pause.js';

export type Size = {readonly atMs: number; readonly instances: number; readonly ready: number};

export type Curve = {
	/** Each time that it changed, from its beginning on. */
	readonly sizes: readonly Size[];
	readonly end: () => Promise<void>;
};

const lookMs = 10;

/** Looks at what a watch has told last; that costs the cluster nothing. */
export function followCurve(sizeNow: () => Partial<Omit<Size, 'atMs'>> | undefined): Curve {
	const beganAt = performance.now();
	const sizes: Size[] = [];
	let isOver = false;
	const follow = async (): Promise<void> => {
		while (!isOver) {
			const {instances = 0, ready = 0} = sizeNow() ?? {};
			const last = sizes.at(-1);
			if (last?.instances !== instances || last.ready !== ready) sizes.push({atMs: performance.now() - beganAt, instances, ready});
			await pause(lookMs);
		}
	};
	const done = follow();
	return {
		sizes,
		async end() {
			isOver = true;
			await done;
		},
	};
}

/** How many there were at each so many milliseconds, to the last change. */
export function everySoOften(sizes: readonly Size[], stepMs: number): readonly number[] {
	const steps = Math.ceil((sizes.at(-1)?.atMs ?? 0) / stepMs);
	return Array.from({length: steps + 1}, (_, step) => sizes.findLast(({atMs}) => atMs <= step * stepMs)?.instances ?? 0);
}
