// Looks at the queue of Slurm over one connection, for all jobs there at once: often while something changes, and ever more rarely while nothing
// does.

import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {Held, slurmUnavailable} from './held.js';
import {lookScript, shellCommand} from './scripts.js';
import {readLook, saidOf, type Look} from './slurm-output.js';
import type {Ssh} from './ssh.js';

export type JobLook = {readonly rows: NonNullable<ReturnType<Look['rows']['get']>>; readonly position: number | undefined};

export type Follower = {
	/** What the next look says of a job: no rows where Slurm does not know it. */
	readonly next: (id: string, isWaiting: boolean, signal: AbortSignal) => Promise<JobLook>;
	readonly close: () => void;
};

type Watcher = {readonly isWaiting: boolean; readonly resolve: (look: JobLook) => void; readonly reject: (error: Error) => void};

export function createFollower(ssh: Ssh, clock: Clock): Follower {
	const watchers = new Map<string, Watcher[]>();
	/** What the last look said, by the number of the job: who is new changes the pace. */
	const last = new Map<string, string>();
	const closing = new AbortController();
	let pauseMs: number = limits.slurmPauseMs;
	let timer: Cancel | undefined;
	let isLooking = false;

	const plan = (): void => {
		if (timer !== undefined || isLooking || watchers.size === 0 || closing.signal.aborted) return;
		timer = clock.after(pauseMs, () => {
			timer = undefined;
			isLooking = true;
			void look().finally(() => {
				isLooking = false;
				plan();
			});
		});
	};
	const look = async (): Promise<void> => {
		const asked = new Map([...watchers].map(([id, all]) => [id, [...all]]));
		watchers.clear();
		const waiting = [...asked].filter(([, all]) => all.some(({isWaiting}) => isWaiting)).map(([id]) => id);
		try {
			const found = await looked(ssh, [...asked.keys()], waiting, closing.signal);
			let isChanged = false;
			for (const [id, all] of asked) {
				const news: JobLook = {rows: found.rows.get(id) ?? [], position: found.positions.get(id)};
				const text = JSON.stringify(news);
				isChanged ||= last.get(id) !== text;
				last.set(id, text);
				for (const {resolve} of all) resolve(news);
			}
			for (const id of last.keys()) if (!asked.has(id)) last.delete(id);
			pauseMs = isChanged ? limits.slurmPauseMs : Math.min(pauseMs * 2, limits.slurmPauseMostMs);
		} catch (error) {
			pauseMs = Math.min(pauseMs * 2, limits.slurmPauseMostMs);
			for (const all of asked.values()) for (const {reject} of all) reject(error as Error);
		}
	};
	return {
		next(id, isWaiting, signal) {
			return new Promise((resolve, reject) => {
				const gone = (): void => reject(signal.reason as Error);
				signal.addEventListener('abort', gone, {once: true});
				const leave = (): void => signal.removeEventListener('abort', gone);
				const watcher: Watcher = {
					isWaiting,
					resolve: value => (leave(), resolve(value)),
					reject: error => (leave(), reject(error)),
				};
				watchers.set(id, [...(watchers.get(id) ?? []), watcher]);
				if (!last.has(id) && pauseMs > limits.slurmPauseMs) {
					pauseMs = limits.slurmPauseMs;
					timer?.();
					timer = undefined;
				}
				plan();
			});
		},
		close() {
			closing.abort(new Held('Unreachable', 'the connection was closed'));
			timer?.();
			for (const all of watchers.values()) for (const {reject} of all) reject(closing.signal.reason as Error);
			watchers.clear();
		},
	};
}

async function looked(ssh: Ssh, ids: readonly string[], waiting: readonly string[], signal: AbortSignal): Promise<Look> {
	const {out, errors} = await ssh.run(shellCommand, {input: lookScript(ids, waiting), ms: limits.slurmCommandMs, signal});
	const unanswered = saidOf(out, 'unanswered');
	if (unanswered !== undefined) throw slurmUnavailable(unanswered);
	const found = readLook(out);
	if (found === undefined)
		throw new Held('SlurmUnavailable', `the login node did not say how the job is: ${errors.slice(0, limits.slurmSaidCharacters)}`);
	return found;
}
