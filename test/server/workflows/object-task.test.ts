import test from 'ava';
import type {Job} from '../../../api/kinds/job.js';
import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Condition, Draft, JsonObject} from '../../../api/object.js';
import type {CreateObject, DeleteObject, PatchObject} from '../../../actors/control/objects/object-message.js';
import type {TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {aTask, failure, settled, taskWorld} from './_tasks.js';

const spec = {template: {spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'none', command: ['true']}]}}};
const aJobTask = aTask('job:', {input: {spec}});
const nothing = {attempts: 0, underWay: 0, waiting: 0, followed: 0};

type World = ReturnType<typeof taskWorld>;

const jobsOf = ({cluster}: World): readonly Job[] => [...cluster.control.index.list('jobs')] as Job[];

/** The job that the task has made, once it has. */
async function itsJob(world: World): Promise<Job> {
	await settled();
	const [job] = jobsOf(world);
	if (job === undefined) throw new Error('there is no job');
	return job;
}

const withStatus = (job: Job, status: NonNullable<Job['status']>): Job => ({...job, status});
const condition = (type: string, more: Partial<Condition> = {}): Condition => ({type, status: 'True', ...more});

test('the spec of the input becomes a Job of the run, and its end is that of the task', async t => {
	const world = taskWorld();
	const ended = world.outcome(aJobTask);
	const job = await itsJob(world);
	t.regex(job.metadata.name, /^order-7-[a-z0-9]{10}$/);
	t.is(job.metadata.namespace, 'default');
	t.deepEqual(job.metadata.labels, {'troupe.dev/task-of-run': 'order-7'});
	t.deepEqual(job.metadata.annotations, {'troupe.dev/task-key': aJobTask.key});
	t.deepEqual(job.metadata.ownerReferences, [
		{apiVersion: 'troupe.dev/v1', kind: 'Run', name: 'order-7', uid: 'uid-of-order-7', controller: true, blockOwnerDeletion: true},
	]);
	t.deepEqual(world.tasks.counts(), {attempts: 1, underWay: 0, waiting: 0, followed: 1}, 'what only waits has no turn');
	world.cluster.put(withStatus(job, {active: 1}));
	world.cluster.put(withStatus(job, {conditions: [condition('SuccessCriteriaMet')], succeeded: 1}));
	world.cluster.put(withStatus(job, {conditions: [condition('Complete')], succeeded: 2, failed: 1}));
	t.deepEqual(await ended, {type: 'succeeded', output: {name: job.metadata.name, succeeded: 2, failed: 1}});
	t.deepEqual(world.tasks.counts(), nothing);
	t.is(jobsOf(world).length, 1, 'it goes with its run, or when its time is over');
});

test('a Job that fails tells why', async t => {
	const world = taskWorld();
	const ended = world.outcome(aJobTask);
	const job = await itsJob(world);
	world.cluster.put(
		withStatus(job, {conditions: [condition('Failed', {reason: 'BackoffLimitExceeded', message: 'it has failed too often'})]}),
	);
	t.deepEqual(await ended, failure('Job.Failed', 'it has failed too often'));
});

test('a Job that somebody deletes is the end of its task', async t => {
	const world = taskWorld();
	const ended = world.outcome(aJobTask);
	const job = await itsJob(world);
	world.cluster.drop(`jobs/default/${job.metadata.name}`);
	t.deepEqual(await ended, failure('Job.Deleted', `"jobs/default/${job.metadata.name}" was deleted before it had ended`));
	t.deepEqual(world.tasks.counts(), nothing);
});

test('the Job of an attempt is found again, also when it is over by then', async t => {
	const world = taskWorld();
	void world.outcome(aJobTask);
	const job = await itsJob(world);
	const later = taskWorld();
	later.cluster.put(job);
	const ended = later.outcome(aJobTask);
	await settled();
	t.is(jobsOf(later).length, 1);
	later.cluster.put(withStatus(job, {conditions: [condition('Complete')], succeeded: 1}));
	const result = {type: 'succeeded', output: {name: job.metadata.name, succeeded: 1, failed: 0}} as const;
	t.deepEqual(await ended, result);
	t.deepEqual(await later.outcome(aJobTask), result);
	t.is(jobsOf(later).length, 1);
});

test('an object that was made and is gone is not made again, and ends its task', async t => {
	const world = taskWorld();
	t.deepEqual(await world.perform(aJobTask), succeeded({type: 'made'}));
	const job = await itsJob(world);
	t.deepEqual(await world.perform(aJobTask), succeeded({type: 'made'}), 'also to one who asks again and has not heard it');
	const later = taskWorld();
	const gone = failure('Job.Deleted', `"jobs/default/${job.metadata.name}" was deleted before it had ended`);
	t.deepEqual(await later.perform({...aJobTask, isMade: true}), succeeded(gone));
	t.is(jobsOf(later).length, 0);
	later.cluster.put({...job, metadata: {...job.metadata, ownerReferences: []}});
	t.deepEqual(await later.perform({...aJobTask, isMade: true}), succeeded(gone), 'another of that name is not it');
	t.deepEqual(later.tasks.counts(), nothing);
});

test('an object that is made is ended with its task also before its end is asked for', async t => {
	const world = taskWorld();
	t.deepEqual(await world.perform(aJobTask), succeeded({type: 'made'}));
	const deleted: string[] = [];
	const {name} = (await itsJob(world)).metadata;
	world.cluster.answers.set(`troupe://control/jobs/default.${name}`, ({type}: {readonly type: string}) => {
		deleted.push(type);
		return succeeded(null);
	});
	await world.stop(aJobTask.key);
	await settled();
	t.deepEqual(deleted, ['delete']);
	t.deepEqual(world.tasks.counts(), nothing);
});

test('attempts and runs have objects of their own, with names that fit whatever the run is called', async t => {
	const world = taskWorld();
	const run = {namespace: 'default', name: `${'a.'.repeat(60)}b`, uid: 'one'};
	for (const [key, uid] of [
		['r/1-A.1', 'one'],
		['r/1-A.2', 'one'],
		['r/1-A.1', 'two'],
	] as const) {
		void world.outcome({...aJobTask, key, run: {...run, uid}});
		await settled();
	}
	t.is(jobsOf(world).length, 2, 'one key is one attempt');
	await world.stop('r/1-A.1');
	void world.outcome({...aJobTask, key: 'r/1-A.1', run: {...run, uid: 'two'}});
	await settled();
	const names = jobsOf(world).map(({metadata}) => metadata.name);
	for (const name of names) t.regex(name, /^[a-z0-9](?:[-a-z0-9]{0,55}[a-z0-9])$/);
	t.true(
		jobsOf(world).every(({metadata}) => metadata.labels === undefined),
		'a label is no longer than 63 characters',
	);
});

test('what admission refuses fails the task with its words', async t => {
	const world = taskWorld();
	for (const [input, words] of [
		[{spec: {...spec, paralelism: 2}}, /spec\.paralelism.*did you mean "parallelism"\?/],
		[{spec: {}}, /spec\.template/],
		[{spec, metadata: {}}, /^the input of job: must be \{"spec": …\} of a Job and nothing else, got members "spec", "metadata"$/],
		[{spec: 7}, /got members "spec"$/],
		[{}, /got members \(none\)$/],
		['work', /got "work"$/],
		[null, /got nothing$/],
	] as const) {
		const ended = await world.outcome(aTask('job:', {input}));
		if (ended.type !== 'failed') t.fail(JSON.stringify(input));
		else {
			t.is(ended.error.Error, 'Job.Refused');
			t.regex(ended.error.Cause, words);
		}
	}
	t.deepEqual([jobsOf(world), world.tasks.counts()], [[], nothing]);
});

test('an object of that name that is not of the run is left alone', async t => {
	const world = taskWorld();
	void world.outcome(aJobTask);
	const job = await itsJob(world);
	const later = taskWorld();
	later.cluster.put({...job, metadata: {...job.metadata, ownerReferences: []}});
	const ended = await later.outcome(aJobTask);
	t.deepEqual(ended, failure('Job.Refused', `there is a Job "${job.metadata.name}" already, which is not of this run`));
});

test('a create that is not taken just now is asked for again', async t => {
	const world = taskWorld();
	const outcomes: Outcome<never>[] = [
		failed('ERR_BUSY', {address: 'jobs', waiting: 256}),
		failed('ERR_TIMEOUT', {address: 'jobs', deadlineMs: 1}),
		failed('ERR_NO_SUCH_ACTOR', {address: 'jobs'}),
	];
	let creates = 0;
	world.cluster.answers.set('troupe://control/jobs', () => {
		creates++;
		const outcome = outcomes.shift();
		if (outcomes.length === 0) world.cluster.answers.delete('troupe://control/jobs');
		return outcome ?? failed('ERR_INTERNAL');
	});
	void world.outcome(aJobTask);
	for (let tries = 0; tries < 3; tries++) {
		await settled();
		t.deepEqual([creates, jobsOf(world)], [tries + 1, []]);
		world.clock.advance(limits.workflowTaskPauseMs * 2 ** tries);
	}
	t.truthy(await itsJob(world));
});

test('a Job that nobody waits for any more is deleted, and tried again where that is not taken', async t => {
	const world = taskWorld();
	const ended = world.outcome(aJobTask);
	const job = await itsJob(world);
	const address = `troupe://control/jobs/default.${job.metadata.name}`;
	const deletes: DeleteObject[] = [];
	world.cluster.answers.set(address, message => {
		deletes.push(message as DeleteObject);
		world.cluster.answers.delete(address);
		return failed('ERR_BUSY', {address, waiting: 256});
	});
	await world.stop(aJobTask.key);
	t.is((await ended).type, 'failed');
	await settled();
	t.deepEqual(deletes, [{type: 'delete', uid: job.metadata.uid, propagation: 'Background'}]);
	t.is(jobsOf(world).length, 1);
	world.clock.advance(limits.workflowTaskPauseMs);
	await settled();
	t.deepEqual([jobsOf(world), world.tasks.counts(), world.clock.nextAtMs(), world.problems], [[], nothing, undefined, []]);
});

test('a Job that is stopped while it is being made is deleted once it is there', async t => {
	const world = taskWorld();
	let make = (): void => undefined;
	world.cluster.answers.set('troupe://control/jobs', async message => {
		await new Promise<void>(resolve => void (make = resolve));
		world.cluster.answers.delete('troupe://control/jobs');
		return world.cluster.control.ask('troupe://control/jobs', message, {deadlineMs: 1, cause: 'test'});
	});
	void world.outcome(aJobTask);
	await settled();
	await world.stop(aJobTask.key);
	await settled();
	make();
	await settled();
	t.true(world.cluster.asked.some(({message}) => message.type === 'delete'));
	t.deepEqual([jobsOf(world), world.tasks.counts()], [[], nothing]);
});

test('it is given up to end what cannot be ended, and told', async t => {
	const world = taskWorld();
	void world.outcome(aJobTask);
	const job = await itsJob(world);
	const address = `troupe://control/jobs/default.${job.metadata.name}`;
	let asked = 0;
	world.cluster.answers.set(address, () => {
		asked++;
		return failed('ERR_STORE', {message: 'the disk is full'});
	});
	await world.stop(aJobTask.key);
	await settled();
	for (let tries = 0; tries < limits.workflowTaskStops + 2; tries++) {
		world.clock.advance(limits.workflowTaskPauseMostMs);
		await settled();
	}
	t.deepEqual([asked, world.problems.length, world.clock.nextAtMs()], [limits.workflowTaskStops, 1, undefined]);
});

test('a Job goes on at the end of a term', async t => {
	const world = taskWorld();
	void world.outcome(aJobTask);
	await itsJob(world);
	world.tasks.close();
	await settled();
	t.deepEqual([jobsOf(world).length, world.tasks.counts()], [1, nothing]);
	t.false(world.cluster.asked.some(({message}) => message.type === 'delete'));
});

// ---- runs ------------------------------------------------------------------------------------------------------------------

/** A world that takes runs as they are. */
function runWorld() {
	const world = taskWorld();
	const runs: ApiObject[] = [];
	const patches: PatchObject[] = [];
	const made = (name: string, draft: Partial<Draft>, status: JsonObject = {phase: 'Pending'}): ApiObject => ({
		apiVersion: 'troupe.dev/v1',
		kind: 'Run',
		...draft,
		metadata: {
			namespace: 'default',
			uid: `uid-of-${name}`,
			resourceVersion: '1',
			generation: 1,
			creationTimestamp: '2030-01-01T00:00:00Z',
			...draft.metadata,
			name,
		},
		status,
	});
	const keyOf = ({metadata}: ApiObject): string => `runs/default/${metadata.name}`;
	world.cluster.answers.set('troupe://control/runs', message => {
		const {object} = message as CreateObject;
		const run = made(object.metadata.name ?? '', object);
		runs.push(run);
		world.commit(keyOf(run), run);
		world.cluster.answers.set(`troupe://control/runs/default.${run.metadata.name}`, patch => {
			patches.push(patch as PatchObject);
			return succeeded(run);
		});
		return succeeded(run);
	});
	return {
		...world,
		made,
		runs,
		patches,
		put: (run: ApiObject): void => world.commit(keyOf(run), run),
		ended: async (status: JsonObject): Promise<TaskOutcome> => {
			const ended = world.outcome(aTask('workflow:refund', {key: `r/${runs.length}-A.1`}));
			await settled();
			const run = runs.at(-1);
			if (run !== undefined) {
				world.commit(keyOf(run), {...run, status: {phase: 'Running', at: [{state: 'A', count: 1}]}});
				world.commit(keyOf(run), {...run, status});
			}
			return ended;
		},
	};
}

test('a workflow is run with the input, as a run of the run, and its output is the result', async t => {
	const {ended, runs, tasks} = runWorld();
	t.deepEqual(await ended({phase: 'Succeeded', output: {refunded: null}}), {type: 'succeeded', output: {refunded: null}});
	const [{metadata, spec} = {} as ApiObject] = runs;
	t.deepEqual(spec, {workflow: 'refund', input: {order: 7}});
	t.regex(metadata.name, /^order-7-[a-z0-9]{10}$/);
	t.is(metadata.ownerReferences?.[0]?.uid, 'uid-of-order-7');
	t.deepEqual(metadata.labels, {'troupe.dev/task-of-run': 'order-7'});
	t.deepEqual(await ended({phase: 'Succeeded'}), {type: 'succeeded', output: null});
	t.deepEqual(tasks.counts(), nothing);
});

test('the error of a run is that of the task, but for what says something of the run alone', async t => {
	const {ended} = runWorld();
	const error = (name: string): JsonObject => ({phase: 'Failed', error: {error: name, cause: 'no money'}});
	t.deepEqual(await ended(error('CardDeclined')), failure('CardDeclined', 'no money'));
	t.deepEqual(await ended(error('States.Runtime')), failure('States.TaskFailed', 'States.Runtime: no money'));
	t.deepEqual(await ended({phase: 'Failed'}), failure('States.TaskFailed', ''));
	t.deepEqual(await ended({phase: 'Cancelled'}), failure('Workflow.Cancelled', 'the run was cancelled'));
});

test('a run that nobody waits for any more is cancelled, and one that is over is left as it is', async t => {
	const {outcome, stop, runs, patches, put} = runWorld();
	void outcome(aTask('workflow:refund'));
	await settled();
	await stop(aTask('').key);
	await settled();
	t.deepEqual(patches, [{type: 'patch', patch: {metadata: {uid: runs[0]?.metadata.uid}, spec: {cancel: true}}}]);
	void outcome(aTask('workflow:refund', {key: 'r/2-A.1'}));
	await settled();
	const [, run] = runs;
	if (run === undefined) return t.fail();
	put({...run, status: {phase: 'Succeeded'}});
	await stop('r/2-A.1');
	await settled();
	t.is(patches.length, 1);
});

test('runs in runs are bounded', async t => {
	const {outcome, made, put, runs} = runWorld();
	const owned = (name: string, owner: string | undefined): ApiObject =>
		made(name, {
			metadata:
				owner === undefined
					? {}
					: {ownerReferences: [{apiVersion: 'troupe.dev/v1', kind: 'Run', name: owner, uid: `uid-of-${owner}`, controller: true}]},
		});
	for (let depth = 1; depth <= limits.workflowNesting; depth++) put(owned(`run-${depth}`, depth === 1 ? undefined : `run-${depth - 1}`));
	const task = (depth: number) =>
		aTask('workflow:refund', {key: `r/${depth}`, run: {namespace: 'default', name: `run-${depth}`, uid: `uid-of-run-${depth}`}});
	void outcome(task(limits.workflowNesting - 1));
	await settled();
	t.is(runs.length, 1);
	const ended = await outcome(task(limits.workflowNesting));
	if (ended.type !== 'failed') return t.fail();
	t.is(ended.error.Error, 'States.Runtime');
	t.regex(ended.error.Cause, /may be 10 in one another.*does the workflow "refund" call itself\?/);
	t.is(runs.length, 1);
});

test('runs that come from one run are bounded, whichever of them they are tasks of, also while they are being made', async t => {
	const {outcome, made, put, runs, cluster} = runWorld();
	const controlledBy = (uid: string) => [{apiVersion: 'troupe.dev/v1', kind: 'Run', name: 'any', uid, controller: true}];
	const of = (name: string, root: string, status: JsonObject): ApiObject => ({
		...made(name, {metadata: {ownerReferences: controlledBy('uid-of-another'), annotations: {'troupe.dev/root-run': root}}}),
		status,
	});
	put(made('top', {metadata: {}}));
	put(of('inner', 'uid-of-top', {phase: 'Running'}));
	for (let at = 3; at < limits.workflowFamilyUnderWay; at++) put(of(`r${at}`, 'uid-of-top', {phase: 'Running'}));
	put(of('over', 'uid-of-top', {phase: 'Succeeded'}));
	const task = (run: string, key: string) => aTask('workflow:refund', {key, run: {namespace: 'default', name: run, uid: `uid-of-${run}`}});
	const next = cluster.answers.get('troupe://control/runs');
	let go = (): void => undefined;
	cluster.answers.set('troupe://control/runs', async message => {
		await new Promise<void>(resolve => void (go = resolve));
		return next?.(message) ?? failed('ERR_INTERNAL');
	});
	void outcome(task('inner', 'r/1'));
	await settled();
	const second = task('top', 'r/2');
	void outcome(second);
	await settled();
	const third = await outcome(task('top', 'r/3'));
	if (third.type !== 'failed') return t.fail();
	t.deepEqual(
		[third.error.Error, third.error.Cause],
		['States.Runtime', '1000 runs that are tasks of one run, or of such runs, are under way, as many as may'],
	);
	go();
	await settled();
	t.deepEqual(
		runs.map(({metadata}) => metadata.annotations?.['troupe.dev/root-run']),
		['uid-of-top'],
	);
	put(made('other', {metadata: {}}));
	void outcome(task('other', 'r/4'));
	await settled();
	go();
	await settled();
	t.is(runs.at(-1)?.metadata.annotations?.['troupe.dev/root-run'], 'uid-of-other');
});

test('runs that come from one run and are over count as long as they are kept', async t => {
	const {outcome, runs, cluster, made, put} = runWorld();
	const counted: string[] = [];
	const {index} = cluster.control;
	const countByTerm = index.countByTerm.bind(index);
	index.countByTerm = (plural, term) => (
		counted.push(term),
		term.startsWith('family=all/') ? limits.workflowFamily : countByTerm(plural, term)
	);
	put(made('top', {metadata: {}}));
	const run = {namespace: 'default', name: 'top', uid: 'uid-of-top'};
	const ended = await outcome(aTask('workflow:refund', {run}));
	t.like(ended, {type: 'failed', error: {Error: 'States.Runtime'}});
	t.regex(JSON.stringify(ended), /20000 runs .* are kept, as many as may/);
	t.deepEqual(counted, ['family=underWay/default/uid-of-top', 'family=all/default/uid-of-top']);
	t.deepEqual(runs, []);
});

test('a run for which there is no room is asked for a while, and then the task fails: what takes the room may wait for it', async t => {
	const {outcome, cluster, clock, tasks} = runWorld();
	let asked = 0;
	cluster.answers.set('troupe://control/runs', () => {
		asked++;
		return failed('ERR_BUSY', {message: 'as many as may'});
	});
	const ends: TaskOutcome[] = [];
	const beganMs = clock.monotonicMs();
	void outcome(aTask('workflow:refund')).then(ended => ends.push(ended));
	for (let turns = 0; ends.length === 0 && turns < 1_000; turns++) {
		await settled();
		clock.advance(limits.workflowTaskPauseMostMs);
	}
	t.deepEqual(ends, [failure('Workflow.Refused', 'as many as may')]);
	t.true(asked >= limits.workflowRoomMs / limits.workflowTaskPauseMostMs);
	t.true(clock.monotonicMs() - beganMs < limits.workflowRoomMs + 3 * limits.workflowTaskPauseMostMs);
	t.deepEqual(tasks.counts(), nothing);
});

test('of a run that is over nothing that comes from it begins another run', async t => {
	const {outcome, made, put, runs} = runWorld();
	put({...made('top', {metadata: {}}), status: {phase: 'Failed'}});
	const owner = {apiVersion: 'troupe.dev/v1', kind: 'Run', name: 'middle', uid: 'uid-of-middle', controller: true};
	put(made('inner', {metadata: {ownerReferences: [owner], annotations: {'troupe.dev/root-run': 'uid-of-top'}}}));
	const ended = await outcome(aTask('workflow:refund', {run: {namespace: 'default', name: 'inner', uid: 'uid-of-inner'}}));
	t.deepEqual(ended, failure('States.Runtime', 'the run "top", which this comes from, is over'));
	t.deepEqual(runs, []);
});
