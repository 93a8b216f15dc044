// What must hold of CronJobs at every moment: I15 says it in words.

import {objectKey} from '../../api/keys.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {Job} from '../../api/kinds/job.js';
import type {ApiObject} from '../../api/object.js';
import {scheduledTimeKey} from '../../actors/control/workloads/cron-times.js';
import type {Truth} from './job-judge.js';
import type {Spy} from './spies.js';

const minuteMs = 60_000;

const isOver = ({status}: Job): boolean =>
	status?.conditions?.some(({type, status: is}) => (type === 'Complete' || type === 'Failed') && is === 'True') === true;
const isDeleting = ({metadata}: ApiObject): boolean => metadata.deletionTimestamp !== undefined;
const timeOf = ({metadata}: {readonly metadata: {readonly annotations?: {readonly [key: string]: string} | undefined}}): number =>
	Date.parse(metadata.annotations?.[scheduledTimeKey] ?? '');

type Known = {
	cron: CronJob;
	/** Each time that was ever run, with the Job that ran it. */
	readonly ran: Map<number, string>;
	readonly jobs: Map<string, Job>;
};

export class CronJudge {
	readonly #truth: Truth;
	readonly #crons = new Map<string, Known>();
	isLoading = false;

	constructor(truth: Truth) {
		this.#truth = truth;
	}

	#broken(what: string): void {
		this.#truth.broken(`I15: ${what}`);
	}

	onChange(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		if (object?.kind === 'CronJob') this.#onCron(object as CronJob, after === undefined);
		if (object?.kind === 'Job') this.#onJob(object as Job, after === undefined);
	}

	#onCron(cron: CronJob, isGone: boolean): void {
		const {uid, name} = cron.metadata;
		const known = this.#crons.get(uid);
		if (isGone) this.#crons.delete(uid);
		else if (known === undefined) this.#crons.set(uid, {cron, ran: new Map(), jobs: new Map()});
		else {
			const [was, is] = [known.cron.status?.lastScheduleTime ?? '', cron.status?.lastScheduleTime ?? ''];
			if (is < was) this.#broken(`${name} has noted ${is} after ${was}`);
			if (is !== was && !known.ran.has(Date.parse(is))) this.#broken(`${name} has noted ${is}, which has no job`);
			known.cron = cron;
		}
	}

	#onJob(job: Job, isGone: boolean): void {
		const {uid, name, ownerReferences} = job.metadata;
		const known = this.#crons.get(ownerReferences?.find(({kind}) => kind === 'CronJob')?.uid ?? '');
		if (known === undefined) return;
		const before = known.jobs.get(uid);
		if (isGone) known.jobs.delete(uid);
		else known.jobs.set(uid, job);
		if (before === undefined && !isGone) this.#onCreated(job, known);
		const noted = known.cron.status?.lastScheduleTime ?? '';
		// Several commits may be seen at once, in any order.
		if (isGone && !this.isLoading && !isDeleting(known.cron) && !(timeOf(job) <= Date.parse(noted)))
			this.#broken(`${name} is gone, and its time was not noted`);
	}

	#onCreated(job: Job, {cron, ran, jobs}: Known): void {
		const {uid, name} = job.metadata;
		const atMs = timeOf(job);
		const former = ran.get(atMs);
		if (former !== undefined && former !== uid) this.#broken(`${name} is made for a time that was run`);
		ran.set(atMs, uid);
		if (this.isLoading) return;
		if (atMs <= Date.parse(cron.status?.lastScheduleTime ?? '')) this.#broken(`${name} is made for a time that was noted`);
		const others = [...jobs.values()].filter(other => other.metadata.uid !== uid && !isOver(other));
		const inTheWay = cron.spec?.concurrencyPolicy === 'Forbid' ? others : others.filter(other => !isDeleting(other));
		if (cron.spec?.concurrencyPolicy !== 'Allow' && inTheWay.length > 0)
			this.#broken(
				`${name} is made with ${cron.spec?.concurrencyPolicy}, and ${inTheWay.map(other => other.metadata.name).join()} is not over`,
			);
	}

	/** A CronJob asks for the newest time that is due, and for none that it is too late for. */
	readonly spy: Spy = {
		asked: (self, effect, {nowMs}) => {
			if (effect.type !== 'create' || effect.object.kind !== 'Job') return;
			const cron = this.#truth.get(objectKey('cronjobs', 'default', self.slice(self.lastIndexOf('.') + 1))) as CronJob | undefined;
			if (cron?.spec === undefined) return;
			const {name} = cron.metadata;
			const atMs = timeOf(effect.object);
			const periodMs = (cron.spec.schedule.startsWith('*/2') ? 2 : 1) * minuteMs;
			if (cron.spec.suspend === true) this.#broken(`${name} asks for a job, and is suspended`);
			if (atMs !== Math.floor(nowMs / periodMs) * periodMs)
				this.#broken(`${name} asks for ${new Date(atMs).toISOString()} at ${new Date(nowMs).toISOString()}`);
			if (nowMs - atMs > (cron.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000 + 1)
				this.#broken(`${name} asks for a job ${nowMs - atMs} ms after its time`);
		},
	};
}
