// Slurm's accounts: slurmdbd and the MariaDB behind it (Debian: slurmdbd, mariadb-server-core), on free ports of loopback, with data in the folder of the
// cluster. Nothing of the host's own MariaDB is read.

import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {chmodSync, chownSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {freePort, isOpen, until} from '../servers/server.js';
import type {Start, User} from './daemons.js';

export type AccountsOptions = {
	readonly dir: string;
	readonly user: User;
	/** What runs a command as that user. */
	readonly own: readonly string[];
	readonly daemon: Start;
};

/** Lines of slurm.conf that lead to them. */
export async function openAccounts({dir, user, own, daemon}: AccountsOptions): Promise<readonly string[]> {
	const [sql, dbd] = [await freePort(), await freePort()];
	const password = randomBytes(12).toString('hex');
	const file = (name: string, text: string): string => {
		const place = path.join(dir, name);
		writeFileSync(place, text);
		chownSync(place, user.uid, user.gid);
		chmodSync(place, 0o600);
		return place;
	};
	const data = path.join(dir, 'accounts');
	mkdirSync(data);
	chownSync(data, user.uid, user.gid);
	const install = ['mariadb-install-db', '--no-defaults', `--datadir=${data}`, '--skip-test-db', '--skip-name-resolve'];
	execFileSync('setpriv', [...own, '--pdeathsig', 'KILL', '--', ...install], {stdio: 'ignore'});
	const first = [
		`CREATE OR REPLACE USER slurm@'127.0.0.1' IDENTIFIED BY '${password}';`,
		`GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';`,
	];
	const server = [`--datadir=${data}`, `--socket=${data}/sock`, `--pid-file=${data}/pid`, `--port=${sql}`, '--bind-address=127.0.0.1'];
	const small = ['--innodb-flush-log-at-trx-commit=0', '--performance-schema=OFF', '--skip-name-resolve'];
	daemon(own, ['mariadbd', '--no-defaults', ...server, ...small, `--init-file=${file('accounts.sql', `${first.join('\n')}\n`)}`]);
	await until('MariaDB answers', () => isOpen(sql), 30_000);
	file(
		'slurmdbd.conf',
		[
			'DbdHost=localhost',
			'DbdAddr=127.0.0.1',
			`DbdPort=${dbd}`,
			`SlurmUser=${user.name}`,
			'AuthType=auth/none',
			'CommunicationParameters=NoInAddrAny',
			'StorageType=accounting_storage/mysql',
			'StorageHost=127.0.0.1',
			`StoragePort=${sql}`,
			'StorageUser=slurm',
			`StoragePass=${password}`,
			`PidFile=${dir}/state/slurmdbd.pid`,
			`LogFile=${dir}/log/slurmdbd.log`,
			'',
		].join('\n'),
	);
	daemon(own, ['slurmdbd', '-D']);
	await until('slurmdbd answers', () => isOpen(dbd), 60_000);
	return ['AccountingStorageType=accounting_storage/slurmdbd', 'AccountingStorageHost=127.0.0.1', `AccountingStoragePort=${dbd}`];
}
