// The login node of a Slurm: a real sshd, which takes a key, or a password as well.

import {execFileSync, type ChildProcess} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {isOpen, until} from '../servers/server.js';
import {ended, type Start, type User} from './daemons.js';

/** By itself against the passwords of the host, or by PAM with a question. */
export type PasswordMethod = 'password' | 'keyboard-interactive';

export type LoginOptions = {
	readonly user: User;
	readonly home: string;
	readonly port: number;
	readonly conf: string;
	readonly method: PasswordMethod | undefined;
};

export function loginNode(dir: string, {user, home, port, conf, method}: LoginOptions, daemon: Start) {
	const keygen = (file: string): void => void execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
	const hostKey = path.join(dir, 'host-key');
	keygen(hostKey);
	const clientKey = path.join(dir, 'client-key');
	keygen(clientKey);
	const authorized = path.join(dir, 'authorized');
	writeFileSync(authorized, readFileSync(`${clientKey}.pub`));
	chmodSync(authorized, 0o644);
	const sshd = path.join(dir, 'sshd.conf');
	const log = path.join(dir, 'sshd.log');
	writeFileSync(
		sshd,
		[
			`Port ${port}`,
			'ListenAddress 127.0.0.1',
			`HostKey ${hostKey}`,
			'PidFile none',
			`AuthorizedKeysFile ${authorized}`,
			'StrictModes no',
			`UsePAM ${method === 'password' ? 'no' : 'yes'}`,
			`PasswordAuthentication ${method === 'keyboard-interactive' ? 'no' : 'yes'}`,
			`KbdInteractiveAuthentication ${method === 'keyboard-interactive' ? 'yes' : 'no'}`,
			`Subsystem sftp internal-sftp -d ${home}`,
			`SetEnv HOME=${home} SLURM_CONF=${conf}`,
			`AllowUsers ${user.name}`,
			'LogLevel VERBOSE',
			'MaxStartups 100',
		].join('\n') + '\n',
	);
	if (process.getuid?.() === 0) mkdirSync('/run/sshd', {recursive: true});
	let child: ChildProcess | undefined;
	const stop = async (): Promise<void> => {
		if (child !== undefined) {
			const {pid} = child;
			// What it has for single connections ends, too.
			for (const each of pid === undefined ? [] : childrenOf(pid)) process.kill(each, 'SIGKILL');
			await ended(child);
		}
		child = undefined;
	};
	const start = async (): Promise<void> => {
		child = daemon([], ['/usr/sbin/sshd', '-D', '-E', log, '-f', sshd]);
		await until('the login node takes connections', () => isOpen(port));
	};
	const printed = execFileSync('ssh-keygen', ['-l', '-E', 'sha256', '-f', `${hostKey}.pub`], {encoding: 'utf8'});
	return {
		start,
		stop,
		programs: (): number => readFileSync(log, 'utf8').match(/Starting session: command/g)?.length ?? 0,
		privateKey: readFileSync(clientKey, 'utf8'),
		fingerprint: printed.split(' ')[1] ?? '',
		hostKey: readFileSync(`${hostKey}.pub`, 'utf8').split(' ').slice(0, 2).join(' '),
		changeHostKey: async () => {
			await stop();
			for (const file of [hostKey, `${hostKey}.pub`]) if (existsSync(file)) execFileSync('rm', [file]);
			keygen(hostKey);
			await start();
		},
	};
}

function childrenOf(pid: number): readonly number[] {
	try {
		return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number);
	} catch {
		return [];
	}
}
