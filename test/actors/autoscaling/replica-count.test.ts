// The formula of autoscalers: cases of the published algorithm, and of what it says of pods of which nothing is known.

import test from 'ava';
import {
	replicasForPods,
	replicasForTotal,
	type PodFigure,
	type PodTarget,
	type Tolerance,
} from '../../../actors/control/autoscaling/replica-count.js';

/** A pod that uses so much of a request of 1000; `u` is one that is not ready, `m` one of which nothing is known. */
type Word = number | 'u' | 'm';

const figureOf = (word: Word, requested: number | undefined = 1_000): PodFigure => {
	if (word === 'u') return {standing: 'unready', requested};
	return word === 'm' ? {standing: 'missing', requested} : {standing: 'measured', used: word, requested};
};

const percent = (value: number): PodTarget => ({type: 'utilization', percent: value});
const average = (amount: number): PodTarget => ({type: 'average', amount});

type Case = readonly [title: string, current: number, pods: readonly Word[], target: PodTarget, replicas: number, tolerance?: Tolerance];

const cases: readonly Case[] = [
	['more where all are busier than wanted', 3, [300, 500, 700], percent(30), 5],
	['less more where one is not ready yet: it counts as idle', 3, ['u', 500, 700], percent(30), 4],
	['no more where those that are not ready would be enough', 3, [400, 'u', 'u'], percent(30), 3],
	['fewer where all are idler than wanted', 5, [100, 300, 500, 250, 250], percent(50), 3],
	['fewer by those that are ready alone', 5, [100, 300, 500, 'u', 'u'], percent(50), 2],
	['nothing within a tenth above', 3, [1_090, 1_100, 1_110], percent(100), 3],
	['nothing within a tenth below', 4, [900, 900, 900, 900], percent(100), 4],
	['something just beyond it', 3, [1_110, 1_110, 1_110], percent(100), 4],
	['nothing within a tolerance of its own', 3, [1_400, 1_400, 1_400], percent(100), 3, {up: 0.5, down: 0}],
	['something beyond one of 0', 4, [990, 990, 700, 990], percent(100), 4, {up: 0, down: 0}],
	['fewer where unknown ones count as busy', 4, [400, 95, 'm', 'm'], percent(100), 3],
	['nothing where the known ones are as wanted, whatever the others do', 2, [1_000, 'm'], percent(100), 2],
	['nothing where unknown ones, idle, bring it near', 2, [1_900, 'm'], percent(100), 2],
	['nothing where unknown ones, busy, leave less than a pod', 2, [600, 'm'], percent(100), 2],
	['nothing where unknown ones, busy, turn the direction', 3, ['u', 450, 'm'], percent(50), 3],
	['more although some are unknown and not ready', 3, ['u', 2_000, 'm'], percent(50), 4],
	['unknown ones count as busy as wanted where that is above their request', 3, [500, 'm', 'm'], percent(200), 3],
	['by an amount for each', 3, [30_000, 50_000, 70_000], average(30_000), 5],
	['by an amount for each, with one that is not ready', 3, ['u', 50_000, 70_000], average(30_000), 4],
	['fewer by an amount for each, where unknown ones have as much as wanted', 4, [10, 10, 'm', 'm'], average(100), 3],
	['a whole number of pods, where binary fractions are a little above it', 100, Array.from({length: 100}, () => 70), percent(100), 7],
	['no pod for what uses nothing', 3, [0, 0, 0], percent(50), 0],
];

for (const [title, current, pods, target, replicas, tolerance] of cases)
	test(`the formula asks for ${title}`, t => {
		const counted = replicasForPods(
			current,
			pods.map(word => figureOf(word)),
			target,
			tolerance,
		);
		t.is(counted.ok ? counted.replicas : undefined, replicas);
	});

test('what is told as measured is of the pods that are', t => {
	const told = replicasForPods(
		3,
		['u', 500, 700].map(word => figureOf(word as Word)),
		percent(30),
	);
	t.like(told, {utilization: 60, averageUsed: 600});
	t.like(replicasForPods(2, [figureOf(10), figureOf(15)], average(20)), {averageUsed: 12, utilization: undefined});
});

test('it says why it knows nothing', t => {
	t.deepEqual(replicasForPods(1, [], percent(50)), {ok: false, why: 'noPods'});
	t.deepEqual(replicasForPods(2, [figureOf('u'), figureOf('m')], percent(50)), {ok: false, why: 'noMetrics'});
	const bare: PodFigure = {standing: 'measured', used: 5, requested: undefined};
	t.deepEqual(replicasForPods(1, [bare], percent(50)), {ok: false, why: 'noRequests'});
	t.like(replicasForPods(1, [bare], average(1)), {ok: true, replicas: 5});
});

type Total = readonly [current: number, ready: number, total: number, type: 'value' | 'average', amount: number, replicas: number];

const totals: readonly Total[] = [
	[4, 3, 8_600, 'value', 4_400, 6],
	[3, 3, 1_010, 'value', 1_000, 3],
	[0, 0, 3_000, 'value', 1_000, 3],
	[3, 3, 8_600, 'average', 2_867, 3],
	[5, 5, 8_600, 'average', 2_867, 3],
	[0, 0, 5, 'average', 2, 3],
	[1, 1, 0, 'average', 2, 0],
	// As in Kubernetes' published table: scaling up and down by an object's value, of ready pods alone, within a tenth, from none.
	[3, 3, 20_000, 'value', 15_000, 4],
	[3, 3, 20_000, 'value', 10_000, 6],
	[3, 1, 20_000, 'value', 10_000, 2],
	[5, 5, 12_000, 'value', 20_000, 3],
	[5, 2, 12_000, 'value', 20_000, 2],
	[3, 3, 26_000, 'average', 10_000, 3],
	[5, 5, 8_600, 'value', 14_334, 3],
	[3, 3, 8_600, 'average', 2_500, 4],
	[0, 0, 0, 'value', 10, 0],
	[0, 0, 0, 'average', 10, 0],
	[0, 0, 0.1, 'average', 10, 1],
	[1, 1, 11, 'average', 10, 1],
	[1, 1, 12, 'average', 10, 2],
	// Where none is ready: not more than there are, and fewer where less is to be done.
	[3, 0, 90, 'value', 10, 3],
	[3, 0, 5, 'value', 10, 2],
	[3, 0, 0, 'value', 10, 0],
];

for (const [current, ready, total, type, amount, replicas] of totals)
	test(`a value of ${total} for all, ${type} ${amount} wanted, makes ${current} replicas, ${ready} of them ready, ${replicas}`, t =>
		t.is(replicasForTotal(current, ready, total, {type, amount}), replicas));
