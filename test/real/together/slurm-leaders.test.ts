// SlurmJobs with real Slurm and two servers on one etcd (Debian: slurm-wlm, openssh-server, etcd-server), while the one that leads is killed, or sleeps past
// its lease and wakes: whoever leads then goes on, and there is one job in Slurm.

import {copyFileSync, mkdirSync, readFileSync} from 'node:fs';
import {get} from 'node:https';
import path from 'node:path';
import test from 'ava';
import {slurmPhaseOf, type SlurmJob} from '../../../api/kinds/slurmjob.js';
import {isSlurmEnd, slurmPhases, type SlurmPhase} from '../../../api/slurm-phase.js';
import {freePorts, openHome, type Home} from '../../../bench/rigs/cluster/home.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {startEtcd} from '../../../bench/rigs/servers/etcd.js';
import {pauseProcess} from '../../../bench/rigs/servers/server.js';
import {openSlurm} from '../../../bench/rigs/slurm/slurm-cluster.js';

type Fault = 'killed' | 'paused';

const rounds: readonly (readonly [SlurmPhase, Fault])[] = [
	['Uploading', 'killed'],
	['Compiling', 'killed'],
	['Compiling', 'paused'],
	['Submitting', 'killed'],
	['Submitting', 'paused'],
	['Queued', 'paused'],
	['Running', 'killed'],
	['Fetching', 'paused'],
];

const isAtLeast = (phase: SlurmPhase, wanted: SlurmPhase): boolean =>
	slurmPhases.indexOf(phase) >= slurmPhases.indexOf(wanted) || isSlurmEnd(phase);

/** What a server says of being ready: one that stands by is not. */
const readyOf = (home: Home): Promise<number | undefined> =>
	new Promise(resolve => {
		const asked = get(`${home.endpoints().api}/readyz`, {ca: readFileSync(path.join(home.home, 'ca.crt'))}, answer => {
			answer.resume();
			resolve(answer.statusCode);
		});
		asked.on('error', () => resolve(undefined));
	});

test('another server leads in the middle of a SlurmJob: there is one job in Slurm, and its results', async t => {
	t.timeout(400_000);
	const slurm = await openSlurm(t);
	const etcd = await startEtcd(t);
	const homes = [openHome(t), openHome(t)] as const;
	const serve = async (home: Home): Promise<number> => {
		await home.fine('server', '--detach', ...freePorts, `--store=${etcd.url}/slurm`);
		return home.endpoints().pid;
	};
	const keyOf = (home: Home): string => path.join(home.home, 'data', 'cluster.key');
	let [leader, standby] = homes;
	let leaderPid = await serve(leader);
	mkdirSync(path.dirname(keyOf(standby)), {recursive: true});
	copyFileSync(keyOf(leader), keyOf(standby));
	let standbyPid = await serve(standby);
	await leader.fine('config', 'set', 'slurm.hosts', slurm.host);
	await leader.apply({
		apiVersion: 'v1',
		kind: 'Secret',
		metadata: {name: 'login'},
		stringData: {'ssh-privatekey': slurm.privateKey, username: slurm.username, known_hosts: slurm.knownHosts},
	});
	const told: string[] = [];
	for (const [round, [wanted, fault]] of rounds.entries()) {
		const name = `round-${round}`;
		const ran = path.join(slurm.home, `${name}.ran`);
		const following = await followObjects(await leader.client(), 'slurmjobs');
		const seen = following.until(`${name} is ${wanted}`, objects => {
			const job = [...objects.values()].find(({metadata}) => metadata.name === name) as SlurmJob | undefined;
			return job !== undefined && isAtLeast(slurmPhaseOf(job), wanted) ? slurmPhaseOf(job) : undefined;
		});
		await leader.apply({
			apiVersion: 'troupe.dev/v1',
			kind: 'SlurmJob',
			metadata: {name},
			spec: {
				submitHost: slurm.host,
				secretName: 'login',
				compileCommands: [`echo compiled >> ${name}.txt`, 'sleep 0.5'],
				runCommands: [`echo ran >> ${ran}`, 'sleep 1', `cp ${name}.txt result.txt`, 'echo done'],
				resultFiles: ['result.txt'],
			},
		});
		const phase = await seen;
		if (fault === 'killed') process.kill(leaderPid, 'SIGKILL');
		else await pauseProcess(leaderPid);
		following.close();
		let job: SlurmJob | undefined;
		const look = async (holds: (job: SlurmJob) => boolean): Promise<boolean> => {
			const {code, out} = await standby.troupe('get', 'slurmjob', name, '-o', 'json');
			job = code === 0 ? (JSON.parse(out) as SlurmJob) : job;
			return code === 0 && holds(job as SlurmJob);
		};
		// The one that sleeps answers nobody; it wakes in the middle of what the next one does.
		await eventually('the other one leads', async () => (await readyOf(standby)) === 200, undefined, 30_000);
		if (fault === 'paused') process.kill(leaderPid, 'SIGCONT');
		else leaderPid = await serve(leader);
		await eventually(
			`${name} is over`,
			() => look(each => isSlurmEnd(slurmPhaseOf(each))),
			() => JSON.stringify(job?.status),
			60_000,
		);
		const what = `${fault} at ${phase}`;
		t.is(job?.status?.phase, 'Succeeded', `${what}: ${JSON.stringify(job?.status)}`);
		t.deepEqual(
			job?.status?.artifacts?.map(({name: file}) => file),
			['compile.log', 'slurm.out', 'result.txt'],
			what,
		);
		t.regex(await standby.fine('logs', `slurmjob/${name}`), /done\n$/);
		t.is(readFileSync(ran, 'utf8'), 'ran\n', what);
		t.is(await slurm.jobsNamed(`${name}.`), 1, what);
		told.push(what);
		[leader, standby] = [standby, leader];
		[leaderPid, standbyPid] = [standbyPid, leaderPid];
	}
	t.log(told.join(', '));
});
