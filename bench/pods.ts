// A hundred pods of one ReplicaSet started and deleted, in turn with a hundred bare programs and a hundred under pm2.
//
// A pod is three processes: the program, the shell over it that outlives the agent, and what keeps their namespaces. The bare floor is taken both ways.

import {openBeacon} from './rigs/programs/beacon.js';
import {plain, startBare, underShim, type Command} from './rigs/programs/bare.js';
import type {Benchmark} from './harness/benchmark.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {heardLater, within} from './harness/deadline.js';
import {createReplicaSet, scale, watchPods} from './rigs/cluster/objects.js';
import {pause} from './harness/pause.js';
import {openPm2} from './rigs/programs/pm2.js';
import {ratios, type Row} from './harness/table.js';

const count = 100;
const set = 'hundred';
const defaultRounds = 5;
const roundMs = 60_000;
/** What one side left behind is over before the next begins. */
const betweenMs = 400;

/** Times of one side, one value a round. */
type Times = {readonly started: number[]; readonly alive: number[]; readonly deleted: number[]};
const noTimes = (): Times => ({started: [], alive: [], deleted: []});

function forget({started, alive, deleted}: Times): void {
	for (const values of [started, alive, deleted]) values.length = 0;
}

export const podsBenchmark: Benchmark = {
	name: 'pods',
	about: `${count} pods started and deleted`,
	async run({rounds = defaultRounds, nodeFlags}, scope) {
		const beacon = openBeacon(scope);
		const words = beacon.words('one');
		const pm2 = await openPm2(scope);
		const {client} = await startCluster(scope, temporaryHome(scope), {nodeFlags});
		await createReplicaSet(client, set, words);
		const watch = await watchPods(client, `set=${set}`);
		scope.defer(watch.close);
		const bare = noTimes();
		const shelled = noTimes();
		const peer = noTimes();
		const ours = noTimes();
		const arrivals = () => within(roundMs, `${count} programs`, beacon.count(count));

		const whenPods: typeof watch.until = holds => heardLater(watch.until(holds));

		const bareRound = async (times: Times, program: Command): Promise<void> => {
			const all = arrivals();
			const startedAt = performance.now();
			const end = startBare(scope, program, count);
			await all;
			times.started.push(performance.now() - startedAt);
			await pause(betweenMs);
			times.deleted.push(await timed(end));
			await pause(betweenMs);
		};
		const podsRound = async (): Promise<void> => {
			const all = arrivals();
			await scale(client, set, count);
			const startedAt = performance.now();
			const running = whenPods(pods => pods.size === count && [...pods.values()].every(({status}) => status?.phase === 'Running'));
			await all;
			ours.alive.push(performance.now() - startedAt);
			await within(roundMs, `${count} pods Running`, running);
			ours.started.push(performance.now() - startedAt);
			await pause(betweenMs);
			await scale(client, set, 0);
			const gone = whenPods(pods => pods.size === 0);
			ours.deleted.push(await timed(() => within(roundMs, `${count} pods gone`, gone)));
			await pause(betweenMs);
		};
		const peerRound = async (): Promise<void> => {
			if (!pm2.ok) return;
			const all = arrivals();
			const startedAt = performance.now();
			await Promise.all([pm2.start('one', words, count), all]);
			peer.started.push(performance.now() - startedAt);
			await pause(betweenMs);
			peer.deleted.push(await timed(pm2.deleteAll));
			await pause(betweenMs);
		};
		// The first round warms everybody up and does not count.
		for (let round = 0; round <= rounds; round++) {
			await bareRound(bare, plain(words));
			await podsRound();
			await bareRound(shelled, underShim(words));
			await peerRound();
			if (round === 0) for (const times of [bare, ours, shelled, peer]) forget(times);
		}
		const note = pm2.ok ? {} : {note: pm2.why};
		return [
			...rowsOf('start', ours.started, bare.started, shelled.started, peer.started, note, floorGoal),
			{what: 'start: pods, until their programs live', values: ours.alive, unit: 'ms'},
			...rowsOf('delete', ours.deleted, bare.deleted, shelled.deleted, peer.deleted, note, {}),
			{what: 'both: pods / bare', values: ratios(sums(ours), sums(bare)), unit: 'x', ...floorGoal},
			{what: 'both: pods / pm2', values: ratios(sums(ours), sums(peer)), unit: 'x', ...peerGoal},
		];
	},
};

const floorGoal = {goal: {atMost: 1.8}} as const;
const peerGoal = {goal: {atMost: 1}} as const;

const sums = ({started, deleted}: Times): readonly number[] => started.map((value, round) => value + (deleted[round] ?? Number.NaN));

async function timed(work: () => Promise<unknown>): Promise<number> {
	const startedAt = performance.now();
	await work();
	return performance.now() - startedAt;
}

const rowsOf = (
	step: string,
	ours: readonly number[],
	bare: readonly number[],
	shelled: readonly number[],
	peer: readonly number[],
	note: {readonly note?: string},
	goal: Pick<Row, 'goal'>,
): readonly Row[] => [
	{what: `${step}: pods`, values: ours, unit: 'ms'},
	{what: `${step}: bare`, values: bare, unit: 'ms'},
	{what: `${step}: bare under the shell of a pod`, values: shelled, unit: 'ms'},
	{what: `${step}: pm2`, values: peer, unit: 'ms', ...note},
	{what: `${step}: pods / bare`, values: ratios(ours, bare), unit: 'x', ...goal},
	{what: `${step}: pods / bare under the shell`, values: ratios(ours, shelled), unit: 'x'},
	{what: `${step}: pods / pm2`, values: ratios(ours, peer), unit: 'x', ...peerGoal},
];
