// Connections over SSH with a login node that does not answer: nothing waits for it for ever, and nothing of it goes on.

import type net from 'node:net';
import test, {type ExecutionContext} from 'ava';
import ssh2 from 'ssh2';
import {limits} from '../../../api/limits.js';
import {connectSsh, SshError, type Ssh} from '../../../server/slurm/ssh.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

/** It takes whoever comes, and answers nothing of what `exec` and SFTP are asked. */
async function openMute(t: ExecutionContext): Promise<{readonly ssh: Ssh; readonly clock: ManualClock; readonly asked: () => number}> {
	let asked = 0;
	const server = new ssh2.Server({hostKeys: [ssh2.utils.generateKeyPairSync('ed25519').private]}, client => {
		client.on('error', () => undefined);
		client.on('authentication', context => context.accept());
		client.on('session', accept => {
			const session = accept();
			session.on('exec', acceptExec => void (acceptExec(), asked++));
			session.on('sftp', acceptSftp => void acceptSftp().on('OPEN', () => asked++));
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	const clock = new ManualClock();
	const {port} = server.address() as net.AddressInfo;
	const ssh = await connectSsh({
		place: {host: '127.0.0.1', port, isUsualPort: false},
		login: {username: 'ann', password: 'x'},
		lookup: () => undefined,
		judge: () => Promise.resolve(),
		keyTypes: [],
		clock,
		signal: new AbortController().signal,
	});
	t.teardown(() => {
		ssh.close();
		server.close();
	});
	return {ssh, clock, asked: () => asked};
}

type Asked = {readonly prompt: string; readonly echo: boolean};

/** What comes of a login at a host that asks these questions, one round after the other. */
async function asks(t: ExecutionContext, ...rounds: readonly Asked[][]) {
	const answers: string[][] = [];
	const server = new ssh2.Server({hostKeys: [ssh2.utils.generateKeyPairSync('ed25519').private]}, client => {
		client.on('error', () => undefined);
		client.on('authentication', context => {
			if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive']);
			const round = (index: number): void => {
				const prompts = rounds[index];
				if (prompts === undefined) return context.accept();
				context.prompt(prompts, given => {
					answers.push(given);
					round(index + 1);
				});
			};
			round(0);
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	const connecting = connectSsh({
		place: {host: '127.0.0.1', port: (server.address() as net.AddressInfo).port, isUsualPort: false},
		login: {username: 'ann', password: 'hunter  2'},
		lookup: () => undefined,
		judge: () => Promise.resolve(),
		keyTypes: [],
		clock: new ManualClock(),
		signal: new AbortController().signal,
	});
	t.teardown(() => server.close());
	return {connecting, answers};
}

async function until(holds: () => boolean): Promise<void> {
	while (!holds()) await new Promise(resolve => setImmediate(resolve));
}

const {signal} = new AbortController();

test('a program that does not end in time takes its connection with it', async t => {
	const {ssh, clock, asked} = await openMute(t);
	const ran = ssh.run('true', {input: '', ms: 5_000, signal});
	await until(() => asked() === 1);
	clock.advance(5_000);
	t.like(await t.throwsAsync(ran, {instanceOf: SshError}), {why: 'Unreachable', message: 'a program did not end within 5 s'});
	t.false(ssh.isOpen());
});

test('SFTP that does not answer in time takes its connection with it, and what waits is not read into memory before its turn', async t => {
	const {ssh, clock, asked} = await openMute(t);
	let reads = 0;
	const content = (): Promise<Buffer> => (reads++, Promise.resolve(Buffer.from('x')));
	const writes = Array.from({length: 10}, (_, index) => ssh.files.write(`file-${index}`, content, 0o600, new AbortController().signal));
	const ended = Promise.allSettled(writes);
	await until(() => asked() === limits.slurmTransfers);
	t.is(reads, limits.slurmTransfers);
	clock.advance(limits.slurmCommandMs);
	for (const {status} of await ended) t.is(status, 'rejected');
	t.false(ssh.isOpen());
	await t.throwsAsync(ssh.files.read('file', 0, 1, signal), {instanceOf: SshError});
});

const hidden = (prompt: string): Asked => ({prompt, echo: false});

test('a password answers one question that shows nothing of it, whatever is only told around it', async t => {
	const {connecting, answers} = await asks(t, [], [hidden('Password: ')], []);
	(await connecting).close();
	t.deepEqual(answers, [[], ['hunter  2'], []]);
});

for (const [what, rounds, given] of [
	['a code beside it', [[hidden('Password: '), hidden('One-time\u0007 code:')]], []],
	['a code after it', [[hidden('Password: ')], [hidden('One-time code: ')]], [['hunter  2']]],
	['what is shown as it is typed', [[{prompt: 'One-time code: ', echo: true}]], []],
	['something with the password in it', [[hidden('Password: ')], [hidden('hunter  2 is old. One-time code: ')]], [['hunter  2']]],
] as const)
	test(`a host that asks for ${what} gets no password for it, and the login ends with the question`, async t => {
		const {connecting, answers} = await asks(t, ...rounds.map(each => [...each]));
		const {message, why} = await t.throwsAsync<SshError>(connecting, {instanceOf: SshError});
		t.is(why, 'AuthenticationFailed');
		t.regex(message, /^127\.0\.0\.1 asks for more than a password: ".*One-time code:"$/);
		t.false(message.includes('hunter'), 'nor with its blanks drawn together');
		t.deepEqual(
			answers,
			given.map(each => [...each]),
		);
	});
