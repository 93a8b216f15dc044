// Whom the daemons of Slurm run as, and how they are started: each ends with this process, and at the end of its owner.

import {execFileSync, spawn, type ChildProcess} from 'node:child_process';
import {userInfo} from 'node:os';
import type {Owner} from '../owner.js';

const ordinary = 'troupe-tests';

export type User = {readonly name: string; readonly uid: number; readonly gid: number};

export function userOf(): User {
	const own = userInfo();
	if (own.uid !== 0) return {name: own.username, uid: own.uid, gid: own.gid};
	const id = (flag: string): number => Number(execFileSync('id', [flag, ordinary], {encoding: 'utf8'}));
	return {name: ordinary, uid: id('-u'), gid: id('-g')};
}

/** What runs a command as that user. */
export const privilegesOf = ({uid, gid}: User): readonly string[] =>
	uid === process.getuid?.() ? [] : ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];

export type Start = (privileges: readonly string[], command: readonly string[]) => ChildProcess;

export function starter(t: Owner, env: NodeJS.ProcessEnv): Start {
	return (privileges, command) => {
		const child = spawn('setpriv', [...privileges, '--pdeathsig', 'KILL', '--', ...command], {env, stdio: 'ignore'});
		t.teardown(() => ended(child));
		return child;
	};
}

export async function ended(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const over = new Promise(resolve => child.once('exit', resolve));
	child.kill('SIGTERM');
	const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
	await over;
	clearTimeout(timer);
}
