// SlurmJobs with real Slurm while something dies: the control plane at each step, the login node in the middle; jobs that Slurm begins anew, and
// arrays.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {slurmPhaseOf, type SlurmJob} from '../../../api/kinds/slurmjob.js';
import {isSlurmEnd, slurmPhases, type SlurmPhase} from '../../../api/slurm-phase.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {openSlurmStage, type SlurmStage} from './_slurm-stage.js';

const cleanings: (() => void | Promise<void>)[] = [];
let stage: SlurmStage;

test.before(async () => {
	stage = await openSlurmStage({teardown: clean => void cleanings.unshift(clean)});
});
test.after.always(async () => {
	for (const clean of cleanings) await clean();
});

const rounds = 20;
const steps = ['Pending', 'Uploading', 'Compiling', 'Submitting', 'Queued', 'Running', 'Fetching'] as const;

test.serial('the control plane is killed at each step, and there is one job in Slurm and its results', async t => {
	t.timeout(400_000);
	const {slurm, home, spec, submit, over, connect} = stage;
	const killedAt: string[] = [];
	for (let round = 0; round < rounds; round++) {
		const name = `round-${round}`;
		const wanted = steps[round % steps.length] ?? 'Pending';
		const runs = path.join(slurm.home, `${name}.ran`);
		const following = await followObjects(await home.client(), 'slurmjobs');
		const seen = following.until(`${name} is ${wanted}`, objects => {
			const job = [...objects.values()].find(({metadata}) => metadata.name === name) as SlurmJob | undefined;
			return job !== undefined && isAtLeast(slurmPhaseOf(job), wanted) ? slurmPhaseOf(job) : undefined;
		});
		await submit(
			name,
			spec({
				compileCommands: [`echo compiled >> ${name}.txt`, 'sleep 0.2'],
				runCommands: [`echo ran >> ${runs}`, 'sleep 0.5', `cp ${name}.txt result.txt`, 'echo done'],
				resultFiles: ['result.txt'],
			}),
		);
		killedAt.push(await seen);
		await home.killCluster();
		following.close();
		await home.up();
		await connect();
		const {status} = await over(name);
		t.is(status?.phase, 'Succeeded', JSON.stringify(status));
		t.deepEqual(
			status?.artifacts?.map(({name: file}) => file),
			['compile.log', 'slurm.out', 'result.txt'],
			killedAt.at(-1),
		);
		t.is(readFileSync(runs, 'utf8'), 'ran\n', `${name}, killed at ${killedAt.at(-1)}`);
		t.is(await slurm.jobsNamed(`${name}.`), 1, `${name}, killed at ${killedAt.at(-1)}`);
	}
	t.log(killedAt.join(' '));
});

const isAtLeast = (phase: SlurmPhase, wanted: SlurmPhase): boolean =>
	slurmPhases.indexOf(phase) >= slurmPhases.indexOf(wanted) || isSlurmEnd(phase);

test.serial('an array of twenty has a result for each, and says how many have failed', async t => {
	const {slurm, spec, submit, over} = stage;
	await submit(
		'array',
		spec({
			array: '0-19%10',
			runCommands: ['echo "index $SLURM_ARRAY_TASK_ID"', '[ $SLURM_ARRAY_TASK_ID != 13 ]'],
			outputFile: 'part-%a.out',
		}),
	);
	const {status} = await over('array');
	t.like(status, {phase: 'Failed', tasks: {succeeded: 19, failed: 1}, exitCode: 1});
	t.is(status?.outcome?.message, 'the job failed with exit code 1 (1 of 20 did not complete)');
	t.is(status?.artifacts?.length, 20);
	t.is(await slurm.jobsNamed('array.'), 1);
});

test.serial('a job that Slurm begins anew is followed to its end, and goes on in its output', async t => {
	t.timeout(300_000);
	const {slurm, spec, submit, inPhase, over} = stage;
	const flag = path.join(slurm.home, 'may-end');
	await submit('again', spec({runCommands: ['echo begun', `while [ ! -e ${flag} ]; do sleep 0.2; done`, 'echo ended']}));
	const {jobId = ''} = (await inPhase('again', 'Running')).status ?? {};
	await slurm.slurm('scontrol', 'requeue', jobId);
	await inPhase('again', 'Queued');
	// It would wait for two minutes otherwise.
	await eventually(
		'it may begin',
		async () => (await slurm.slurm('squeue', '-h', '-j', jobId, '-o', '%T').catch(() => '')).trim() === 'PENDING',
	);
	await slurm.slurm('scontrol', 'update', `JobId=${jobId}`, 'StartTime=now');
	await inPhase('again', 'Running');
	await slurm.slurm('touch', flag);
	const {status} = await over('again');
	t.like(status, {phase: 'Succeeded', restarts: 1});
	const output = readFileSync(path.join(slurm.home, status?.folder ?? '', 'work', 'slurm.out'), 'utf8');
	// Slurm says in between that it was begun anew.
	t.regex(output, /^begun\n[^]*REQUEUE[^]*begun\nended\n$/);
	t.is(await slurm.jobsNamed('again.'), 1);
});

test.serial('the login node goes away in the middle and comes back: the job says so, goes on, and is there once', async t => {
	t.timeout(200_000);
	const {slurm, spec, submit, inPhase, over, read} = stage;
	const reachable = async (name: string): Promise<string | undefined> =>
		(await read(name))?.status?.conditions?.find(({type}) => type === 'Reachable')?.reason;
	await submit('apart', spec({runCommands: ['sleep 2', 'echo done']}));
	await inPhase('apart', 'Running');
	await slurm.stopLogin();
	await submit('waits', spec({compileCommands: ['true'], runCommands: ['echo done']}));
	for (const name of ['apart', 'waits'])
		await eventually(
			`${name} says that its login node is not reachable`,
			async () => (await reachable(name)) === 'Unreachable',
			undefined,
			60_000,
		);
	await slurm.startLogin();
	for (const name of ['apart', 'waits']) {
		t.is((await over(name)).status?.phase, 'Succeeded');
		t.is(await reachable(name), undefined);
		t.is(await slurm.jobsNamed(`${name}.`), 1);
	}
});
