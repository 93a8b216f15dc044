// People with Jobs and CronJobs: what they ask for, and what has to be there once all is quiet.

import {dueOf, readSchedule} from '../../api/cron-schedule.js';
import {jobTrackingFinalizer} from '../../api/job-labels.js';
import {objectKey} from '../../api/keys.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {Job} from '../../api/kinds/job.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';
import {finishOf} from '../../actors/control/workloads/job-verdict.js';
import type {SimulatedCluster} from './cluster.js';
import type {Deed, Task} from './plan.js';
import {taskImage} from './tasks.js';

type Of<Type extends Deed['type']> = Extract<Deed, {type: Type}>;

const templateOf = ({fails, lastsMs, restarts}: Task): JsonObject => ({
	spec: {
		containers: [{name: 'main', image: taskImage(fails, lastsMs), command: ['work']}],
		restartPolicy: restarts === true ? 'OnFailure' : 'Never',
		terminationGracePeriodSeconds: 1,
	},
});

/** Longer than that nobody waits for a clock. */
const patienceMs = 30_000;

export class JobClients {
	readonly #cluster: SimulatedCluster;
	/** Whether anybody ever asked for a CronJob or a Job. */
	isAsked = false;
	/** Whether Jobs of CronJobs are deleted as soon as they are there. */
	spurns = false;

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
		cluster.invariants.onCreated = object => {
			const isMade = object.kind === 'Job' && object.metadata.ownerReferences?.[0]?.kind === 'CronJob';
			if (this.spurns && isMade) this.#delete('jobs', object);
		};
	}

	createJob({job: name, spec, task}: Of<'createJob'>): void {
		this.#create('jobs', 'Job', name, {...spec, template: templateOf(task)});
	}

	createCron({cron: name, spec, job, task}: Of<'createCron'>): void {
		this.#create('cronjobs', 'CronJob', name, {...spec, jobTemplate: {spec: {...job, template: templateOf(task)}}});
	}

	#create(plural: string, kind: string, name: string, spec: JsonObject): void {
		this.isAsked = true;
		const key = objectKey(plural, 'default', name);
		this.#cluster.create(plural, {apiVersion: 'batch/v1', kind, metadata: {name, namespace: 'default'}, spec}, outcome => {
			this.#cluster.note(`create ${key}: ${outcome.ok ? 'acknowledged' : outcome.error.message}`);
			if (outcome.ok) this.#cluster.invariants.onAcknowledged(key, outcome.value);
		});
	}

	change(plural: 'jobs' | 'cronjobs', share: number, spec: JsonObject): void {
		const found = this.#chosen(plural, share);
		if (found !== undefined) this.#patch(plural, found, {spec});
	}

	delete(plural: 'jobs' | 'cronjobs', share: number): void {
		const found = this.#chosen(plural, share);
		if (found !== undefined) this.#delete(plural, found);
	}

	#delete(plural: string, {metadata}: ApiObject): void {
		this.#cluster.askRecord(objectKey(plural, 'default', metadata.name), {type: 'delete', ...{uid: metadata.uid}}, () => undefined);
	}

	#patch(plural: string, {metadata}: ApiObject, patch: JsonObject): void {
		const message: Message & {patch: JsonObject} = {type: 'patch', patch};
		this.#cluster.askRecord(objectKey(plural, 'default', metadata.name), message, outcome =>
			this.#cluster.note(`change ${plural} ${metadata.name}: ${outcome.ok ? 'acknowledged' : outcome.error.message}`),
		);
	}

	#chosen(plural: string, share: number): ApiObject | undefined {
		const all = this.#cluster.objects(plural);
		return all[Math.floor(share * all.length)];
	}

	/** Clocks of servers are set forward, so that a minute is over soon; and CronJobs look at them. */
	nextMinute(inMs: number): void {
		const {servers, world} = this.#cluster;
		this.#cluster.hasJumpedClocks = true;
		for (const {host} of servers) {
			const shownMs = world.clock.nowMs() + host.wallOffsetMs + inMs;
			host.wallOffsetMs += (minuteMs - (shownMs % minuteMs)) % minuteMs;
		}
		this.#touch();
	}

	#touch(): void {
		const touched = String(this.#cluster.world.steps);
		for (const cron of this.#cluster.objects('cronjobs')) this.#patch('cronjobs', cron, {metadata: {annotations: {touched}}});
	}

	// ---- once all is quiet ---------------------------------------------------------------------------------------------

	/** What is not as it should be; schedules are suspended and jobs that wait go on, so that all of it comes to an end. */
	unsettled(): string[] {
		if (!this.isAsked) return [];
		const nowMs = this.#cluster.leader()?.process?.clock.nowMs() ?? 0;
		const crons = this.#cluster.objects('cronjobs') as CronJob[];
		const jobs = this.#cluster.objects('jobs') as Job[];
		return [
			...crons.flatMap(cron => this.#ofCron(cron, jobs, nowMs)),
			...jobs.flatMap(job => this.#ofJob(job, nowMs)),
			...this.#cluster.pods().flatMap(({metadata}) => {
				const owner = metadata.ownerReferences?.find(({kind}) => kind === 'Job');
				if (owner !== undefined && !jobs.some(job => job.metadata.uid === owner.uid))
					return [`I5: pod ${metadata.name} is left of job ${owner.name}`];
				return metadata.finalizers?.includes(jobTrackingFinalizer) === true ? [`I14: nobody lets ${metadata.name} go`] : [];
			}),
		];
	}

	#ofCron(cron: CronJob, jobs: readonly Job[], nowMs: number): string[] {
		const {metadata, spec, status = {}} = cron;
		const own = jobs.filter(job => job.metadata.ownerReferences?.[0]?.uid === metadata.uid);
		const who = `cronjob ${metadata.name}`;
		if (spec?.suspend !== true) {
			const late = overdue(cron, own, nowMs);
			if (late === undefined) this.#patch('cronjobs', cron, {spec: {suspend: true}});
			else this.#touch();
			return [late ?? `I5: ${who} has to be suspended`];
		}
		const [running, over] = [own.filter(job => finishOf(job) === undefined), own.filter(job => finishOf(job) !== undefined)];
		const found: string[] = [];
		const count = (type: string): number => over.filter(job => finishOf(job)?.type === type).length;
		const kept = {Complete: spec.successfulJobsHistoryLimit ?? 3, Failed: spec.failedJobsHistoryLimit ?? 1};
		for (const [type, most] of Object.entries(kept))
			if (count(type) > most) found.push(`I15: ${who} keeps ${count(type)} jobs that are ${type}, of ${most}`);
		const said = (status.active ?? []).map(({uid}) => uid).toSorted();
		const there = running.map(job => job.metadata.uid).toSorted();
		if (said.join() !== there.join()) found.push(`I15: ${who} says that ${said.length} jobs are active, there are ${there.length}`);
		return found;
	}

	#ofJob(job: Job, nowMs: number): string[] {
		const {spec = {} as NonNullable<Job['spec']>, status = {}, metadata} = job;
		const who = `job ${metadata.name}`;
		const finish = finishOf(job);
		if (finish !== undefined) {
			const pods = this.#cluster.pods().filter(pod => pod.metadata.ownerReferences?.[0]?.uid === metadata.uid);
			const left = pods.filter(pod => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
			const found = left.map(pod => `I14: ${who} is over, and ${pod.metadata.name} is there`);
			if (spec.ttlSecondsAfterFinished === undefined) return found;
			// Its end may have been noted by a clock that is ahead of the one that counts now.
			const inMs = Date.parse(finish.lastTransitionTime ?? '') + spec.ttlSecondsAfterFinished * 1000 - nowMs;
			if (inMs > patienceMs) this.#delete('jobs', job);
			return [...found, `I5: ${who} has to go in ${inMs} ms`];
		}
		if (spec.suspend === true || spec.parallelism === 0) {
			this.#patch('jobs', job, {spec: {suspend: false, ...(spec.parallelism === 0 ? {parallelism: 1} : {})}});
			return [`I5: ${who} has to go on`];
		}
		return [`I5: ${who} is not over: ${JSON.stringify({...status, conditions: status.conditions?.map(({type}) => type)})}`];
	}
}

const minuteMs = 60_000;

/** A time that is due, and nothing is in its way. */
function overdue({metadata, spec, status}: CronJob, own: readonly Job[], nowMs: number): string | undefined {
	const schedule = readSchedule(spec?.schedule ?? '', spec?.timeZone);
	if (!schedule.ok || spec === undefined) return `I15: ${metadata.name} cannot be read`;
	const sinceMs = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp);
	const due = dueOf(schedule.value, sinceMs, nowMs);
	const isTooLate = due !== undefined && nowMs - due.atMs > (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
	const isHeld = spec.concurrencyPolicy === 'Forbid' && own.some(job => finishOf(job) === undefined);
	// The one that is due just now may be under way.
	if (due === undefined || isTooLate || isHeld || nowMs - due.atMs < 500) return undefined;
	return `I15: the time ${new Date(due.atMs).toISOString()} of ${metadata.name} is due`;
}
