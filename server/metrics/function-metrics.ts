// Figures of each function: its instances, its calls and how they ended, what is delivered to it. The first `limits.metricsFunctions` have series of their
// own for as long as they are there; all others are told as one.
//
// What is counted of a function is added up here by what came since the last scrape: so a sum over functions that come and go never falls.

import type {CallCounts, DeliveryCounts} from '../../api/function-figures.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import {counter, gauge, type Labels, type Metric, type Sample} from '../../api/metrics.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

/** What counts calls and deliveries of functions. */
export type FunctionCounts = {
	readonly callsOf: (fn: FunctionObject) => CallCounts;
	readonly deliveriesOf: (fn: {readonly namespace: string; readonly name: string}) => readonly DeliveryCounts[];
};

/** No namespace and no function is called so. */
const otherLabels: Labels = {namespace: '_other', function: '_other'};

const counted = [
	'answered',
	'failed',
	'coldStarts',
	'placeMs',
	'startMs',
	'readyMs',
	'slotMs',
	'accepted',
	'delivered',
	'retried',
	'givenUp',
] as const;
const now = ['desired', 'ready', 'calls', 'held', 'waiting'] as const;

type Counted = Record<(typeof counted)[number], number>;
type Now = Record<(typeof now)[number], number>;

/** One series, or what is told as one. */
type Told = {readonly labels: Labels; readonly sums: Counted};

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
	Object.fromEntries(names.map(name => [name, 0])) as Record<Name, number>;

export type FunctionMetrics = (index: ObjectIndex, counts: FunctionCounts) => readonly Metric[];

export function createFunctionMetrics(): FunctionMetrics {
	/** By uid. */
	const own = new Map<string, Told>();
	const others: Told = {labels: otherLabels, sums: zeros(counted)};
	/** What was counted at the last scrape, by uid. */
	let last = new Map<string, Counted>();
	return (index, counts) => {
		const functions = [...index.list('functions')] as FunctionObject[];
		const there = new Set(functions.map(({metadata}) => metadata.uid));
		for (const uid of own.keys()) if (!there.has(uid)) own.delete(uid);
		const figures = new Map<Told, Now>();
		const next = new Map<string, Counted>();
		for (const fn of functions) {
			const {uid, namespace = '', name} = fn.metadata;
			const told =
				own.get(uid) ?? (own.size < limits.metricsFunctions ? {labels: {namespace, function: name}, sums: zeros(counted)} : others);
			if (told !== others) own.set(uid, told);
			const {now: ofNow, sums} = figuresOf(fn, counts);
			next.set(uid, sums);
			const before = last.get(uid);
			// Counters that were forgotten begin anew.
			for (const each of counted) told.sums[each] += sums[each] - Math.min(before?.[each] ?? 0, sums[each]);
			const sum = figures.get(told) ?? zeros(now);
			for (const each of now) sum[each] += ofNow[each];
			figures.set(told, sum);
		}
		last = next;
		return metricsOf([...figures].map(([told, ofNow]) => ({...told, now: ofNow})));
	};
}

function figuresOf(fn: FunctionObject, {callsOf, deliveriesOf}: FunctionCounts): {readonly now: Now; readonly sums: Counted} {
	const {namespace = '', name} = fn.metadata;
	const {desired = 0, ready = 0} = fn.status ?? {};
	const {calls, held, answered, failed, coldStarts, coldPhases} = callsOf(fn);
	const deliveries = deliveriesOf({namespace, name});
	const sum = (of: (each: DeliveryCounts) => number): number => deliveries.reduce((total, each) => total + of(each), 0);
	return {
		now: {desired, ready, calls, held, waiting: sum(({waiting}) => waiting)},
		sums: {
			answered,
			failed,
			coldStarts,
			...coldPhases,
			accepted: sum(({accepted}) => accepted),
			delivered: sum(({delivered}) => delivered),
			retried: sum(({retried}) => retried),
			givenUp: sum(({failed: givenUp}) => givenUp),
		},
	};
}

type Row = Told & {readonly now: Now};

function metricsOf(rows: readonly Row[]): readonly Metric[] {
	const each = (parts: readonly {readonly more?: Labels; readonly of: (row: Row) => number}[]): readonly Sample[] =>
		rows.flatMap(row => parts.map(({more = {}, of}) => ({labels: {...row.labels, ...more}, value: of(row)})));
	return [
		gauge(
			'troupe_function_instances',
			'Instances of the function: those that its calls need, and those that take calls.',
			each([
				{more: {state: 'desired'}, of: row => row.now.desired},
				{more: {state: 'ready'}, of: row => row.now.ready},
			]),
		),
		gauge(
			'troupe_function_calls_in_flight',
			'Calls of the function that wait for an instance, or are under way at one.',
			each([
				{more: {state: 'waiting'}, of: row => row.now.held},
				{more: {state: 'running'}, of: row => row.now.calls},
			]),
		),
		counter(
			'troupe_function_calls_total',
			'Calls of the function that have ended.',
			each([
				{more: {outcome: 'answered'}, of: row => row.sums.answered},
				{more: {outcome: 'failed'}, of: row => row.sums.failed},
			]),
		),
		counter(
			'troupe_function_cold_starts_total',
			'Calls that found no ready instance and were given one.',
			each([{of: row => row.sums.coldStarts}]),
		),
		counter(
			'troupe_function_cold_start_seconds_total',
			'What those calls waited, by how far their instance was.',
			each(
				(['place', 'start', 'ready', 'slot'] as const).map(phase => ({more: {phase}, of: (row: Row) => row.sums[`${phase}Ms`] / 1_000})),
			),
		),
		gauge(
			'troupe_function_deliveries_waiting',
			'Deliveries to the function that wait or are under way.',
			each([{of: row => row.now.waiting}]),
		),
		counter(
			'troupe_function_deliveries_total',
			'What triggers and clients have handed in for the function, tries after the first, and how it ended.',
			each([
				{more: {outcome: 'accepted'}, of: row => row.sums.accepted},
				{more: {outcome: 'delivered'}, of: row => row.sums.delivered},
				{more: {outcome: 'retried'}, of: row => row.sums.retried},
				{more: {outcome: 'given_up'}, of: row => row.sums.givenUp},
			]),
		),
	];
}
