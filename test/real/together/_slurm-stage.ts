// A cluster beside a real Slurm: a Secret with the key or the password of its login, and SlurmJobs that are made and waited for.

import type {SlurmJob, SlurmJobSpec} from '../../../api/kinds/slurmjob.js';
import {isSlurmEnd, type SlurmPhase} from '../../../api/slurm-phase.js';
import {openHome, type Home} from '../../../bench/rigs/cluster/home.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openSlurm, type SlurmCluster, type SlurmOptions} from '../../../bench/rigs/slurm/slurm-cluster.js';
import type {Owner} from '../../../bench/rigs/owner.js';
import type {Client} from '../../../cli/client.js';

export type SlurmStage = {
	readonly slurm: SlurmCluster;
	readonly home: Home;
	readonly spec: (more: Partial<SlurmJobSpec> & Pick<SlurmJobSpec, 'runCommands'>) => SlurmJobSpec;
	readonly submit: (name: string, spec: SlurmJobSpec) => Promise<void>;
	readonly read: (name: string) => Promise<SlurmJob | undefined>;
	/** Waits until it is in one of these phases. */
	readonly inPhase: (name: string, ...phases: readonly SlurmPhase[]) => Promise<SlurmJob>;
	readonly over: (name: string) => Promise<SlurmJob>;
	/** Of a cluster that was started again. */
	readonly connect: () => Promise<void>;
};

export async function openSlurmStage(t: Owner, options: SlurmOptions = {}): Promise<SlurmStage> {
	const slurm = await openSlurm(t, options);
	const home = openHome(t);
	await home.up();
	let client: Client = await home.client();
	await home.fine('config', 'set', 'slurm.hosts', slurm.host);
	await home.apply({
		apiVersion: 'v1',
		kind: 'Secret',
		metadata: {name: 'login'},
		stringData: {
			...(slurm.password === undefined ? {'ssh-privatekey': slurm.privateKey} : {password: slurm.password}),
			username: slurm.username,
			known_hosts: slurm.knownHosts,
		},
	});
	const read = async (name: string): Promise<SlurmJob | undefined> =>
		(await client.json({path: `/apis/troupe.dev/v1/namespaces/default/slurmjobs/${name}`}).catch(() => undefined)) as SlurmJob | undefined;
	const when = async (name: string, what: string, holds: (phase: SlurmPhase) => boolean): Promise<SlurmJob> => {
		let last: SlurmJob | undefined;
		await eventually(
			`${name} is ${what}`,
			async () => {
				last = await read(name);
				return last?.status?.phase !== undefined && holds(last.status.phase);
			},
			() => JSON.stringify(last?.status),
			90_000,
		);
		if (last === undefined) throw new Error(`${name} is gone`);
		return last;
	};
	return {
		slurm,
		home,
		spec: more => ({submitHost: slurm.host, secretName: 'login', ...more}),
		submit: (name, spec) => home.apply({apiVersion: 'troupe.dev/v1', kind: 'SlurmJob', metadata: {name}, spec}),
		read,
		inPhase: (name, ...phases) => when(name, phases.join(' or '), phase => phases.includes(phase)),
		over: name => when(name, 'over', isSlurmEnd),
		async connect() {
			client = await home.client();
		},
	};
}
