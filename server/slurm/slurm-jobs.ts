// The edge that acts on SlurmJobs, for one leader's term: a worker for each that is not over takes it from phase to phase.
//
// What it keeps true: what is to be done is committed by the record before it is done; a worker reads the record before each step, and has
// nothing that the next term would need.

import type {LookupFunction} from 'node:net';
import type {SlurmHeld, SlurmNews, SlurmReleased} from '../../actors/control/slurm/slurm-news.js';
import {namespaceKey} from '../../actors/addresses.js';
import {secretKey} from '../../actors/config-references.js';
import {AppError} from '../../api/errors.js';
import {objectAddress, objectKey, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {slurmPhaseOf, type SlurmJob} from '../../api/kinds/slurmjob.js';
import {limits} from '../../api/limits.js';
import {isSlurmEnd, type SlurmPhase} from '../../api/slurm-phase.js';
import type {Change} from '../../system/index/object-index.js';
import {exponentialBackoffMs} from '../../system/kernel/restart-policy.js';
import type {Clock} from '../../system/time/clock.js';
import type {ArtifactStore} from '../artifact-store.js';
import type {ControlPlane} from '../control-plane.js';
import type {Seals} from '../seal.js';
import {unlessAborted} from '../workflows/turns.js';
import {accessOf, type Access} from './access.js';
import {Held, Refused} from './held.js';
import {beginning, remove, step, type Told} from './job-steps.js';
import {remotePathOf} from './results.js';
import type {StepParts} from './step-parts.js';
import {createSessions, type Session, type Sessions} from './sessions.js';
import {createSharedReadings} from './shared-readings.js';

export type SlurmJobsOptions = {
	readonly control: Pick<ControlPlane, 'index' | 'ask'>;
	readonly seals: Seals;
	readonly artifacts: Pick<ArtifactStore, 'read' | 'keep' | 'has'>;
	readonly clock: Clock;
	/** The socket of the server's SSH agent. */
	readonly agent?: string | undefined;
	readonly lookup?: LookupFunction | undefined;
	readonly onProblem: (error: unknown) => void;
};

export type SlurmJobs = {
	/** Takes up what is under way. */
	readonly begin: () => void;
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	/** Some bytes of a file of a job, as it is at the login node now; undefined: there is none. Rejects with an AppError. */
	readonly readFile: (job: SlurmJob, name: string, position: number, most: number, signal: AbortSignal) => Promise<Buffer | undefined>;
	readonly counts: Sessions['counts'];
	/** Ends what is under way here, and tells nobody. Jobs go on. */
	readonly close: () => void;
};

type Worker = {
	readonly uid: string;
	/** Something has changed that it may wait for. */
	wake: () => void;
	/** What it does now is not wanted any more. */
	interrupt: () => void;
	readonly kept: StepParts['kept'];
	/** What it logged in with last. */
	access: Access | undefined;
};

const plural = 'slurmjobs';

export function createSlurmJobs(options: SlurmJobsOptions): SlurmJobs {
	const {control, clock, onProblem} = options;
	const workers = new Map<ObjectKey, Worker>();
	const sessions = createSessions(options);
	const sharedReadings = createSharedReadings(clock);
	const closing = new AbortController();
	const {signal} = closing;
	let isOpen = false;
	const accessParts = {known: control.index, seals: options.seals, agent: options.agent};

	const current = (key: ObjectKey, uid: string): SlurmJob | undefined => {
		const job = control.index.get(key) as SlurmJob | undefined;
		return job?.metadata.uid === uid ? job : undefined;
	};
	const start = (key: ObjectKey, {metadata: {uid}}: SlurmJob): void => {
		const worker: Worker = {uid, wake: () => undefined, interrupt: () => undefined, kept: {}, access: undefined};
		workers.set(key, worker);
		work(key, worker)
			.catch((error: unknown) => {
				if (!signal.aborted) onProblem(error);
			})
			.finally(() => {
				if (workers.get(key) === worker) workers.delete(key);
				const next = control.index.get(key) as SlurmJob | undefined;
				if (!signal.aborted && next !== undefined && next.metadata.uid !== uid && isWork(next)) start(key, next);
			});
	};
	const tell = async (key: ObjectKey, message: SlurmNews | SlurmReleased): Promise<void> => {
		const outcome = await control.ask(objectAddress(key), message, {deadlineMs: limits.askDeadlineMs, cause: 'slurm'});
		signal.throwIfAborted();
		// It is another one than was read: the next look says how it is.
		if (!outcome.ok && outcome.error.code !== 'ERR_CONFLICT' && outcome.error.code !== 'ERR_NO_SUCH_ACTOR')
			throw AppError.of(outcome.error);
	};
	const news = (key: ObjectKey, job: SlurmJob, more: Partial<SlurmNews> & {readonly to: SlurmPhase}): Promise<void> =>
		tell(key, {type: 'slurmNews', uid: job.metadata.uid, from: slurmPhaseOf(job), ...more});

	/** One that is deleted together with its Secret, as with its namespace, is ended in Slurm with what it logged in with last. */
	const accessFor = (job: SlurmJob, worker: Worker | undefined): Access => {
		try {
			const access = accessOf(accessParts, job);
			if (worker !== undefined) worker.access = access;
			return access;
		} catch (error) {
			const isSecretGone = error instanceof Held && error.reason === 'SecretMissing';
			const isGoing =
				isDeleted(job) || current(objectKey(plural, job.metadata.namespace, job.metadata.name), job.metadata.uid) === undefined;
			if (!isSecretGone || !isGoing || worker?.access === undefined) throw error;
			return worker.access;
		}
	};

	/** Over the connection of a job's login. A key that is seen for the first time is committed before it is trusted. */
	const over = async <Value>(
		key: ObjectKey,
		job: SlurmJob,
		{stopping, worker}: {readonly stopping: AbortSignal; readonly worker?: Worker | undefined},
		act: (session: Session) => Promise<Value>,
	): Promise<Value> =>
		sessions.use(
			accessFor(job, worker),
			{
				signal: stopping,
				onFirstKey: async hostKey => {
					const now = current(key, job.metadata.uid);
					if (now === undefined || now.status?.hostKey === hostKey) return;
					await news(key, now, {to: slurmPhaseOf(now), facts: {hostKey}, trusted: true});
				},
			},
			act,
		);

	const partsOf = (session: Session, stopping: AbortSignal, {kept}: Pick<Worker, 'kept'>): StepParts => ({
		kept,
		session,
		artifacts: options.artifacts,
		clock,
		signal: stopping,
	});

	/** One step. */
	const go = async (key: ObjectKey, worker: Worker, job: SlurmJob, stopping: AbortSignal): Promise<void> => {
		const told: Told | undefined =
			slurmPhaseOf(job) === 'Pending'
				? beginning(job, accessOf(accessParts, job))
				: await over(key, job, {stopping, worker}, session => step(partsOf(session, stopping, worker), job));
		const now = current(key, job.metadata.uid);
		if (told === undefined || now === undefined) return;
		const isHeld = now.status?.conditions?.some(({type}) => type === 'Reachable') === true;
		if (told.to === slurmPhaseOf(now) && !isHeld && isKnown(now, told)) return;
		await news(key, now, {...told, from: slurmPhaseOf(job), ...(isHeld ? {held: null} : {})});
	};

	const isEnding = (namespace: string | undefined): boolean =>
		control.index.get(namespaceKey(namespace ?? ''))?.metadata.deletionTimestamp !== undefined;

	const release = async (key: ObjectKey, worker: Worker, job: SlurmJob): Promise<void> => {
		if (job.status?.isReleased !== undefined || job.status?.folder === undefined) return;
		const {uid} = job.metadata;
		try {
			await over(key, job, {stopping: signal, worker}, session => remove(partsOf(session, signal, worker), job));
			await tell(key, {type: 'slurmReleased', uid, how: 'released'});
		} catch (error) {
			const isSecretGone = error instanceof Held && error.reason === 'SecretMissing';
			// Nothing of it can be there where no login was ever taken.
			const isUnborn = neverSubmitted(job) && (error instanceof Refused || (error instanceof Held && error.reason === 'HostNotListed'));
			// With its namespace the Secret does not come back.
			if (!isUnborn && !(isSecretGone && (neverSubmitted(job) || isEnding(job.metadata.namespace)))) throw error;
			await tell(key, {type: 'slurmReleased', uid, how: 'givenUp'});
		}
	};

	/** The record did not wait: one try, with what is known of it. */
	const abandon = (key: ObjectKey, worker: Worker | undefined, job: SlurmJob): void => {
		worker?.interrupt();
		if (job.status?.folder === undefined || job.status.isReleased !== undefined) return;
		const stopping = signal;
		over(key, job, {stopping, worker}, session => remove(partsOf(session, signal, {kept: {}}), job)).catch(noted);
	};

	async function work(key: ObjectKey, worker: Worker): Promise<void> {
		let failures = 0;
		for (;;) {
			signal.throwIfAborted();
			const job = current(key, worker.uid);
			if (job === undefined || !isWork(job)) return;
			const woken = new Promise<void>(resolve => (worker.wake = resolve));
			const stopping = new AbortController();
			worker.interrupt = () => stopping.abort(new Error('the job is being deleted'));
			try {
				await (isDeleted(job) ? release(key, worker, job) : go(key, worker, job, AbortSignal.any([signal, stopping.signal])));
				failures = 0;
				// A record that has not gone on is not asked again at once.
				if (current(key, worker.uid) === job && (isDeleted(job) || !isFollowed(job))) await pauseOr(clock, woken, limits.slurmPauseMs);
			} catch (error) {
				signal.throwIfAborted();
				if (stopping.signal.aborted) continue;
				failures++;
				await pauseOr(clock, woken, await held(key, worker, error, failures));
			}
		}
	}

	/** Says why a job does not go on; for how long, or undefined: until something changes. */
	async function held(key: ObjectKey, {uid}: Worker, error: unknown, failures: number): Promise<number | undefined> {
		const backOffMs = exponentialBackoffMs(failures, limits.slurmPauseMs, limits.slurmPauseMostMs);
		const isKnownFailure = error instanceof Held || error instanceof Refused;
		if (!isKnownFailure) onProblem(error);
		const reason = isKnownFailure ? error.reason : 'Failed';
		const message = (error as Error).message.slice(0, limits.warningCharacters);
		const now = current(key, uid);
		if (now === undefined) return 0;
		if (error instanceof Refused && !isDeleted(now) && neverSubmitted(now)) {
			const facts = {outcome: {phase: 'Failed' as const, reason, message}};
			return news(key, now, {to: 'Failed', facts}).then(
				() => 0,
				(failed: unknown) => (onProblem(failed), backOffMs),
			);
		}
		if (!isHeldBy(now, {reason, message})) await news(key, now, {to: slurmPhaseOf(now), held: {reason, message}}).catch(onProblem);
		if (error instanceof Refused) return limits.slurmRefusedPauseMs;
		return error instanceof Held && error.pause === 'untilChanged' ? undefined : backOffMs;
	}

	return {
		begin() {
			isOpen = true;
			for (const object of control.index.list(plural)) {
				const job = object as SlurmJob;
				if (isWork(job)) start(objectKey(plural, job.metadata.namespace, job.metadata.name), job);
			}
		},
		hear({key, before, after}) {
			if (!isOpen || signal.aborted) return;
			const changed = parseObjectKey(key).plural;
			if (changed === 'clusterconfigs') for (const worker of workers.values()) worker.wake();
			if (changed === 'secrets')
				for (const [of, worker] of workers) if (secretKeyOf(control.index.get(of) as SlurmJob | undefined) === key) worker.wake();
			if (changed !== plural) return;
			const worker = workers.get(key);
			if (after === undefined) return before === undefined ? undefined : abandon(key, worker, before.object as SlurmJob);
			const job = after.object as SlurmJob;
			if (worker === undefined) {
				if (isWork(job)) start(key, job);
				return;
			}
			const old = before?.object as SlurmJob | undefined;
			const isNewlyDeleted = isDeleted(job) && (old === undefined || !isDeleted(old));
			if (isNewlyDeleted) worker.interrupt();
			if (isNewlyDeleted || old?.metadata.generation !== job.metadata.generation) worker.wake();
		},
		async readFile(job, name, position, most, asked) {
			const key = objectKey(plural, job.metadata.namespace, job.metadata.name);
			const read = (stopping: AbortSignal): Promise<Buffer | undefined> =>
				over(key, job, {stopping}, ({ssh}) => ssh.files.read(remotePathOf(job, name), position, most, stopping));
			try {
				// Of one that is over the end of the file is the end.
				if (isSlurmEnd(slurmPhaseOf(job))) return await read(AbortSignal.any([signal, asked]));
				const {uid} = job.metadata;
				return await unlessAborted(asked, () => sharedReadings(`${uid} ${position} ${most} ${name}`, most, () => read(signal)));
			} catch (error) {
				if (asked.aborted || !(error instanceof Held || error instanceof Refused)) throw error;
				throw new AppError('ERR_NOT_REACHABLE', {message: error.message}, error);
			}
		},
		counts: sessions.counts,
		close() {
			closing.abort(new Error('this server does not lead any more'));
			sessions.close();
			workers.clear();
		},
	};
}

/** Nobody is there any more who could be told. */
const noted = (): void => undefined;

/** Of the Secret that it names. */
const secretKeyOf = (job: SlurmJob | undefined): ObjectKey | undefined =>
	job?.spec?.secretName === undefined ? undefined : secretKey(job.metadata.namespace ?? '', job.spec.secretName);

const isDeleted = ({metadata}: SlurmJob): boolean => metadata.deletionTimestamp !== undefined;

const isWork = (job: SlurmJob): boolean =>
	isDeleted(job) ? job.status?.isReleased === undefined && job.status?.folder !== undefined : !isSlurmEnd(slurmPhaseOf(job));

const before: ReadonlySet<SlurmPhase> = new Set(['Pending', 'Uploading', 'Compiling', 'Failed']);

/** Slurm has never been asked to take it. */
const neverSubmitted = (job: SlurmJob): boolean => job.status?.jobId === undefined && before.has(slurmPhaseOf(job));

const isFollowed = (job: SlurmJob): boolean => slurmPhaseOf(job) === 'Queued' || slurmPhaseOf(job) === 'Running';

const isHeldBy = ({status}: SlurmJob, {reason, message}: SlurmHeld): boolean =>
	status?.conditions?.some(each => each.type === 'Reachable' && each.reason === reason && each.message === message) === true;

/** Whether its status says all of that already. */
function isKnown({status}: SlurmJob, {facts, seen}: Told): boolean {
	const known: Readonly<Record<string, unknown>> = status ?? {};
	const isSame = (news: object): boolean =>
		Object.entries(news).every(([member, value]) => JSON.stringify(known[member]) === JSON.stringify(value));
	const gone = ['reason', 'queuePosition', 'estimatedStart', 'startTime', 'nodes', 'tasks'].some(
		member => seen !== undefined && known[member] !== undefined && !(member in seen),
	);
	return !gone && isSame({...facts, ...seen});
}

async function pauseOr(clock: Clock, woken: Promise<void>, ms: number | undefined): Promise<void> {
	if (ms === undefined) return woken;
	let cancel = (): void => undefined;
	await Promise.race([woken, new Promise<void>(resolve => (cancel = clock.after(ms, resolve)))]);
	cancel();
}
