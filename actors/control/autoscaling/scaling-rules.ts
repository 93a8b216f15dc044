// How fast the number of replicas may change: the behaviour of autoscaling/v2. What metrics ask for is held against the recommendations of a window
// first, then against what policies allow, then against the bounds. The algorithm is the one that Kubernetes documents ("Configurable scaling
// behavior"). Pure; times are of a clock that is never set.

import {stepIntervalOf, type HpaSpec} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {Labels} from '../../../api/object.js';
import {quantityValue} from '../../../api/quantity.js';
import {defaultTolerance, type Tolerance} from './replica-count.js';

type Given = NonNullable<NonNullable<HpaSpec['behavior']>['scaleUp']>;
type Policy = NonNullable<Given['policies']>[number];

export type Rules = {readonly windowMs: number; readonly select: 'Max' | 'Min' | 'Disabled'; readonly policies: readonly Policy[]};
/** `stepMs`: one pod more or less at most in so long, as the older dialects have it; undefined: as the rules say. */
export type Behaviour = {readonly up: Rules; readonly down: Rules; readonly tolerance: Tolerance; readonly stepMs: number | undefined};

/** As in Kubernetes: up at once, by four pods or as many as there are in 15 s; down to what was needed at any moment of 5 minutes. */
const defaultUp: Rules = {
	windowMs: 0,
	select: 'Max',
	policies: [
		{type: 'Percent', value: 100, periodSeconds: 15},
		{type: 'Pods', value: 4, periodSeconds: 15},
	],
};
const defaultDown: Rules = {windowMs: 300_000, select: 'Max', policies: [{type: 'Percent', value: 100, periodSeconds: 15}]};

/** What the spec says, with Kubernetes' defaults for the rest. */
export const behaviourOf = (
	{behavior: {scaleUp = {}, scaleDown = {}} = {}}: Pick<HpaSpec, 'behavior'>,
	annotations?: Labels,
): Behaviour => ({
	up: withDefaults(scaleUp, defaultUp),
	down: withDefaults(scaleDown, defaultDown),
	stepMs: stepIntervalOf(annotations),
	tolerance: {
		up: quantityValue(scaleUp.tolerance ?? defaultTolerance.up) ?? defaultTolerance.up,
		down: quantityValue(scaleDown.tolerance ?? defaultTolerance.down) ?? defaultTolerance.down,
	},
});

const withDefaults = ({stabilizationWindowSeconds, selectPolicy, policies}: Given, defaults: Rules): Rules => ({
	windowMs: stabilizationWindowSeconds === undefined ? defaults.windowMs : stabilizationWindowSeconds * 1_000,
	select: selectPolicy ?? defaults.select,
	policies: policies === undefined || policies.length === 0 ? defaults.policies : policies,
});

type Recommendation = {readonly replicas: number; readonly atMs: number};
type Change = {readonly by: number; readonly atMs: number};

/** What is remembered from one decision to the next. */
export type History = {
	/** Oldest first, each higher than those after it: the first that is in a window is the highest there. */
	readonly highs: readonly Recommendation[];
	/** Oldest first, each lower than those after it. */
	readonly lows: readonly Recommendation[];
	/** What was changed, as long as a policy may ask: more is above 0. */
	readonly changes: readonly Change[];
};

/** Of one that nothing is remembered of: the replicas there are count as recommended now. */
export const historyFrom = (current: number, nowMs: number): History => ({
	highs: [{replicas: current, atMs: nowMs}],
	lows: [{replicas: current, atMs: nowMs}],
	changes: [],
});

export type Wanted = {
	readonly current: number;
	/** What the metrics ask for. */
	readonly recommended: number;
	readonly min: number;
	readonly max: number;
};

/** The reasons of Kubernetes. */
export type LimitReason = 'DesiredWithinRange' | 'ScaleUpLimit' | 'ScaleDownLimit' | 'TooManyReplicas' | 'TooFewReplicas';
export type WindowReason = 'ReadyForNewScale' | 'ScaleUpStabilized' | 'ScaleDownStabilized';

export type Allowed = {
	readonly desired: number;
	readonly history: History;
	readonly window: WindowReason;
	readonly limit: LimitReason;
};

/** What may be made of a recommendation now, and what is remembered of it. What is changed in the end is remembered by `withChange`. */
export function allowedNow({current, recommended, min, max}: Wanted, behaviour: Behaviour, before: History, nowMs: number): Allowed {
	const history = withRecommendation(before, {replicas: recommended, atMs: nowMs}, behaviour);
	const lowest = firstWithin(history.lows, nowMs - behaviour.up.windowMs)?.replicas ?? recommended;
	const highest = firstWithin(history.highs, nowMs - behaviour.down.windowMs)?.replicas ?? recommended;
	const stable = Math.min(Math.max(current, Math.min(lowest, recommended)), Math.max(highest, recommended));
	const window = stable === recommended ? 'ReadyForNewScale' : stable < recommended ? 'ScaleUpStabilized' : 'ScaleDownStabilized';
	return {...withinRates({current, recommended: stable, min, max}, behaviour, history, nowMs), history, window};
}

const firstWithin = (recommendations: readonly Recommendation[], sinceMs: number): Recommendation | undefined =>
	recommendations.find(({atMs}) => atMs > sinceMs);

function withRecommendation({highs, lows, changes}: History, newest: Recommendation, {up, down, stepMs = 0}: Behaviour): History {
	const {replicas, atMs} = newest;
	const periodMs = Math.max(stepMs, ...[...up.policies, ...down.policies].map(({periodSeconds}) => periodSeconds * 1_000));
	return {
		highs: [...highs.filter(each => each.replicas > replicas && each.atMs > atMs - down.windowMs), newest],
		lows: [...lows.filter(each => each.replicas < replicas && each.atMs > atMs - up.windowMs), newest],
		changes: changes.filter(each => each.atMs > atMs - periodMs),
	};
}

/** What is remembered once the replicas are other ones. */
export const withChange = (history: History, by: number, nowMs: number): History =>
	by === 0 ? history : {...history, changes: [...history.changes, {by, atMs: nowMs}]};

function withinRates({current, recommended, min, max}: Wanted, behaviour: Behaviour, history: History, nowMs: number) {
	const isUp = recommended > current;
	const isDown = recommended < current;
	if (isUp) {
		const most = Math.max(current, upLimit(current, behaviour, history, nowMs));
		if (recommended > Math.min(most, max))
			return {desired: Math.min(most, max), limit: most < max ? 'ScaleUpLimit' : 'TooManyReplicas'} as const;
	} else if (isDown) {
		const fewest = Math.min(current, downLimit(current, behaviour, history, nowMs));
		if (recommended < Math.max(fewest, min))
			return {desired: Math.max(fewest, min), limit: fewest > min ? 'ScaleDownLimit' : 'TooFewReplicas'} as const;
	}
	return {desired: recommended, limit: 'DesiredWithinRange'} as const;
}

/** Of a policy's period: so many there were at its beginning. */
function atBeginning(current: number, {periodSeconds}: Policy, {changes}: History, nowMs: number): number {
	return changes.reduce((count, {by, atMs}) => (atMs > nowMs - periodSeconds * 1_000 ? count - by : count), current);
}

/** The older dialects' rule: none as long as the last change is not that long ago. */
const stepNow = (stepMs: number, {changes}: History, nowMs: number): 0 | 1 => (changes.some(({atMs}) => atMs > nowMs - stepMs) ? 0 : 1);

function upLimit(current: number, {up: {select, policies}, stepMs}: Behaviour, history: History, nowMs: number): number {
	if (stepMs !== undefined) return current + stepNow(stepMs, history, nowMs);
	if (select === 'Disabled') return current;
	const proposed = policies.map(policy => {
		const start = atBeginning(current, policy, history, nowMs);
		// A part of none is none: it would stay so for ever.
		return policy.type === 'Pods' ? start + policy.value : Math.max(1, Math.ceil((start * (100 + policy.value)) / 100));
	});
	return select === 'Min' ? Math.min(...proposed) : Math.max(...proposed);
}

function downLimit(current: number, {down: {select, policies}, stepMs}: Behaviour, history: History, nowMs: number): number {
	if (stepMs !== undefined) return current - stepNow(stepMs, history, nowMs);
	if (select === 'Disabled') return current;
	const proposed = policies.map(policy => {
		const start = atBeginning(current, policy, history, nowMs);
		return policy.type === 'Pods' ? start - policy.value : Math.floor((start * (100 - policy.value)) / 100);
	});
	// The one that allows most leaves the fewest.
	return select === 'Min' ? Math.max(...proposed) : Math.min(...proposed);
}
