// Real Slurm with two nodes and a real sshd as its login node (Debian: slurm-wlm, openssh-server), on free ports of loopback, without munge. As
// root everything of it but sshd runs as the ordinary user of the tests, or as one that is made for it. All of it ends with who has started it, also when that is killed.

import {execFile} from 'node:child_process';
import {chmodSync, chownSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {Owner} from '../owner.js';
import {folder, freePort, until} from '../servers/server.js';
import {openAccounts} from './accounts.js';
import {privilegesOf, starter, userOf, type User} from './daemons.js';
import {loginNode, type PasswordMethod} from './login-node.js';
import {makeUser} from './throwaway-user.js';

export type SlurmOptions = {
	/** With slurmdbd; then slurmctld forgets jobs as soon as it can, which is some seconds after their end. */
	readonly hasAccounts?: boolean;
	/** It takes a password by this alone, of a user that is made for it: only root may. Left out: of nobody that is known. */
	readonly method?: PasswordMethod;
};

export type SlurmCluster = {
	/** `127.0.0.1:PORT` of its login node. */
	readonly host: string;
	readonly port: number;
	readonly username: string;
	/** Of the user that was made for it. */
	readonly password: string | undefined;
	/** PEM of a key that is let in. */
	readonly privateKey: string;
	/** Of the key of the host, as ssh-keygen prints it. */
	readonly fingerprint: string;
	readonly knownHosts: string;
	/** The home of the login. */
	readonly home: string;
	/** Runs one of Slurm's commands; its output. */
	readonly slurm: (command: string, ...args: readonly string[]) => Promise<string>;
	/** How many jobs Slurm has ever been given with such a beginning of their name. */
	readonly jobsNamed: (beginning: string) => Promise<number>;
	/** How many programs were run over SSH so far. */
	readonly programs: () => number;
	readonly stopLogin: () => Promise<void>;
	readonly startLogin: () => Promise<void>;
	/** The login node shows another key from now on. */
	readonly changeHostKey: () => Promise<void>;
};

const run = promisify(execFile);

export async function openSlurm(t: Owner, {hasAccounts = false, method}: SlurmOptions = {}): Promise<SlurmCluster> {
	const dir = folder(t, 'slurm');
	chmodSync(dir, 0o755);
	const home = path.join(dir, 'home');
	const made = method === undefined ? undefined : makeUser(t, home);
	const user = made ?? userOf();
	for (const name of ['home', 'state', 'spool', 'log']) {
		mkdirSync(path.join(dir, name));
		chownSync(path.join(dir, name), user.uid, user.gid);
	}
	const ports = {control: await freePort(), one: await freePort(), two: await freePort(), ssh: await freePort()};
	const conf = path.join(dir, 'slurm.conf');
	const env = {...process.env, SLURM_CONF: conf};
	const daemon = starter(t, env);
	const own = privilegesOf(user);
	const base = slurmConf(dir, user, ports);
	// slurmdbd reads nothing of it, and says where it is.
	writeFileSync(conf, base);
	if (hasAccounts) writeFileSync(conf, [base.trim(), ...(await openAccounts({dir, user, own, daemon})), 'MinJobAge=2', ''].join('\n'));
	daemon(own, ['slurmctld', '-D']);
	daemon(own, ['slurmd', '-D', '-N', 'n1']);
	daemon(own, ['slurmd', '-D', '-N', 'n2']);
	const slurm = async (command: string, ...args: readonly string[]): Promise<string> =>
		(await run('setpriv', [...own, ...(own.length === 0 ? ['--pdeathsig', 'KILL'] : []), '--', command, ...args], {env, timeout: 20_000}))
			.stdout;
	const login = loginNode(dir, {user, home, port: ports.ssh, conf, method}, daemon);
	await login.start();
	await until(
		'both nodes of Slurm are idle',
		async () => (await slurm('sinfo', '-h', '-o', '%T %D').catch(() => '')).trim() === 'idle 2',
		30_000,
	);
	return {
		host: `127.0.0.1:${ports.ssh}`,
		port: ports.ssh,
		username: user.name,
		password: made?.password,
		privateKey: login.privateKey,
		fingerprint: login.fingerprint,
		knownHosts: `[127.0.0.1]:${ports.ssh} ${login.hostKey}\n`,
		home,
		slurm,
		jobsNamed: async beginning =>
			new Set(
				(await slurm('squeue', '-h', '-a', '-t', 'all', '-o', '%F %j'))
					.split('\n')
					.filter(line => line.split(' ')[1]?.startsWith(beginning) === true),
			).size,
		programs: login.programs,
		stopLogin: login.stop,
		startLogin: login.start,
		changeHostKey: login.changeHostKey,
	};
}

type Ports = {readonly control: number; readonly one: number; readonly two: number};

const slurmConf = (dir: string, {name}: User, ports: Ports): string =>
	`
ClusterName=troupe
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=${ports.control}
SlurmUser=${name}
SlurmdUser=${name}
AuthType=auth/none
CredType=cred/none
StateSaveLocation=${dir}/state
SlurmdSpoolDir=${dir}/spool/%n
SlurmctldPidFile=${dir}/state/slurmctld.pid
SlurmdPidFile=${dir}/state/%n.pid
SlurmctldLogFile=${dir}/log/slurmctld.log
SlurmdLogFile=${dir}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,defer_batch
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=${dir}/log/jobs
ReturnToService=2
KillWait=2
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports.one} CPUs=8 RealMemory=4000 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports.two} CPUs=8 RealMemory=4000 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES State=UP
`.replace(',defer_batch', '');
