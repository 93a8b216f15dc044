// What goes to a SlurmJob and comes from it, with real Slurm: sources, output as it grows, artifacts, passwords; and one as a task of a run.

import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openSlurmStage, type SlurmStage} from './_slurm-stage.js';

const cleanings: (() => void | Promise<void>)[] = [];
let stage: SlurmStage;

test.before(async () => {
	stage = await openSlurmStage({teardown: clean => void cleanings.unshift(clean)});
});
test.after.always(async () => {
	for (const clean of cleanings) await clean();
});

test.serial('a Job of the older dialect with its folder and a password: the files go there, and the password is shown nowhere', async t => {
	const {slurm, home, over, read} = stage;
	const password = 'PlantedPassword-7f3a';
	const folder = path.join(home.folder, 'sources');
	mkdirSync(path.join(folder, 'deep'), {recursive: true});
	writeFileSync(path.join(folder, 'main.c'), '#include "deep/text.h"\n#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n');
	writeFileSync(path.join(folder, 'deep', 'text.h'), '#define TEXT "from the sources"\n');
	const manifest = path.join(folder, 'job.yaml');
	writeFileSync(
		manifest,
		JSON.stringify({
			apiVersion: 'v1',
			kind: 'Job',
			metadata: {name: 'older'},
			spec: {
				...{partition: 'debug', nTasks: '1', submitDirectory: '.', submitHost: '', username: slurm.username, password},
				...{compileCommands: ['cc -o main main.c'], runCommands: ['./main'], outputFile: 'job.out', errorFile: 'job.err'},
				hostKey: slurm.fingerprint,
			},
		}),
	);
	const applied = await home.troupe('apply', '-f', manifest);
	t.is(applied.code, 0, applied.err);
	t.regex(applied.err + applied.out, /spec\.password is not kept in the object: it is in the Secret "older-ssh" now/);
	const {spec} = (await read('older')) ?? {};
	t.like(spec, {secretName: 'older-ssh', password: undefined});
	// It is a wrong one: no user of this machine has it.
	t.is((await over('older')).status?.outcome?.reason, 'AuthenticationFailed');
	const again = await home.troupe('apply', '-f', manifest);
	t.is(again.code, 0, again.err);
	for (const words of [
		['get', 'slurmjob', 'older', '-o', 'yaml'],
		['describe', 'slurmjob', 'older'],
		['events'],
		['why', 'slurmjob', 'older'],
		['diff', '-f', manifest],
	])
		t.false(JSON.stringify(await home.troupe(...words)).includes(password), words.join(' '));
	for (const place of [home.home, slurm.home]) t.is(spawnSync('grep', ['-rlaF', password, place], {encoding: 'utf8'}).stdout, '');
});

test.serial('sources are compiled there, output is followed as it grows, and artifacts are copied, whole and in parts', async t => {
	const {slurm, home, spec, over, inPhase} = stage;
	const folder = path.join(home.folder, 'program');
	mkdirSync(folder, {recursive: true});
	writeFileSync(path.join(folder, 'main.c'), '#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n');
	const flag = path.join(slurm.home, 'go-on');
	const manifest = path.join(home.folder, 'program.yaml');
	writeFileSync(
		manifest,
		JSON.stringify({
			apiVersion: 'troupe.dev/v1',
			kind: 'SlurmJob',
			metadata: {name: 'program'},
			spec: spec({
				submitDirectory: 'program',
				compileCommands: ['cc -o main main.c'],
				runCommands: ['./main', `while [ ! -e ${flag} ]; do sleep 0.1; done`, 'echo ended', 'seq 100000 > numbers.txt'],
				resultFiles: ['numbers.txt', 'no-such-*'],
			}),
		}),
	);
	const applied = await home.troupe('apply', '-f', manifest);
	t.regex(applied.err + applied.out, /uploaded program\/ .* for slurmjob "program"/);
	await inPhase('program', 'Running');
	const following = home.start(['logs', '-f', 'job/program']);
	await following.says(/^compiled\n/);
	await slurm.slurm('touch', flag);
	const {code, out} = await following.ended;
	t.deepEqual([code, out], [0, 'compiled\nended\n']);
	await over('program');
	t.is((await home.troupe('logs', 'slurmjob/program')).out, 'compiled\nended\n');
	t.regex((await home.troupe('logs', 'slurmjob/program', '-c', 'nothing')).err, /it writes slurm\.out, compile\.log/);
	t.regex((await home.troupe('get', 'artifacts')).out, /^program +numbers\.txt +589 kB/m);

	const target = path.join(home.folder, 'copied.txt');
	t.is((await home.troupe('cp', 'job/program:numbers.txt', target)).code, 0);
	const numbers = readFileSync(target, 'utf8');
	t.is(numbers, Array.from({length: 100_000}, (_, index) => `${index + 1}\n`).join(''));
	t.deepEqual(
		readdirSync(home.folder).filter(name => name.startsWith('.copied')),
		[],
	);
	const get = (range: string): {readonly status: string; readonly body: string} => {
		const {api, ca} = {api: home.endpoints().api, ca: path.join(home.home, 'ca.crt')};
		const place = `${api}/apis/troupe.dev/v1/namespaces/default/slurmjobs/program/artifacts/numbers.txt`;
		const said = execFileSync('curl', [
			'-s',
			'--cacert',
			ca,
			'-H',
			`Authorization: Bearer ${home.token()}`,
			'-r',
			range,
			'-w',
			'|%{http_code}',
			place,
		]);
		const text = said.toString();
		return {status: text.slice(-3), body: text.slice(0, -4)};
	};
	t.deepEqual(get('300000-300009'), {status: '206', body: numbers.slice(300_000, 300_010)});
	t.deepEqual(get('-5'), {status: '206', body: '0000\n'.slice(-5)});
	t.is(get('99999999-').status, '416');
});

test.serial('the example of matrices is compiled, by nvcc where that is, and its results are right', async t => {
	const {slurm, home, over} = stage;
	const examples = path.resolve(import.meta.dirname, '../../../../examples/slurm');
	const folder = path.join(home.folder, 'matrix');
	mkdirSync(folder);
	writeFileSync(path.join(folder, 'matrix.cu'), readFileSync(path.join(examples, 'matrix.cu')));
	const manifest = path.join(folder, 'matrix.yaml');
	// There is no GPU at these nodes of Slurm.
	const text = readFileSync(path.join(examples, 'matrix.yaml'), 'utf8')
		.replace(/^ +gpuNums: 1\n/m, '')
		.replace('secretName: hpc', 'secretName: login');
	writeFileSync(manifest, text.replace('login.hpc.example\n  secretName', `${slurm.host}\n  secretName`));
	t.is((await home.troupe('apply', '-f', manifest)).code, 0);
	t.like((await over('matrix')).status, {phase: 'Succeeded'});
	const size = 256;
	let trace = 0;
	for (let row = 0; row < size; row++) for (let k = 0; k < size; k++) trace += ((row * size + k) % 7) * ((k * size + row) % 5);
	t.regex(
		await home.fine('logs', 'slurmjob/matrix'),
		new RegExp(`^256 x 256 on the (GPU|processor): the sum and the product are right; the trace of the product is ${trace}\n$`),
	);
	const started = await home.troupe('apply', '-f', path.join(examples, 'workflow.yaml'));
	t.is(started.code, 0, started.err);
	const input = await home.fine('get', 'slurmjob', 'matrix', '-o', 'json');
	const ran = await home.troupe(
		'workflow',
		'start',
		'matrices',
		'--wait',
		'--input',
		JSON.stringify({spec: (JSON.parse(input) as {spec: object}).spec}),
	);
	t.regex(ran.out, /product\.txt/, ran.err);
});

test.serial('a SlurmJob is a task of a run, and its result is that of the task', async t => {
	const {slurm, home, spec} = stage;
	const state = {Type: 'Task', Resource: 'slurmjob:', End: true};
	await home.apply({
		apiVersion: 'troupe.dev/v1',
		kind: 'Workflow',
		metadata: {name: 'compute'},
		spec: {definition: {StartAt: 'Add', States: {Add: state}}},
	});
	const start = async (name: string, runCommands: readonly string[]): Promise<string> => {
		const input = JSON.stringify({spec: spec({runCommands: [...runCommands]})});
		const ran = await home.troupe('workflow', 'start', 'compute', '--name', name, '--input', input, '--wait');
		return `${ran.out}${ran.err}`;
	};
	t.regex(await start('fine', ['echo 42']), /"exitCode":\s*0/);
	t.regex(await start('failing', ['exit 3']), /SlurmJob\.Failed/);
	const jobs = (await home.troupe('get', 'slurmjobs', '-o', 'name')).out;
	t.is(jobs.match(/\/fine-/g)?.length, 1, jobs);
	t.is(await slurm.jobsNamed('fine-'), 1);
	await eventually('nothing is under way', async () => (await slurm.slurm('squeue', '-h', '-t', 'PD,R')).trim() === '');
});
