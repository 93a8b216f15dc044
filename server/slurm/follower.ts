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
	readonly next: (asked: Asked, signal: AbortSignal) => Promise<JobLook>;
	readonly close: () => void;
};

export type Asked = {
	readonly id: string;
	readonly isWaiting: boolean;
	/** How many lines Slurm says of it. */
	readonly parts: number;
};

type Watcher = {readonly asked: Asked; readonly resolve: (look: JobLook) => void; readonly reject: (error: Error) => void};

export function createFollower(ssh: Pick<Ssh, 'run'>, clock: Clock): Follower {
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
		const all = new Map(watchers);
		watchers.clear();
		let isChanged = false;
		for (const group of groupsOf(all)) isChanged = (await lookAt(group)) || isChanged;
		for (const id of last.keys()) if (!all.has(id)) last.delete(id);
		pauseMs = isChanged ? limits.slurmPauseMs : Math.min(pauseMs * 2, limits.slurmPauseMostMs);
	};
	/** Whether anything has changed. */
	const lookAt = async (group: Group): Promise<boolean> => {
		const waiting = group.filter(([, each]) => each.some(({asked}) => asked.isWaiting)).map(([id]) => id);
		try {
			const ids = group.map(([id]) => id);
			const found = await looked(ssh, ids, waiting, closing.signal);
			let isChanged = false;
			for (const [id, each] of group) {
				const news: JobLook = {rows: found.rows.get(id) ?? [], position: found.positions.get(id)};
				const text = JSON.stringify(news);
				isChanged ||= last.get(id) !== text;
				last.set(id, text);
				for (const {resolve} of each) resolve(news);
			}
			return isChanged;
		} catch (error) {
			for (const [, each] of group) for (const {reject} of each) reject(error as Error);
			return false;
		}
	};
	return {
		next(asked, signal) {
			const {id} = asked;
			return new Promise((resolve, reject) => {
				const gone = (): void => reject(signal.reason as Error);
				signal.addEventListener('abort', gone, {once: true});
				const leave = (): void => signal.removeEventListener('abort', gone);
				const watcher: Watcher = {
					asked,
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

type Group = readonly (readonly [id: string, watchers: readonly Watcher[]])[];

/** As many at a time as one look can tell of. */
function groupsOf(all: ReadonlyMap<string, readonly Watcher[]>): readonly Group[] {
	const groups: [string, readonly Watcher[]][][] = [];
	let room = 0;
	for (const [id, watchers] of all) {
		const parts = watchers[0]?.asked.parts ?? 1;
		if (parts > room) {
			groups.push([]);
			room = limits.slurmLookJobs;
		}
		groups.at(-1)?.push([id, watchers]);
		room -= parts;
	}
	return groups;
}

async function looked(ssh: Pick<Ssh, 'run'>, ids: readonly string[], waiting: readonly string[], signal: AbortSignal): Promise<Look> {
	const {out, errors} = await ssh.run(shellCommand, {input: lookScript(ids, waiting), ms: limits.slurmCommandMs, signal});
	const unanswered = saidOf(out, 'unanswered');
	if (unanswered !== undefined) throw slurmUnavailable(unanswered);
	const found = readLook(out);
	if (found === undefined)
		throw new Held('SlurmUnavailable', `the login node did not say how the job is: ${errors.slice(0, limits.slurmSaidCharacters)}`);
	return found;
}
