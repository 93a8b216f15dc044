// Real Slurm with two nodes and a real sshd as its login node (Debian: slurm-wlm, openssh-server), on free ports of loopback, without munge. As
// root everything of it but sshd runs as the ordinary user of the tests. All of it ends with who has started it, also when that is killed.

import {execFile, execFileSync, spawn, type ChildProcess} from 'node:child_process';
import {chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {userInfo} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import type {Owner} from '../owner.js';
import {folder, freePort, isOpen, until} from '../servers/server.js';

export type SlurmCluster = {
	/** `127.0.0.1:PORT` of its login node. */
	readonly host: string;
	readonly port: number;
	readonly username: string;
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
const ordinary = 'troupe-tests';

type User = {readonly name: string; readonly uid: number; readonly gid: number};

function userOf(): User {
	const own = userInfo();
	if (own.uid !== 0) return {name: own.username, uid: own.uid, gid: own.gid};
	const id = (flag: string): number => Number(execFileSync('id', [flag, ordinary], {encoding: 'utf8'}));
	return {name: ordinary, uid: id('-u'), gid: id('-g')};
}

export async function openSlurm(t: Owner): Promise<SlurmCluster> {
	const user = userOf();
	const dir = folder(t, 'slurm');
	chmodSync(dir, 0o755);
	const home = path.join(dir, 'home');
	for (const name of ['home', 'state', 'spool', 'log']) {
		mkdirSync(path.join(dir, name));
		chownSync(path.join(dir, name), user.uid, user.gid);
	}
	const ports = {control: await freePort(), one: await freePort(), two: await freePort(), ssh: await freePort()};
	const conf = path.join(dir, 'slurm.conf');
	writeFileSync(conf, slurmConf(dir, user, ports));
	const env = {...process.env, SLURM_CONF: conf};
	const daemon = starter(t, dir, env);
	const asUser = ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'];
	const own = user.uid === process.getuid?.() ? [] : asUser;
	daemon('slurmctld', own, ['slurmctld', '-D']);
	daemon('one', own, ['slurmd', '-D', '-N', 'n1']);
	daemon('two', own, ['slurmd', '-D', '-N', 'n2']);
	const slurm = async (command: string, ...args: readonly string[]): Promise<string> =>
		(await run('setpriv', [...own, ...(own.length === 0 ? ['--pdeathsig', 'KILL'] : []), '--', command, ...args], {env, timeout: 20_000}))
			.stdout;
	const login = loginNode(dir, {user, home, port: ports.ssh, conf}, daemon);
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

type Start = (name: string, privileges: readonly string[], command: readonly string[]) => ChildProcess;

/** Each ends with this process, and at the end of its owner. */
function starter(t: Owner, dir: string, env: NodeJS.ProcessEnv): Start {
	return (name, privileges, command) => {
		const out = path.join(dir, `${name}.out`);
		writeFileSync(out, '');
		const child = spawn('setpriv', [...privileges, '--pdeathsig', 'KILL', '--', ...command], {env, stdio: 'ignore'});
		t.teardown(() => ended(child));
		return child;
	};
}

async function ended(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const over = new Promise(resolve => child.once('exit', resolve));
	child.kill('SIGTERM');
	const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
	await over;
	clearTimeout(timer);
}

type LoginOptions = {readonly user: User; readonly home: string; readonly port: number; readonly conf: string};

function loginNode(dir: string, {user, home, port, conf}: LoginOptions, daemon: Start) {
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
			'UsePAM yes',
			'PasswordAuthentication yes',
			'KbdInteractiveAuthentication no',
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
		child = daemon('sshd', [], ['/usr/sbin/sshd', '-D', '-E', log, '-f', sshd]);
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
