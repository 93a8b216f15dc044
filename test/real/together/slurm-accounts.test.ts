// SlurmJobs that Slurm itself has forgotten by the time that somebody asks: its accounts say how they ended (Debian: slurmdbd, mariadb-server-core).

import {readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openSlurmStage} from './_slurm-stage.js';

test('jobs that ended long ago are settled by the accounts of Slurm: success, failure, out of time, and cancelled by another', async t => {
	t.timeout(300_000);
	const {slurm, home, spec, submit, inPhase, over, connect} = await openSlurmStage(t, {hasAccounts: true});
	const flag = path.join(slurm.home, 'may-end');
	// Not for ever, should nobody let them end.
	const waits = `timeout 600 bash -c 'until [ -e ${flag} ]; do sleep 0.2; done'`;
	await submit('succeeds', spec({runCommands: [waits, 'echo done']}));
	await submit('fails', spec({runCommands: [waits, 'exit 7']}));
	await submit('late', spec({timeLimit: '1s', runCommands: ['echo begun', 'sleep 600']}));
	await submit('cancelled', spec({runCommands: ['echo begun', 'sleep 600']}));
	await submit('array', spec({array: '0-2', runCommands: [waits, '[ $SLURM_ARRAY_TASK_ID != 1 ]'], outputFile: 'part-%a.out'}));
	await submit('half', spec({array: '0-3%1', runCommands: ['sleep 600'], outputFile: 'part-%a.out'}));
	const names = ['succeeds', 'fails', 'late', 'cancelled', 'array', 'half'];
	const ids = new Map<string, string>();
	for (const name of names) ids.set(name, (await inPhase(name, 'Running')).status?.jobId ?? '');
	await home.killCluster();

	await slurm.slurm('touch', flag);
	for (const name of ['cancelled', 'half']) await slurm.slurm('scancel', ids.get(name) ?? '');
	await eventually(
		'Slurm has forgotten all of them',
		async () => (await slurm.slurm('squeue', '-h', '-a', '-t', 'all', '-o', '%i')).trim() === '',
		undefined,
		200_000,
	);
	// What a job has written of its end itself says nothing here.
	const folders = path.join(slurm.home, '.troupe');
	for (const uid of readdirSync(folders)) rmSync(path.join(folders, uid, 'exit'), {recursive: true});
	await t.throwsAsync(slurm.slurm('scontrol', 'show', 'job', ids.get('fails') ?? ''), {message: /Invalid job id/});

	await home.up();
	await connect();
	const succeeded = (await over('succeeds')).status;
	t.like(succeeded, {phase: 'Succeeded', state: 'COMPLETED', exitCode: 0, outcome: {reason: 'Completed'}});
	t.regex(succeeded?.nodes ?? '', /^n[12]$/);
	t.deepEqual(
		succeeded?.artifacts?.map(({name}) => name),
		['slurm.out'],
	);
	t.like((await over('fails')).status, {
		...{phase: 'Failed', state: 'FAILED', exitCode: 7},
		outcome: {reason: 'Failed', message: 'the job failed with exit code 7'},
	});
	t.like((await over('late')).status, {
		...{phase: 'Failed', state: 'TIMEOUT'},
		outcome: {reason: 'Timeout', message: 'Slurm ended the job: TIMEOUT'},
	});
	t.like((await over('cancelled')).status, {phase: 'Cancelled', state: 'CANCELLED', outcome: {reason: 'Cancelled'}});
	t.like((await over('array')).status, {
		...{phase: 'Failed', exitCode: 1, tasks: {succeeded: 2, failed: 1}},
		outcome: {message: 'the job failed with exit code 1 (1 of 3 did not complete)'},
	});
	// Three of it had not begun, and stand in one line.
	t.like((await over('half')).status, {phase: 'Cancelled', tasks: {cancelled: 4}});
});
