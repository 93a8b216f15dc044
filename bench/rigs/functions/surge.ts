// Clients that call a function one call after the other for some time, and how many instances it had meanwhile.

import {Agent} from 'node:http';
import {pause} from '../../harness/pause.js';
import {call, type Callable} from './call.js';

export type Calls = {
	/** What each good answer took, in milliseconds. */
	readonly answered: readonly number[];
	/** What the others were answered with, or why there was no answer. */
	readonly failed: readonly string[];
};

/** Rejects never: what fails is counted. */
export async function keepCalling(where: Callable, clients: number, ms: number): Promise<Calls> {
	const answered: number[] = [];
	const failed: string[] = [];
	const agent = new Agent({keepAlive: true});
	const endsAt = performance.now() + ms;
	const client = async (): Promise<void> => {
		while (performance.now() < endsAt) {
			try {
				const {status, tookMs} = await call(where, {}, agent);
				if (status === 200) answered.push(tookMs);
				else failed.push(String(status));
			} catch (error) {
				failed.push((error as Error).message);
			}
		}
	};
	await Promise.all(Array.from({length: clients}, client));
	agent.destroy();
	return {answered, failed};
}

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
