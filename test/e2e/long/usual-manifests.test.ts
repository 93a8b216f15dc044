// Manifests as people have them, ten of each kind that makes pods (test/corpus/usual): each is applied, comes to what it asks for, is
// changed, and leaves nothing behind when it is deleted. The programs are pretended; everything else is a whole cluster.

import {readFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {line, type Ran} from '../../../bench/rigs/command-line.js';
import {timestampOf} from '../../../api/object.js';
import {systemClock} from '../../../system/time/clock.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {detached} from '../../cli/_rig.js';

const folder = path.resolve(import.meta.dirname, '../../../../test/corpus/usual');

const manifestsOf = async (file: string): Promise<readonly string[]> => (await readFile(path.join(folder, file), 'utf8')).split(/^---$/m);

type Cluster = {
	readonly troupe: (...args: readonly string[]) => Promise<Ran>;
	readonly apply: (manifest: string) => Promise<Ran>;
};

/** Six nodes, so that ports of two releases find room; some have fast disks, zones or a taint that the manifests name, and what the manifests read is there. */
async function open(t: ExecutionContext): Promise<Cluster> {
	const {home, up} = await detached(t, '--runtime=simulated', '--store=memory', '--node=own', '--simulated-nodes=5');
	t.is(up.code, 0, up.err);
	const troupe: Cluster['troupe'] = (...args) => line(args, {home});
	const apply: Cluster['apply'] = manifest => line(['apply', '-f', '-'], {home, input: manifest});
	for (const words of [
		['label', 'node', 'own', 'sim-1', 'disktype=ssd'],
		['label', 'node', 'sim-1', 'topology.kubernetes.io/zone=a'],
		['label', 'node', 'sim-2', 'topology.kubernetes.io/zone=b'],
		['label', 'node', 'sim-3', 'gpu=yes'],
		['taint', 'nodes', 'sim-3', 'gpu=yes:NoSchedule'],
		['apply', '-f', path.join(folder, 'settings.yaml')],
	])
		t.is((await troupe(...words)).code, 0, words.join(' '));
	return {troupe, apply};
}

type Found = {
	readonly metadata: {readonly name: string; readonly generation?: number};
	readonly spec: {
		readonly replicas?: number;
		readonly suspend?: boolean;
		readonly template?: unknown;
		readonly updateStrategy?: {readonly type: string; readonly rollingUpdate?: {partition?: number}};
	};
	readonly status?: Readonly<Record<string, number>> & {readonly conditions?: readonly {readonly type: string; readonly status: string}[]};
};

/** Waits until an object is as it should be. */
async function comesTo(
	t: ExecutionContext,
	{troupe}: Cluster,
	name: string,
	what: string,
	isSo: (object: Found) => boolean,
): Promise<Found> {
	let read = '';
	const look = async (): Promise<boolean> => {
		read = (await troupe('get', name, '-o', 'json')).out;
		return isSo(JSON.parse(read) as Found);
	};
	await eventually(`${name} ${what}`, look, () => read, 30_000);
	t.pass(`${name} ${what}`);
	return JSON.parse(read) as Found;
}

const created = async (t: ExecutionContext, {apply}: Cluster, manifest: string): Promise<string> => {
	const first = await apply(manifest);
	t.is(first.code, 0, first.err);
	t.is(first.err, '', first.out);
	const [, name = ''] = /^(\S+) created\n$/.exec(first.out) ?? [];
	t.not(name, '', first.out);
	t.is((await apply(manifest)).out, `${name} unchanged\n`);
	return name;
};

const deleted = async (t: ExecutionContext, {troupe}: Cluster, name: string): Promise<void> => {
	const gone = await troupe('delete', name, '--cascade=foreground', '--timeout=30s');
	t.is(gone.code, 0, gone.err);
	t.is((await troupe('get', 'pods,rs,controllerrevisions,jobs', '-o', 'name')).out, '', `what ${name} leaves behind`);
};

/** Another image for all containers: what a release changes. */
const released = (manifest: string): string => manifest.replaceAll(/\b(image: '?[\w./-]+)(:[\w.-]+)?/g, '$1:next');

const counts = ({status = {}}: Found, ...fields: readonly string[]): readonly number[] => fields.map(field => Number(status[field] ?? 0));

/** How far an object is whose pods run on; `isUpdated`: all pods that the update strategy replaces are of the present template. */
type Progress = {readonly wanted: number; readonly isReady: boolean; readonly isUpdated: boolean};

const ofReplicas = (object: Found): Progress => {
	const {replicas: wanted = 1, updateStrategy} = object.spec;
	const [ready, available, all, updated = 0] = counts(object, 'readyReplicas', 'availableReplicas', 'replicas', 'updatedReplicas');
	const mayUpdate = updateStrategy?.type === 'OnDelete' ? 0 : wanted - (updateStrategy?.rollingUpdate?.partition ?? 0);
	return {wanted, isReady: [ready, available, all].every(count => count === wanted), isUpdated: updated >= mayUpdate};
};

const ofNodes = (object: Found): Progress => {
	const [wanted = 0, ready, available, updated] = counts(
		object,
		'desiredNumberScheduled',
		'numberReady',
		'numberAvailable',
		'updatedNumberScheduled',
	);
	const isUpdated = updated === wanted || object.spec.updateStrategy?.type === 'OnDelete';
	return {wanted, isReady: ready === wanted && available === wanted, isUpdated};
};

const isObserved = ({metadata, status}: Found): boolean => status?.['observedGeneration'] === metadata.generation;

async function release(t: ExecutionContext, cluster: Cluster, manifest: string, progressOf: (object: Found) => Progress): Promise<number> {
	const name = await created(t, cluster, manifest);
	const {metadata} = await comesTo(t, cluster, name, 'has its pods', object => isObserved(object) && progressOf(object).isReady);
	t.is((await cluster.apply(released(manifest))).out, `${name} configured\n`);
	const after = await comesTo(t, cluster, name, 'has them of the next release', object => {
		const {isReady, isUpdated} = progressOf(object);
		return object.metadata.generation !== metadata.generation && isObserved(object) && isReady && isUpdated;
	});
	await deleted(t, cluster, name);
	return progressOf(after).wanted;
}

for (const {file, progressOf, pods} of [
	{file: 'deployments.yaml', progressOf: ofReplicas, pods: [3, 2, 3, 1, 2, 1, 2, 1, 0, 2]},
	{file: 'statefulsets.yaml', progressOf: ofReplicas, pods: [3, 1, 3, 3, 2, 3, 2, 2, 2, 0]},
	{file: 'daemonsets.yaml', progressOf: ofNodes, pods: [5, 6, 2, 2, 5, 5, 5, 3, 5, 0]},
])
	test(`${file}: each gets its pods, and those of the next release, and leaves nothing`, async t => {
		t.timeout(120_000);
		const cluster = await open(t);
		const found: number[] = [];
		for (const manifest of await manifestsOf(file)) found.push(await release(t, cluster, manifest, progressOf));
		t.deepEqual(found, pods);
	});

test('jobs.yaml: each comes to its end or waits, keeps its template, takes a change, and leaves nothing', async t => {
	t.timeout(120_000);
	const cluster = await open(t);
	const ends: string[] = [];
	const goals = ['Complete', 'Failed', 'Suspended'];
	for (const manifest of await manifestsOf('jobs.yaml')) {
		const name = await created(t, cluster, manifest);
		const endOf = ({status}: Found) => status?.conditions?.find(each => goals.includes(each.type) && each.status === 'True')?.type;
		ends.push(endOf(await comesTo(t, cluster, name, 'ends', object => endOf(object) !== undefined)) ?? '');
		const refused = await cluster.apply(released(manifest));
		t.is(refused.code, 1);
		t.regex(refused.err, /: spec\.template: /);
		const patched = await cluster.troupe('patch', name, '--type=merge', '-p', '{"spec":{"ttlSecondsAfterFinished":86400}}');
		t.is(patched.out, `${name} patched\n`, patched.err);
		await deleted(t, cluster, name);
	}
	const [complete, failed, suspended] = goals;
	t.deepEqual(ends, [...Array<unknown>(7).fill(complete), suspended, failed, failed]);
});

/** Between then and now each of the schedules has a time. */
const yearAgo = (): string => timestampOf(systemClock.nowMs() - 400 * 86_400_000);

const isSo = ({status}: Found, end: string): boolean =>
	end === 'Running' ? status?.['ready'] === 1 : (status?.conditions ?? []).some(({type, status}) => type === end && status === 'True');

/** Waits until the jobs that a CronJob made for its times have come to that. */
const comesToJobs = (t: ExecutionContext, cluster: Cluster, name: string, end: string): Promise<unknown> => {
	const [, prefix = ''] = name.split('/');
	let read = '';
	const look = async (): Promise<boolean> => {
		read = (await cluster.troupe('get', 'jobs', '-o', 'json')).out;
		const {items} = JSON.parse(read) as {readonly items: readonly Found[]};
		return items.some(job => job.metadata.name.startsWith(`${prefix}-`) && isSo(job, end));
	};
	t.pass(`${name} has a job that is ${end}`);
	return eventually(`a job of ${name} is ${end}`, look, () => read, 30_000);
};

test('cronjobs.yaml: each makes a job when its time is due, and one of the next release by hand, and leaves nothing', async t => {
	t.timeout(120_000);
	const cluster = await open(t);
	const {troupe, apply} = cluster;
	const done = 'Complete';
	const ends = [done, done, done, done, 'Running', done, done, done, 'Failed', done];
	const manifests = await manifestsOf('cronjobs.yaml');
	t.is(manifests.length, ends.length);
	const held: string[] = [];
	for (const [i, manifest] of manifests.entries()) {
		const name = await created(t, cluster, manifest);
		const end = ends[i] ?? '';
		const patch = async (part: object, ...flags: readonly string[]) =>
			t.is((await troupe('patch', name, '--type=merge', '-p', JSON.stringify(part), ...flags)).out, `${name} patched\n`);
		await patch({status: {lastScheduleTime: yearAgo()}}, '--subresource=status');
		const {spec} = await comesTo(t, cluster, name, 'is there', () => true);
		if (spec.suspend === true) {
			held.push(name);
			t.is((await troupe('get', 'jobs', '-o', 'name')).out, '', 'held back though its time is due');
			await patch({spec: {suspend: false}});
		}
		await comesToJobs(t, cluster, name, end);
		t.is((await apply(released(manifest))).out, `${name} configured\n`);
		t.is((await troupe('create', 'job', 'by-hand', `--from=${name}`)).out, 'job.batch/by-hand created\n');
		const byHand = await comesTo(t, cluster, 'job.batch/by-hand', `is ${end}`, job => isSo(job, end));
		t.regex(JSON.stringify(byHand.spec.template), /"image":"[^"]*:next"/);
		await deleted(t, cluster, name);
	}
	t.deepEqual(held, ['cronjob.batch/newsletter', 'cronjob.batch/close-quarter']);
});

test('what cannot be done is refused by the place in the file and by the field, all at once, and nothing is changed', async t => {
	const {troupe} = await open(t);
	const ran = await troupe('apply', '-f', path.join(folder, 'refused.yaml'));
	t.is(ran.code, 1);
	t.is(ran.out, '');
	const fields = ran.err.split('\n').map(said => /^error: .*refused\.yaml:\d+:\d+: ([\w.[\]"/]+): \S/.exec(said)?.[1]);
	const template = 'spec.template.spec';
	t.deepEqual(
		fields.filter(field => field !== undefined),
		[
			`${template}.hostPID`,
			`${template}.serviceAccountName`,
			`${template}.containers[0].securityContext.privileged`,
			`${template}.containers[0].securityContext.capabilities`,
			`${template}.securityContext.seccompProfile`,
			`${template}.containers[0].livenessProbe.grpc`,
			`${template}.containers[0].resources.limits["amd.com/gpu"]`,
			'spec.strategy.rollingUpdate.maxUnavailable',
			'spec.template.metadata.labels',
			`${template}.restartPolicy`,
			'spec.completions',
			`${template}.restartPolicy`,
			'spec.schedule',
			'spec.timeZone',
			'spec.concurrencyPolicy',
			'spec.jobTemplate.spec.selector',
			`spec.jobTemplate.${template}.restartPolicy`,
			'spec.schedule',
			`spec.jobTemplate.${template}.serviceAccountName`,
		],
	);
	t.regex(ran.err, /\n19 problems in 1 file; nothing was changed\n$/);
	t.is((await troupe('get', 'deploy,ds,jobs,cronjobs', '-o', 'name')).out, '');
});
