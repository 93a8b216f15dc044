// SlurmJobs against a login node in this process: logins by password, connections that are cut in the middle, and a Slurm that does not answer.

import {existsSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {SlurmJob} from '../../../api/kinds/slurmjob.js';
import {limits} from '../../../api/limits.js';
import {openHome, type Home} from '../../../bench/rigs/cluster/home.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openSshServer, type SshServer} from './_ssh-server.js';

async function open(t: ExecutionContext, method: 'password' | 'keyboard-interactive' = 'password') {
	const server = await openSshServer(t, method);
	const home = openHome(t);
	await home.up();
	await home.fine('config', 'set', 'slurm.hosts', server.host);
	return {server, home};
}

async function submit(home: Home, server: SshServer, name: string, spec: object = {}) {
	const {host: submitHost, username, password, fingerprint: hostKey} = server;
	const object = {
		apiVersion: 'troupe.dev/v1',
		kind: 'SlurmJob',
		metadata: {name},
		spec: {submitHost, username, password, hostKey, runCommands: ['echo done'], ...spec},
	};
	await home.apply(object);
}

const read = async (home: Home, name: string): Promise<SlurmJob> =>
	JSON.parse(await home.fine('get', 'slurmjob', name, '-o', 'json')) as SlurmJob;

async function phase(home: Home, name: string, wanted: string): Promise<SlurmJob> {
	let job: SlurmJob | undefined;
	await eventually(
		`${name} is ${wanted}`,
		async () => {
			job = await read(home, name);
			return job.status?.phase === wanted;
		},
		() => JSON.stringify(job?.status),
		60_000,
	);
	return job ?? (await read(home, name));
}

for (const method of ['password', 'keyboard-interactive'] as const)
	test(`a password of a manifest logs in by ${method}, over one connection for all jobs`, async t => {
		const {server, home} = await open(t, method);
		await submit(home, server, 'one');
		await phase(home, 'one', 'Succeeded');
		await submit(home, server, 'two');
		await phase(home, 'two', 'Succeeded');
		// The Secrets are two, and have the same login in them.
		t.is(server.connections(), 1);
		t.regex(await home.fine('logs', 'slurmjob/two'), /done\n$/);
		await submit(home, server, 'three', {password: 'wrong'});
		t.is((await phase(home, 'three', 'Failed')).status?.outcome?.reason, 'AuthenticationFailed');
	});

test('a connection that is cut when Slurm has the job and nobody has its number: the job is found again', async t => {
	const {server, home} = await open(t);
	for (const script of ['sbatch --parsable', 'exec timeout', 'mkdir -p', 'squeue -h -r', 'scontrol -o']) {
		const name = `cut-${script.replaceAll(/[^a-z]/g, '')}`;
		const before = server.submitted();
		server.cutAfter(script);
		await submit(home, server, name, {compileCommands: ['true']});
		t.is((await phase(home, name, 'Succeeded')).status?.jobId, '41');
		t.is(server.submitted() - before, 1, script);
	}
});

test('of two jobs that Slurm has for one, the one that runs is followed', async t => {
	const {server, home} = await open(t);
	server.saysNumber(42);
	await submit(home, server, 'twice');
	t.is((await phase(home, 'twice', 'Succeeded')).status?.jobId, '41');
	t.regex(await home.fine('logs', 'slurmjob/twice'), /done\n$/);
});

test('a Slurm that does not answer is waited for, and asked before a job is given to it', async t => {
	const {server, home} = await open(t);
	server.breaks('squeue', 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)');
	await submit(home, server, 'waits');
	const held = async (): Promise<string | undefined> =>
		(await read(home, 'waits')).status?.conditions?.find(({type}) => type === 'Reachable')?.reason;
	await eventually('it says so', async () => (await held()) === 'SlurmUnavailable');
	t.is(server.submitted(), 0);
	server.breaks('squeue', undefined);
	await phase(home, 'waits', 'Succeeded');
	t.is(server.submitted(), 1);
	server.breaks('sbatch', 'sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified');
	await submit(home, server, 'refused');
	t.regex((await phase(home, 'refused', 'Failed')).status?.outcome?.message ?? '', /Invalid account/);
});

test('a login node that the cluster does not list is not connected to, until it is listed', async t => {
	const {server, home} = await open(t);
	await home.fine('config', 'set', 'slurm.hosts', 'login.example');
	await submit(home, server, 'unlisted');
	const held = async (): Promise<string | undefined> =>
		(await read(home, 'unlisted')).status?.conditions?.find(({type}) => type === 'Reachable')?.message;
	await eventually('it says so', async () => (await held())?.includes(`troupe config set slurm.hosts ${server.host}`) === true);
	t.is(server.connections(), 0);
	await home.fine('config', 'set', 'slurm.hosts', server.host);
	await phase(home, 'unlisted', 'Succeeded');
});

const foldersOf = ({home}: SshServer): readonly string[] => {
	const place = path.join(home, '.troupe');
	return existsSync(place) ? readdirSync(place) : [];
};

test('a job that is deleted while it is compiled ends at the login node at once, also by --force', async t => {
	const {server, home} = await open(t);
	for (const words of [[], ['--force']]) {
		const name = `slow${words.join('')}`;
		const started = path.join(server.home, name);
		await submit(home, server, name, {compileCommands: [`touch ${started}`, 'sleep 600']});
		await eventually('it is being compiled', () => Promise.resolve(existsSync(started)));
		await home.fine('delete', 'slurmjob', name, ...words);
		await eventually(
			'its folder is gone',
			() => Promise.resolve(foldersOf(server).length === 0),
			() => foldersOf(server).join(' '),
			60_000,
		);
		t.is(server.submitted(), 0);
	}
});

test('a job that is deleted after its Secret is ended at the login node all the same', async t => {
	const {server, home} = await open(t);
	server.breaks('squeue', 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)');
	await submit(home, server, 'orphan');
	await phase(home, 'orphan', 'Submitting');
	await eventually('it has tried', async () => (await read(home, 'orphan')).status?.conditions?.[0]?.reason === 'SlurmUnavailable');
	t.is(foldersOf(server).length, 1);
	await home.fine('delete', 'secret', 'orphan-ssh');
	await home.fine('delete', 'slurmjob', 'orphan', '--wait=false');
	server.breaks('squeue', undefined);
	await eventually(
		'its folder is gone',
		() => Promise.resolve(foldersOf(server).length === 0),
		() => foldersOf(server).join(' '),
		60_000,
	);
	t.is(server.submitted(), 0);
});

test('output that is too large to be fetched is read at the login node, also when the job is over', async t => {
	const {server, home} = await open(t);
	const bytes = limits.slurmResultFileBytes + 1_000_000;
	await submit(home, server, 'large', {runCommands: [`head -c ${bytes} /dev/zero`]});
	const {status} = await phase(home, 'large', 'Succeeded');
	t.regex(status?.outcome?.message ?? '', /not fetched: slurm\.out \(\d+ bytes\)/);
	const client = await home.client();
	const path = '/apis/troupe.dev/v1/namespaces/default/slurmjobs/large/log';
	for (const query of [{}, {follow: true}]) {
		let count = 0;
		for await (const piece of await client.stream({path, query, accept: 'text/plain'})) count += piece.length;
		// A profile says something, too.
		t.true(count >= bytes, String(count));
	}
});

test('an artifact that is no archive of sources ends its job, with that', async t => {
	const {server, home} = await open(t);
	await submit(home, server, 'first', {resultFiles: ['*']});
	const {digest: artifact} = (await phase(home, 'first', 'Succeeded')).status?.artifacts?.[0] ?? {};
	await submit(home, server, 'second', {artifact});
	t.like((await phase(home, 'second', 'Failed')).status?.outcome, {reason: 'BadSources'});
});
