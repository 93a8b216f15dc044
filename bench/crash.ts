// From kill -9 of a program to its successor: a pod's, one that node respawns, one under pm2, in turn.
//
// Each is killed once: then none waits in a back-off. The successor says itself that it is there.

import {openBeacon, type Beacon} from './rigs/programs/beacon.js';
import {keepBare, plain, underShim} from './rigs/programs/bare.js';
import type {Benchmark} from './harness/benchmark.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {within} from './harness/deadline.js';
import {createPod} from './rigs/cluster/objects.js';
import {pause} from './harness/pause.js';
import {openPm2, type Pm2} from './rigs/programs/pm2.js';
import type {Scope} from './harness/scope.js';
import {ratios, type Row} from './harness/table.js';

const defaultRounds = 40;
/** What one left behind, such as a write to disk, is over before the next is killed. */
const betweenMs = 30;
const arrivalMs = 30_000;

export const crashBenchmark: Benchmark = {
	name: 'crash',
	about: 'kill -9 of a process until its successor runs',
	async run({rounds = defaultRounds, nodeFlags}, scope) {
		const beacon = openBeacon(scope);
		const pm2 = await openPm2(scope);
		const names = Array.from({length: rounds}, (_, round) => String(round));
		const pods = await startPods(scope, beacon, names, nodeFlags);
		const bare = await startAll(beacon, names, 'bare', name => Promise.resolve(keepBare(scope, plain(beacon.words(name)))));
		const shims = await startAll(beacon, names, 'shim', name => Promise.resolve(keepBare(scope, underShim(beacon.words(name)))));
		const peers = pm2.ok ? await startAll(beacon, names, 'pm2', name => pm2.start(name, beacon.words(name), 1)) : [];
		await pause(betweenMs);
		const ours: number[] = [];
		const floor: number[] = [];
		const shimmed: number[] = [];
		const theirs: number[] = [];
		for (let round = 0; round < rounds; round++) {
			ours.push(await respawn(beacon, pods[round]));
			floor.push(await respawn(beacon, bare[round]));
			shimmed.push(await respawn(beacon, shims[round]));
			if (pm2.ok) theirs.push(await respawn(beacon, peers[round]));
		}
		return rowsOf(ours, floor, shimmed, theirs, pm2);
	},
};

type Victim = {readonly name: string};

async function startPods(scope: Scope, beacon: Beacon, names: readonly string[], nodeFlags: readonly string[]): Promise<readonly Victim[]> {
	const {client} = await startCluster(scope, temporaryHome(scope), {nodeFlags});
	return startAll(beacon, names, 'pod', name => createPod(client, name, beacon.words(name)));
}

async function startAll(
	beacon: Beacon,
	names: readonly string[],
	prefix: string,
	start: (name: string) => Promise<unknown>,
): Promise<readonly Victim[]> {
	const victims: Victim[] = [];
	for (const each of names) {
		const name = `${prefix}-${each}`;
		const arrival = within(arrivalMs, `the start of ${name}`, beacon.next(name));
		await start(name);
		await arrival;
		victims.push({name});
	}
	return victims;
}

async function respawn(beacon: Beacon, victim: Victim | undefined): Promise<number> {
	if (victim === undefined) return Number.NaN;
	const {name} = victim;
	const pid = beacon.pidOf(name);
	const successor = within(arrivalMs, `the restart of ${name}`, beacon.next(name));
	const killedAt = performance.now();
	process.kill(pid, 'SIGKILL');
	const {atMs} = await successor;
	await pause(betweenMs);
	return atMs - killedAt;
}

const rowsOf = (
	ours: readonly number[],
	floor: readonly number[],
	shimmed: readonly number[],
	theirs: readonly number[],
	pm2: Pm2,
): readonly Row[] => [
	{what: 'pod', values: ours, unit: 'ms'},
	{what: 'bare respawn by node', values: floor, unit: 'ms'},
	{what: 'bare respawn under the shell of a pod', values: shimmed, unit: 'ms'},
	{what: 'pm2', values: theirs, unit: 'ms', ...(pm2.ok ? {} : {note: pm2.why})},
	{what: 'pod / bare', values: ratios(ours, floor), unit: 'x', goal: {atMost: 2}},
	{what: 'pod / bare under the shell', values: ratios(ours, shimmed), unit: 'x'},
	{what: 'pod / pm2', values: ratios(ours, theirs), unit: 'x', goal: {atMost: 1}},
];
