// A user of this host with a password that nobody knows, for as long as a test runs; only root may make one. One whose maker was killed goes with the
// next that is made, and its account is over after a day whatever happens.

import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {existsSync, readFileSync} from 'node:fs';
import type {Owner} from '../owner.js';
import type {User} from './daemons.js';

const prefix = 'troupe-login-';
const dayMs = 86_400_000;
let made = 0;

export function makeUser(t: Owner, home: string): User & {readonly password: string} {
	if (process.getuid?.() !== 0) throw new Error('only root may make the user whose password is given');
	for (const name of namesOfDead()) removeUser(name);
	const name = `${prefix}${process.pid}-${++made}`;
	const password = randomBytes(12).toString('base64');
	const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], {input: `${password}\n`, encoding: 'utf8'}).trim();
	const over = new Date(Date.now() + 2 * dayMs).toISOString().slice(0, 10);
	const words = ['--no-create-home', '--home-dir', home, '--no-user-group', '--shell', '/bin/bash', '--expiredate', over];
	execFileSync('useradd', [...words, '--password', hash, name], {stdio: 'pipe'});
	t.teardown(() => removeUser(name));
	const id = (flag: string): number => Number(execFileSync('id', [flag, name], {encoding: 'utf8'}));
	return {name, uid: id('-u'), gid: id('-g'), password};
}

const removeUser = (name: string): void => void execFileSync('userdel', ['--force', name], {stdio: 'pipe'});

/** Those whose maker does not run any more. */
const namesOfDead = (): readonly string[] =>
	readFileSync('/etc/passwd', 'utf8')
		.split('\n')
		.flatMap(line => {
			const [, name, pid] = /^(troupe-login-(\d+)-\d+):/.exec(line) ?? [];
			return name === undefined || existsSync(`/proc/${pid ?? ''}`) ? [] : [name];
		});
