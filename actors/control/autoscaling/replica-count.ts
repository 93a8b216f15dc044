// How many replicas a metric asks for. The algorithm is the one that Kubernetes documents ("Horizontal Pod Autoscaling", algorithm details): what is
// measured over what is wanted, times the pods that are measured, unless it is near enough; what is not known counts so that less is changed. Pure.

/** A pod as the formula sees it. Amounts are of one resource, in one unit: thousandths of a CPU, or bytes. */
export type PodFigure =
	| {readonly standing: 'measured'; readonly used: number; readonly requested: number | undefined}
	/** It is not ready, or has begun too lately for its processor time to say anything. */
	| {readonly standing: 'unready'; readonly requested: number | undefined}
	/** It runs, and nothing is known of it. */
	| {readonly standing: 'missing'; readonly requested: number | undefined};

/** What is wanted of each pod, on average: a part of its request in percent, or an amount. */
export type PodTarget = {readonly type: 'utilization'; readonly percent: number} | {readonly type: 'average'; readonly amount: number};

/** How far what is measured may be from what is wanted, as a part of that, before anything is changed. */
export type Tolerance = {readonly up: number; readonly down: number};

export const defaultTolerance: Tolerance = {up: 0.1, down: 0.1};

export type Count = {
	readonly replicas: number;
	/** Of the measured pods, on average. */
	readonly averageUsed: number;
	/** The same in percent of what they request; undefined where an amount is wanted. */
	readonly utilization: number | undefined;
};

export type Counted = ({readonly ok: true} & Count) | {readonly ok: false; readonly why: 'noPods' | 'noMetrics' | 'noRequests'};

/** The replicas that a metric of pods asks for, where there are `current`. */
export function replicasForPods(current: number, pods: readonly PodFigure[], target: PodTarget, tolerance = defaultTolerance): Counted {
	if (pods.length === 0) return {ok: false, why: 'noPods'};
	const measured = pods.flatMap(pod => (pod.standing === 'measured' ? [pod] : []));
	if (measured.length === 0) return {ok: false, why: 'noMetrics'};
	if (target.type === 'utilization' && pods.some(({requested}) => requested === undefined)) return {ok: false, why: 'noRequests'};
	const {ratio, averageUsed, utilization} = shareOf(measured, target);
	const missing = pods.filter(({standing}) => standing === 'missing');
	const unready = ratio > 1 ? pods.filter(({standing}) => standing === 'unready') : [];
	const counted = {ok: true, averageUsed, utilization} as const;
	if (missing.length === 0 && unready.length === 0)
		return {...counted, replicas: isNear(ratio, tolerance) ? current : roundUp(ratio * measured.length)};
	const all = [...measured, ...assumed(missing, ratio, target), ...unready.map(pod => ({...pod, used: 0}))];
	return {...counted, replicas: cautious(current, ratio, shareOf(all, target).ratio, all.length, tolerance)};
}

type Used = {readonly used: number; readonly requested: number | undefined};

/** What is measured over what is wanted. Averages and percentages are whole numbers, rounded down, as Kubernetes has them. */
function shareOf(pods: readonly Used[], target: PodTarget): Omit<Count, 'replicas'> & {readonly ratio: number} {
	const used = pods.reduce((sum, pod) => sum + pod.used, 0);
	const averageUsed = Math.floor(used / pods.length);
	if (target.type === 'average') return {ratio: averageUsed / target.amount, averageUsed, utilization: undefined};
	const requested = pods.reduce((sum, pod) => sum + (pod.requested ?? 0), 0);
	const utilization = requested === 0 ? 0 : Math.floor((used * 100) / requested);
	return {ratio: utilization / target.percent, averageUsed, utilization};
}

/** Where fewer pods would be enough, a pod of which nothing is known counts as busy; where more are needed, as idle. */
function assumed(pods: readonly PodFigure[], ratio: number, target: PodTarget): readonly Used[] {
	if (ratio === 1) return [];
	return pods.map(({requested}) => ({requested, used: ratio > 1 ? 0 : busy(requested ?? 0, target)}));
}

const busy = (requested: number, target: PodTarget): number =>
	target.type === 'average' ? target.amount : Math.floor((requested * Math.max(100, target.percent)) / 100);

/** With pods that were assumed: nothing where they turn the direction, and never against it. */
function cautious(current: number, before: number, ratio: number, pods: number, tolerance: Tolerance): number {
	if (isNear(ratio, tolerance) || (before < 1 && ratio > 1) || (before > 1 && ratio < 1)) return current;
	const replicas = roundUp(ratio * pods);
	return (ratio < 1 && replicas > current) || (ratio > 1 && replicas < current) ? current : replicas;
}

/** But not for the last bits of a binary fraction: 0.07 * 100 is 7. */
const roundUp = (replicas: number): number => Math.max(0, Math.ceil(replicas - 1e-9));

const isNear = (ratio: number, {up, down}: Tolerance): boolean => ratio >= 1 - down && ratio <= 1 + up;

/**
 * The replicas that one value asks for which all pods share, such as the length of a queue: by `value` so many times the ready pods as it is too large,
 * by `average` enough for each to have no more than that. Where none of those that there are is ready, it does not say how much is too much for them:
 * then there are no more than now.
 */
export function replicasForTotal(
	current: number,
	ready: number,
	total: number,
	target: {readonly type: 'value' | 'average'; readonly amount: number},
	tolerance = defaultTolerance,
): number {
	const ratio = total / (target.type === 'value' ? target.amount : target.amount * Math.max(current, 1));
	if (current > 0 && isNear(ratio, tolerance)) return current;
	if (target.type === 'average') return roundUp(total / target.amount);
	if (current === 0) return roundUp(ratio);
	return ready > 0 ? roundUp(ratio * ready) : Math.min(current, roundUp(ratio * current));
}
