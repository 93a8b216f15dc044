// Pulls under way: one an image and login, so many at a time, the rest in the order in which they were asked for.
//
// Logins are part of what makes two pulls one: what a pod's own Secret opens must not be had by a pod that only asked at the same moment.

import {createHash} from 'node:crypto';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {createDeferred} from '../../../system/time/deferred.js';
import type {Engine} from '../engine/engine.js';
import type {Credentials} from './credentials.js';
import type {ImageReference} from './image-reference.js';
import type {PullProgress} from './pull-progress.js';
import {PullError, pullImage} from './pull.js';

export type Pulls = {
	/** Resolves once the image is there, with the milliseconds that the pull took, its wait for others aside. Rejects with a PullError. */
	readonly pull: (
		image: ImageReference,
		credentials: readonly Credentials[],
		onProgress: (progress: PullProgress) => void,
	) => Promise<{readonly ms: number}>;
	/** Ends all of them. */
	readonly close: () => void;
};

type Pull = {
	readonly listeners: Set<(progress: PullProgress) => void>;
	/** What was told last: also to a listener that comes later. */
	last: PullProgress | undefined;
	readonly done: Promise<{readonly ms: number}>;
	readonly begin: () => void;
};

export function createPulls(options: {readonly engine: Engine; readonly clock: Clock}): Pulls {
	const all = new Map<string, Pull>();
	const waiting: Pull[] = [];
	const closing = new AbortController();
	let running = 0;

	const beginNext = (): void => {
		while (running < limits.imagePulls) {
			const next = waiting.shift();
			if (next === undefined) return;
			running += 1;
			next.begin();
		}
	};

	function add(key: string, image: ImageReference, credentials: readonly Credentials[]): Pull {
		const turn = createDeferred();
		const listeners: Pull['listeners'] = new Set();
		const run = async (): Promise<{ms: number}> => {
			await turn.promise;
			const startedMs = options.clock.monotonicMs();
			await pullWithAny({...options, image, credentials, signal: closing.signal, onProgress: tell});
			return {ms: options.clock.monotonicMs() - startedMs};
		};
		const over = (): void => {
			all.delete(key);
			running -= 1;
			beginNext();
		};
		const pull: Pull = {listeners, last: undefined, done: run().finally(over), begin: () => turn.resolve()};
		const tell = (progress: PullProgress): void => {
			pull.last = progress;
			for (const listener of listeners) listener(progress);
		};
		all.set(key, pull);
		waiting.push(pull);
		return pull;
	}

	return {
		async pull(image, credentials, onProgress) {
			const key = keyOf(image, credentials);
			if (closing.signal.aborted) throw new PullError('the agent is being stopped');
			if (!all.has(key) && waiting.length >= limits.imagePullsWaiting) throw new PullError(tooMany);
			const pull = all.get(key) ?? add(key, image, credentials);
			// One that asks twice is told twice.
			const listener = (progress: PullProgress): void => onProgress(progress);
			pull.listeners.add(listener);
			onProgress(pull.last ?? {bytes: 0, totalBytes: undefined, percent: undefined});
			beginNext();
			try {
				return await pull.done;
			} finally {
				pull.listeners.delete(listener);
			}
		},
		close() {
			closing.abort();
			for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
				running += 1;
				next.begin();
			}
		},
	};
}

const tooMany = `${limits.imagePullsWaiting} pulls are waiting on this node already`;

const keyOf = ({name}: ImageReference, credentials: readonly Credentials[]): string =>
	`${name} ${createHash('sha256').update(JSON.stringify(credentials)).digest('hex')}`;

type AnyPull = Omit<Parameters<typeof pullImage>[0], 'credentials'> & {readonly credentials: readonly Credentials[]};

/** As the kubelet: each login in turn until one opens it; without any, as one without a login. What failed last is told. */
async function pullWithAny({credentials, ...options}: AnyPull): Promise<void> {
	const logins = credentials.length === 0 ? [undefined] : credentials;
	let why: unknown;
	for (const login of logins) {
		try {
			return await pullImage({...options, credentials: login});
		} catch (error) {
			why = error;
		}
	}
	throw why;
}
