// SlurmJobs with real Slurm and a real sshd (Debian: slurm-wlm, openssh-server).

import {existsSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {execFileSync, spawn} from 'node:child_process';
import {lookup} from 'node:dns';
import test from 'ava';
import {connectSsh} from '../../../server/slurm/ssh.js';
import {systemClock} from '../../../system/time/clock.js';
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

const wrongKey = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

test.serial('an agent of SSH logs in, and a program that is run gets its input alone', async t => {
	const {slurm, home} = stage;
	const agent = path.join(home.folder, 'agent');
	const child = spawn('ssh-agent', ['-D', '-a', agent], {stdio: 'ignore'});
	t.teardown(() => void child.kill('SIGKILL'));
	await eventually('the agent listens', () => existsSync(agent));
	execFileSync('ssh-add', ['-q', '-'], {input: slurm.privateKey, env: {PATH: process.env['PATH'], SSH_AUTH_SOCK: agent}, stdio: 'pipe'});
	const ssh = await connectSsh({
		place: {host: '127.0.0.1', port: slurm.port, isUsualPort: false},
		login: {username: slurm.username, agent},
		lookup,
		judge: ({fingerprint}) => (fingerprint === slurm.fingerprint ? Promise.resolve() : Promise.reject(new Error(fingerprint))),
		keyTypes: ['ssh-ed25519'],
		clock: systemClock,
		signal: new AbortController().signal,
	});
	t.teardown(ssh.close);
	t.like(await ssh.run('cat', {input: 'hello', ms: 10_000, signal: new AbortController().signal}), {code: 0, out: 'hello'});
});

test.serial('a SlurmJob is compiled, submitted and followed, and its output is there', async t => {
	const {slurm, spec, submit, over} = stage;
	await submit(
		'hello',
		spec({
			compileCommands: ["printf 'echo compiled' > program.sh"],
			runCommands: ['sh program.sh', 'echo "$GREETING"', 'echo $SLURM_JOB_ID > id.txt'],
			env: [{name: 'GREETING', value: `it's "$HOME"`}],
			nTasks: 1,
			memory: '100Mi',
			timeLimit: '5m',
			resultFiles: ['*.txt'],
		}),
	);
	const {status} = await over('hello');
	t.like(status, {phase: 'Succeeded', state: 'COMPLETED', exitCode: 0, hostKey: slurm.fingerprint});
	t.deepEqual(
		status?.artifacts?.map(({name}) => name),
		['compile.log', 'slurm.out', 'id.txt'],
	);
	t.is(await slurm.jobsNamed('hello.'), 1);
});

test.serial('a job that fails, one that does not compile and one that Slurm refuses say why', async t => {
	const {slurm, spec, submit, over} = stage;
	await submit('fails', spec({runCommands: ['echo before', 'exit 7', 'echo after']}));
	await submit('uncompiled', spec({compileCommands: ['echo no such thing >&2', 'false'], runCommands: ['true']}));
	await submit('refused', spec({partition: 'nowhere', runCommands: ['true']}));
	t.like((await over('fails')).status, {
		phase: 'Failed',
		state: 'FAILED',
		exitCode: 7,
		outcome: {reason: 'NonZeroExitCode', message: 'the job failed with exit code 7'},
	});
	const uncompiled = (await over('uncompiled')).status;
	t.like(uncompiled?.outcome, {reason: 'CompileFailed', message: 'compileCommands ended with exit code 1: no such thing'});
	t.deepEqual(
		uncompiled?.artifacts?.map(({name}) => name),
		['compile.log'],
	);
	t.regex((await over('refused')).status?.outcome?.message ?? '', /invalid partition/);
	t.deepEqual([await slurm.jobsNamed('uncompiled.'), await slurm.jobsNamed('refused.')], [0, 0]);
});

test.serial('a job that somebody else cancels in Slurm is over, and what it has written is there', async t => {
	const {slurm, spec, submit, over, inPhase} = stage;
	await submit('cancelled', spec({runCommands: ['echo begun', 'sleep 300']}));
	const {jobId = ''} = (await inPhase('cancelled', 'Running')).status ?? {};
	await slurm.slurm('scancel', jobId);
	const {status} = await over('cancelled');
	t.like(status, {phase: 'Cancelled', state: 'CANCELLED', outcome: {reason: 'Cancelled'}});
	t.deepEqual(
		status?.artifacts?.map(({name}) => name),
		['slurm.out'],
	);
});

test.serial('a deleted job is cancelled in Slurm, and its folder goes', async t => {
	const {slurm, home, spec, submit, inPhase, read} = stage;
	await submit('deleted', spec({runCommands: ['sleep 300']}));
	const {metadata, status} = await inPhase('deleted', 'Running');
	const folder = path.join(slurm.home, '.troupe', metadata.uid);
	t.true(existsSync(folder));
	await home.fine('delete', 'slurmjob', 'deleted');
	await eventually('it is gone', async () => (await read('deleted')) === undefined, undefined, 60_000);
	t.false(existsSync(folder));
	t.is((await slurm.slurm('squeue', '-h', '-t', 'all', '-j', status?.jobId ?? '', '-o', '%T')).trim(), 'CANCELLED');
});

test.serial('of a wrong key of the host nothing is sent, and of a wrong login the job says so', async t => {
	const {slurm, home, spec, submit, over} = stage;
	await submit('other-host', spec({hostKey: wrongKey, runCommands: ['true']}));
	const {outcome} = (await over('other-host')).status ?? {};
	t.is(outcome?.reason, 'HostKeyMismatch');
	t.true(outcome?.message.includes(slurm.fingerprint), outcome?.message);

	const password = 'not-the-password-of-anybody';
	await home.apply({
		apiVersion: 'v1',
		kind: 'Secret',
		metadata: {name: 'wrong'},
		stringData: {password, username: slurm.username, known_hosts: slurm.knownHosts},
	});
	await submit('wrong-password', spec({secretName: 'wrong', runCommands: ['true']}));
	const refused = await over('wrong-password');
	t.is(refused.status?.outcome?.reason, 'AuthenticationFailed');
	t.false(JSON.stringify(refused).includes(password));
	t.is(await slurm.jobsNamed('wrong-password.'), 0);
});

test.serial('a key that nothing says anything of is taken with a warning, and then it is the one', async t => {
	const {slurm, home, spec, submit, over} = stage;
	await home.apply({
		apiVersion: 'v1',
		kind: 'Secret',
		metadata: {name: 'unpinned'},
		stringData: {'ssh-privatekey': slurm.privateKey, username: slurm.username},
	});
	// Other jobs of the namespace know the host already.
	await home.fine('delete', 'slurmjobs', '--all');
	await submit('first-use', spec({secretName: 'unpinned', runCommands: ['true']}));
	const {status} = await over('first-use');
	t.like(status, {phase: 'Succeeded', hostKey: slurm.fingerprint});
	t.is(status?.conditions?.find(({type}) => type === 'HostKeyPinned')?.reason, 'TrustedOnFirstUse');
	await slurm.changeHostKey();
	await submit('second-use', spec({secretName: 'unpinned', runCommands: ['true']}));
	t.is((await over('second-use')).status?.outcome?.reason, 'HostKeyMismatch');
	t.deepEqual(readdirSync(path.join(slurm.home, '.troupe')).length, 1);
});
