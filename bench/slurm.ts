// SlurmJobs over SSH to a real Slurm on this machine: what one costs of programs that are run at the login node, and how long it takes beside what it
// runs.

import type {SlurmJob} from '../api/kinds/slurmjob.js';
import {isSlurmEnd} from '../api/slurm-phase.js';
import type {Benchmark} from './harness/benchmark.js';
import type {Scope} from './harness/scope.js';
import type {Row} from './harness/table.js';
import {openHome} from './rigs/cluster/home.js';
import {followObjects} from './rigs/cluster/waiting.js';
import {openSlurm} from './rigs/slurm/slurm-cluster.js';

const defaultRounds = 10;
const together = 20;

export const slurmBenchmark: Benchmark = {
	name: 'slurm',
	about: 'SlurmJobs that compile one file and run it, by a real sshd on loopback',
	run: ({rounds = defaultRounds}, scope) => rows(scope, rounds),
};

async function rows(scope: Scope, rounds: number): Promise<readonly Row[]> {
	const owner = {teardown: scope.defer};
	const slurm = await openSlurm(owner);
	const home = openHome(owner);
	await home.up();
	await home.fine('config', 'set', 'slurm.hosts', slurm.host);
	await home.apply({
		apiVersion: 'v1',
		kind: 'Secret',
		metadata: {name: 'login'},
		stringData: {'ssh-privatekey': slurm.privateKey, username: slurm.username, known_hosts: slurm.knownHosts},
	});
	const following = await followObjects(await home.client(), 'slurmjobs');
	scope.defer(following.close);
	const jobOf = (name: string) => ({
		apiVersion: 'troupe.dev/v1',
		kind: 'SlurmJob',
		metadata: {name},
		spec: {submitHost: slurm.host, secretName: 'login', compileCommands: ['echo "echo done" > program'], runCommands: ['sh program']},
	});
	const over = (names: readonly string[]): Promise<true> =>
		following.until('the jobs are over', objects => {
			const jobs = ([...objects.values()] as SlurmJob[]).filter(({metadata}) => names.includes(metadata.name));
			const wrong = jobs.find(({status}) => status?.phase === 'Failed');
			if (wrong !== undefined) throw new Error(JSON.stringify(wrong.status));
			return jobs.length === names.length && jobs.every(({status}) => isSlurmEnd(status?.phase ?? 'Pending')) && true;
		});
	const programs: number[] = [];
	const seconds: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const before = slurm.programs();
		const fromMs = performance.now();
		await home.apply(jobOf(`alone-${round}`));
		await over([`alone-${round}`]);
		seconds.push((performance.now() - fromMs) / 1_000);
		programs.push(slurm.programs() - before);
	}
	const before = slurm.programs();
	const fromMs = performance.now();
	const names = Array.from({length: together}, (_, at) => `together-${at}`);
	await home.apply(...names.map(jobOf));
	await over(names);
	const allSeconds = (performance.now() - fromMs) / 1_000;
	return [
		{what: 'programs run at the login node, one job', values: programs, unit: 'round trips', goal: {atMost: 6}},
		{
			what: `the same, ${together} jobs at once, each`,
			values: [(slurm.programs() - before) / together],
			unit: 'round trips',
			goal: {atMost: 6},
		},
		{what: 'from apply to its end, one job', values: seconds, unit: 's'},
		{what: `from apply to the last end, ${together} jobs at once`, values: [allSeconds], unit: 's'},
	];
}
