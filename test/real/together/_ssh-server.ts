// A login node in this process: an SSH server that takes one login, runs what it is asked to with bash, and can be told to cut connections. Slurm is
// a few shell scripts that count what they are asked for.

import {spawn} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import ssh2 from 'ssh2';
import {folder} from '../../../bench/rigs/servers/server.js';
import type {Owner} from '../../../bench/rigs/owner.js';
import {hostKeyOf} from '../../../server/slurm/ssh.js';

export type SshServer = {
	readonly host: string;
	readonly username: string;
	readonly password: string;
	readonly fingerprint: string;
	readonly home: string;
	/** Connections so far. */
	readonly connections: () => number;
	/** Ends the connection as soon as a script with this text has ended, before anything of it is answered; once. */
	readonly cutAfter: (text: string) => void;
	/** How often sbatch was called. */
	readonly submitted: () => number;
	/** What a command of Slurm says from now on on stderr, as it fails; undefined: it does not fail any more. */
	/** What sbatch answers, though the job that runs has another number: as where it was taken twice. */
	readonly saysNumber: (number: number) => void;
	readonly breaks: (command: 'squeue' | 'sbatch', words: string | undefined) => void;
};

export async function openSshServer(t: Owner, method: 'password' | 'keyboard-interactive'): Promise<SshServer> {
	const home = folder(t, 'login');
	const programs = path.join(home, 'bin');
	mkdirSync(programs);
	writeSlurm(home, programs);
	const {private: hostKey} = ssh2.utils.generateKeyPairSync('ed25519');
	const parsed = ssh2.utils.parseKey(hostKey);
	if (parsed instanceof Error) throw parsed;
	const [username, password] = ['ann', 'correct horse'];
	let connections = 0;
	let cut: string | undefined;
	const sockets = new Set<net.Socket>();
	const env = {PATH: `${programs}:${process.env['PATH'] ?? ''}`, HOME: home};
	const server = new ssh2.Server({hostKeys: [hostKey]}, client => {
		connections++;
		client.on('error', () => undefined);
		client.on('authentication', context => {
			if (context.username !== username) return context.reject();
			if (context.method === 'password' && method === 'password')
				return context.password === password ? context.accept() : context.reject(['password']);
			if (context.method === 'keyboard-interactive' && method === 'keyboard-interactive')
				return context.prompt([{prompt: 'Password: ', echo: false}], answers =>
					answers[0] === password ? context.accept() : context.reject(),
				);
			context.reject([method]);
		});
		client.on('session', accept => {
			const session = accept();
			session.on('exec', (acceptExec, _reject, {command}) => {
				const channel = acceptExec();
				const child = spawn('bash', ['-c', command], {env, cwd: home});
				let input = '';
				channel.on('data', (chunk: Buffer) => (input += chunk.toString()));
				channel.pipe(child.stdin);
				child.stdin.on('error', () => undefined);
				let out = '';
				child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
				child.stderr.pipe(channel.stderr, {end: false});
				child.once('close', code => {
					if (cut !== undefined && input.includes(cut)) {
						cut = undefined;
						for (const socket of sockets) socket.destroy();
						return;
					}
					channel.write(out);
					channel.exit(code ?? 1);
					channel.end();
				});
			});
			session.on('subsystem', (acceptSubsystem, _reject, {name}) => {
				if (name !== 'sftp') return;
				const channel = acceptSubsystem();
				const child = spawn('/usr/lib/openssh/sftp-server', ['-d', home], {env, cwd: home});
				channel.pipe(child.stdin);
				child.stdin.on('error', () => undefined);
				child.stdout.pipe(channel);
			});
		});
	});
	// Behind a door of its own, whose connections can be cut.
	const door = net.createServer({noDelay: true}, socket => {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket));
		socket.on('error', () => undefined);
		server.injectSocket(socket);
	});
	await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		door.close();
		server.close();
		for (const socket of sockets) socket.destroy();
	});
	const count = path.join(home, 'submitted');
	return {
		host: `127.0.0.1:${(door.address() as net.AddressInfo).port}`,
		username,
		password,
		fingerprint: hostKeyOf(parsed.getPublicSSH()).fingerprint,
		home,
		connections: () => connections,
		cutAfter: text => void (cut = text),
		submitted: () => (existsSync(count) ? readFileSync(count, 'utf8').length : 0),
		saysNumber: number => writeFileSync(path.join(home, 'number'), `${number}\n`),
		breaks: (command, words) => writeFileSync(path.join(home, `${command}.fails`), words ?? ''),
	};
}

/** One job, which has run by the time it is asked for. */
function writeSlurm(home: string, programs: string): void {
	const script = (name: string, text: string): void => {
		const file = path.join(programs, name);
		writeFileSync(file, `#!/bin/bash\nif [ -s ${home}/${name}.fails ]; then cat ${home}/${name}.fails >&2; exit 1; fi\n${text}\n`);
		chmodSync(file, 0o755);
	};
	script(
		'sbatch',
		`printf x >> ${home}/submitted
name=$(sed -n 's/^#SBATCH --job-name=//p' "\${@: -1}")
echo "$name" > ${home}/known
SLURM_SUBMIT_DIR=$PWD SLURM_JOB_ID=41 bash "\${@: -1}" > slurm.out 2>&1
cat ${home}/number 2> /dev/null || echo 41`,
	);
	script(
		'squeue',
		`while getopts 'harSt:u:n:j:o:' each; do case $each in n) name=$OPTARG;; j) id=$OPTARG;; esac; done
[ -n "$name" ] && grep -qxF "$name" ${home}/known 2> /dev/null && echo 41
[ "$id" = 41 -o "$id" = 42 ] && echo "troupe:q $id|COMPLETED|N/A|n1|None"
exit 0`,
	);
	script('scontrol', `echo 'JobId=41 JobName=a JobState=COMPLETED Reason=None ExitCode=0:0 NodeList=n1'`);
	script('sacct', 'exit 1');
	script('scancel', 'exit 0');
	writeFileSync(path.join(home, '.bash_profile'), `export PATH=${programs}:$PATH; echo "Welcome!"; echo "troupe:nothing 1"\n`);
}
