// The scripts of SlurmJobs: what a user wrote is data in them, whatever it is.

import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import type {SlurmJob, SlurmJobSpec} from '../../../api/kinds/slurmjob.js';
import {
	compileScript,
	jobFiles,
	lookScript,
	prepareScript,
	quoted,
	removeScript,
	reportScript,
	submitScript,
} from '../../../server/slurm/scripts.js';
import {limits} from '../../../api/limits.js';
import {readReport} from '../../../server/slurm/slurm-output.js';
import {aSlurmJob} from './_slurm.js';

const filesOf = (spec: Partial<SlurmJobSpec>): Readonly<Record<string, string>> => jobFiles(aSlurmJob(spec));

test('any text is one word of a shell, and the same text', t => {
	for (const text of ["it's", '$(rm -rf /)', '`id`', 'a\nb', '"', '\\', "''", '!x', '~', '']) {
		const said = execFileSync('sh', ['-c', `printf %s ${quoted(text)}`], {encoding: 'utf8'});
		t.is(said, text);
	}
});

test('each script is one that bash takes, and none has anything of the values of variables or commands', t => {
	const job = aSlurmJob({
		env: [{name: 'A', value: '$(touch /tmp/never)'}],
		compileCommands: ['make "$(echo x)"'],
		runCommands: ['echo "unclosed'],
		resultFiles: ['*.txt'],
	});
	const scripts = [
		prepareScript(job, ["it's", 'a/b c']),
		compileScript(job),
		submitScript(job),
		lookScript(['1', '2'], ['2']),
		reportScript(job, '1'),
		removeScript(job, 20),
	];
	for (const script of scripts) {
		const {status, stderr} = spawnSync('bash', ['-n'], {input: script, encoding: 'utf8'});
		t.deepEqual([status, stderr], [0, ''], script);
		t.false(/never|unclosed|make/.test(script));
	}
});

test('typed fields become options of sbatch', t => {
	const batch = filesOf({
		...{partition: 'dgx2', account: 'phys', qos: 'high', nodes: 2, nTasks: 8, nTasksPerNode: 4, cpusPerTask: 3, gpuNums: 2},
		...{memory: '1500Mi', timeLimit: '26h30m5s', array: '0-19%4', outputFile: 'out-%a.txt', errorFile: 'err-%a.txt'},
	})['batch.sh'];
	const options = [...(batch ?? '').matchAll(/^#SBATCH (.*)$/gm)].map(([, option]) => option);
	t.deepEqual(options, [
		'--job-name=matrix.uid-of-matrix',
		'--comment=troupe:default/matrix',
		'--output=out-%a.txt',
		'--error=err-%a.txt',
		'--open-mode=append',
		'--partition=dgx2',
		'--account=phys',
		'--qos=high',
		'--nodes=2',
		'--ntasks=8',
		'--ntasks-per-node=4',
		'--cpus-per-task=3',
		'--gres=gpu:2',
		'--mem=1500M',
		'--time=1-02:30:05',
		'--array=0-19%4',
	]);
});

/** Runs the batch script as Slurm would, in a folder of a job; the exit code and what stands there then. */
function ranAs(t: {readonly teardown: (clean: () => void) => void}, job: SlurmJob, ids: readonly string[]) {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-batch-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	execFileSync('mkdir', ['-p', path.join(folder, 'work'), path.join(folder, 'exit')]);
	for (const [name, text] of Object.entries(jobFiles(job))) writeFileSync(path.join(folder, name), text);
	const cwd = path.join(folder, 'work');
	const codes = ids.map(
		id =>
			spawnSync('bash', ['../batch.sh'], {cwd, env: {PATH: process.env['PATH'], HOME: folder, SLURM_SUBMIT_DIR: cwd, SLURM_JOB_ID: id}})
				.status,
	);
	return {codes, read: (name: string): string => readFileSync(path.join(folder, name), 'utf8')};
}

test('of two jobs with one mark only the first runs, and one that is begun anew runs again', t => {
	const {codes, read} = ranAs(t, aSlurmJob({env: [{name: 'A', value: "it's $HOME"}], runCommands: ['echo "$A" >> ran', 'exit 3']}), [
		'7',
		'8',
		'7',
	]);
	t.deepEqual(codes, [3, 0, 3]);
	t.is(read('work/ran'), "it's $HOME\nit's $HOME\n");
	t.deepEqual([read('owner'), read('exit/job')], ['7\n', '3\n']);
});

test('commands end at the first that fails', t => {
	const {codes, read} = ranAs(t, aSlurmJob({runCommands: ['echo a > ran', 'false', 'echo b >> ran']}), ['7']);
	t.deepEqual(codes, [1]);
	t.is(read('work/ran'), 'a\n');
});

test('however many files match, the end of a job can be read', t => {
	const home = mkdtempSync(path.join(tmpdir(), 'troupe-slurm-'));
	t.teardown(() => rmSync(home, {recursive: true, force: true}));
	const job = aSlurmJob({resultFiles: ['*']});
	const work = path.join(home, '.troupe', job.metadata.uid, 'work');
	mkdirSync(work, {recursive: true});
	for (let index = 0; index < limits.slurmFoundFiles + 100; index++) writeFileSync(path.join(work, `file-${index}`), '');
	const out = execFileSync('bash', ['-s'], {input: reportScript(job, undefined), env: {...process.env, HOME: home}, encoding: 'utf8'});
	t.is(readReport(out)?.files.length, limits.slurmFoundFiles);
});
