// What an autoscaler makes of what was measured: how many replicas there should be, and what its status says of that. Pure. Conditions, their reasons
// and events are those of Kubernetes.

import {deepEqual} from '../../../api/equal.js';
import type {Hpa, HpaStatus} from '../../../api/kinds/horizontalpodautoscaler.js';
import {limits} from '../../../api/limits.js';
import type {MetricStatus} from '../../../api/metric-texts.js';
import {timestampOf, type Condition} from '../../../api/object.js';
import {conditionOf} from '../../../api/conditions.js';
import type {Known} from '../../../system/index/object-index.js';
import type {EventNews} from '../../../system/kernel/behavior.js';
import {withCondition} from '../objects/conditions.js';
import type {Measured} from './autoscaling-message.js';
import {answerOf, type MetricAnswer} from './metric-answer.js';
import {allowedNow, behaviourOf, historyFrom, withChange, type Allowed, type History, type LimitReason} from './scaling-rules.js';
import type {ScaleTarget} from './scale-target.js';

/** What is kept from one decision to the next, in memory alone. */
export type Memory = {
	readonly history: History | undefined;
	/** What it has written last, or found there first, and of which target that is; undefined: nothing yet. */
	readonly own: {readonly replicas: number; readonly uid: string | undefined} | undefined;
};

export type Situation = {
	readonly hpa: Hpa;
	/** Or why there is none. */
	readonly target: ScaleTarget | string;
	/** One that has the same target and came first. */
	readonly rival: Hpa | undefined;
	readonly known: Known;
	readonly measured: Measured;
	readonly memory: Memory;
	readonly nowMs: number;
	readonly monotonicMs: number;
};

export type Decision = {
	/** Undefined: nothing is changed. */
	readonly rescale: {readonly from: number; readonly to: number; readonly reason: string; readonly text: string} | undefined;
	readonly status: HpaStatus;
	readonly events: readonly EventNews[];
	readonly memory: Memory;
};

type Said = Omit<Condition, 'lastTransitionTime'>;

const said = (type: string, isTrue: boolean, reason: string, message: string): Said => ({
	type,
	status: isTrue ? 'True' : 'False',
	reason,
	message,
});

const warned = (reason: string, message: string): EventNews => ({event: 'Warning', reason, message});

/** Of one that does not act: what others make of its target meanwhile is where it begins. */
const forgotten: Memory = {history: undefined, own: undefined};

/** What should be. Whoever does it tells by `rescaled` what came of it. */
export function decide(situation: Situation): Decision {
	const {hpa, target, rival} = situation;
	if (typeof target === 'string') {
		const message = `the HPA controller was unable to get the target's current scale: ${target}`;
		return settled(situation, {conditions: [said('AbleToScale', false, 'FailedGetScale', message)], warning: ['FailedGetScale', message]});
	}
	const able = said('AbleToScale', true, 'SucceededGetScale', "the HPA controller was able to get the target's current scale");
	if (rival !== undefined) {
		const message = `${target.title} is scaled by hpa/${rival.metadata.name} already: of two autoscalers of one target the older one acts`;
		return settled(situation, {
			conditions: [able, said('ScalingActive', false, 'AmbiguousSelector', message)],
			warning: ['AmbiguousSelector', message],
			memory: forgotten,
		});
	}
	const isPaused = target.replicas === 0 && target.restsAtNone && (hpa.spec?.minReplicas ?? 1) > 0;
	if (isPaused) {
		const message = 'scaling is disabled since the replica count of the target is zero';
		return settled(situation, {
			desired: 0,
			conditions: [able, said('ScalingActive', false, 'ScalingDisabled', message)],
			memory: forgotten,
		});
	}
	return chosen({...situation, target}, able);
}

type Aimed = Situation & {readonly target: ScaleTarget};

/** The bounds come first, then whoever else wrote, then what is measured. */
function chosen(aimed: Aimed, able: Said): Decision {
	const {hpa, target} = aimed;
	const {min, max} = boundsOf(aimed);
	const from = target.replicas;
	const fought = foughtOver(aimed, min, max);
	if (fought !== undefined) return fought;
	if (from > max || from < min) {
		const reason = `Current number of replicas ${from > max ? 'above Spec.MaxReplicas' : 'below Spec.MinReplicas'}`;
		const kept = conditionOf(hpa.status?.conditions, 'ScalingActive');
		const to = from > max ? max : min;
		const limited = said(
			'ScalingLimited',
			true,
			from > max ? 'TooManyReplicas' : 'TooFewReplicas',
			limitWords[from > max ? 'TooManyReplicas' : 'TooFewReplicas'],
		);
		return settled(aimed, {desired: to, conditions: [able, ...(kept === undefined ? [] : [kept]), limited], reason});
	}
	return byMetrics(aimed, able, min, max);
}

function boundsOf({hpa: {spec}, target}: Aimed): {readonly min: number; readonly max: number} {
	const max = Math.max(Math.min(spec?.maxReplicas ?? 1, target.most), target.least);
	return {min: Math.min(Math.max(spec?.minReplicas ?? 1, target.least), max), max};
}

/** Somebody else has set the replicas of what it scales: it sets its own again, and says so. */
function foughtOver(aimed: Aimed, min: number, max: number): Decision | undefined {
	const {target, memory, measured} = aimed;
	const {own} = memory;
	if (own === undefined || !isOf(own, target, measured.cause) || own.replicas === target.written) return undefined;
	const to = Math.min(Math.max(own.replicas, min), max);
	if (to === target.replicas) return undefined;
	const reason = `replicas of ${target.title} were set to ${target.written} by ${writerIn(measured.cause) ?? 'somebody else'}`;
	const kept = (aimed.hpa.status?.conditions ?? []).filter(({type}) => type !== 'AbleToScale');
	const able = said('AbleToScale', true, 'ReplicasOverwritten', `${reason}; this autoscaler has set them to ${to} again`);
	return {
		...settled(aimed, {desired: to, conditions: [able, ...kept], reason}),
		events: [warned('ReplicasOverwritten', `${reason}; an autoscaler scales it, which sets them to ${to} again`)],
	};
}

/** `http admin PATCH deployments/default/web/scale` is of admin. */
const writerIn = (cause: string): string | undefined => /^http (\S+) (?:PUT|PATCH|POST) /.exec(cause)?.[1];

function byMetrics(aimed: Aimed, able: Said, min: number, max: number): Decision {
	const {hpa, target, memory, monotonicMs} = aimed;
	const from = target.replicas;
	const {metrics = []} = hpa.spec ?? {};
	const answers = metrics.map(metric => answerOf(metric, aimed));
	const good = answers.flatMap(answer => (answer.ok ? [answer] : []));
	const [bad] = answers.flatMap(answer => (answer.ok ? [] : [answer]));
	const highest = good.reduce<(typeof good)[number] | undefined>(
		(best, each) => (best === undefined || each.replicas > best.replicas ? each : best),
		undefined,
	);
	const currentMetrics = inOrder(answers);
	if (highest === undefined || (bad !== undefined && highest.replicas < from)) {
		const message = `the HPA was unable to compute the replica count: ${bad?.message ?? 'no metric is measured'}`;
		const reason = bad?.reason ?? 'FailedGetResourceMetric';
		return settled(aimed, {currentMetrics, conditions: [able, said('ScalingActive', false, reason, message)], warning: [reason, message]});
	}
	const behaviour = behaviourOf(hpa.spec ?? {}, hpa.metadata.annotations);
	const history = memory.history ?? historyFrom(from, monotonicMs);
	const allowed = allowedNow({current: from, recommended: highest.replicas, min, max}, behaviour, history, monotonicMs);
	return settled(aimed, {
		desired: allowed.desired,
		currentMetrics,
		conditions: [
			ableNow(allowed),
			said(
				'ScalingActive',
				true,
				'ValidMetricFound',
				`the HPA controller was able to successfully calculate a replica count from ${highest.label}`,
			),
			said('ScalingLimited', allowed.limit !== 'DesiredWithinRange', allowed.limit, limitWords[allowed.limit]),
		],
		reason: allowed.desired > from ? `${highest.label} above target` : 'All metrics below target',
		text: good.map(({text}) => text).join(', '),
		memory: {...memory, history: allowed.history},
	});
}

/** Each in the place of its metric, which is where it is looked for; of what is not known only the place. */
function inOrder(answers: readonly MetricAnswer[]): readonly MetricStatus[] {
	const last = answers.findLastIndex(({ok}) => ok);
	return answers.slice(0, last + 1).map(answer => (answer.ok ? answer.shown : {type: ''}));
}

const limitWords: {readonly [Reason in LimitReason]: string} = {
	DesiredWithinRange: 'the desired count is within the acceptable range',
	ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
	ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
	TooManyReplicas: 'the desired replica count is more than the maximum replica count',
	TooFewReplicas: 'the desired replica count is less than the minimum replica count',
};

const windowWords: {readonly [Reason in Allowed['window']]: string} = {
	ReadyForNewScale: 'recommended size matches current size',
	ScaleUpStabilized: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
	ScaleDownStabilized: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};

const ableNow = ({window}: Allowed): Said => said('AbleToScale', true, window, windowWords[window]);

type Settlement = {
	/** Undefined: as it is. */
	readonly desired?: number;
	readonly currentMetrics?: readonly MetricStatus[];
	readonly conditions: readonly Said[];
	readonly reason?: string;
	readonly text?: string;
	/** Told once, where its condition did not say it before. */
	readonly warning?: readonly [reason: string, message: string];
	readonly memory?: Memory;
};

function settled({hpa, target, measured, memory, nowMs}: Situation, settlement: Settlement): Decision {
	const {metadata, status: before = {}} = hpa;
	const {conditions, currentMetrics, warning} = settlement;
	const replicas = typeof target === 'string' ? undefined : target.replicas;
	const desired = settlement.desired ?? replicas ?? before.desiredReplicas ?? 0;
	const {currentMetrics: _before, ...rest} = before;
	const status: HpaStatus = {
		...rest,
		observedGeneration: metadata.generation,
		currentReplicas: typeof target === 'string' ? (before.currentReplicas ?? 0) : target.current,
		desiredReplicas: desired,
		...(currentMetrics === undefined || currentMetrics.length === 0 ? {} : {currentMetrics}),
		conditions: conditionsNow(before.conditions, conditions, nowMs),
	};
	const isNew = warning !== undefined && before.conditions?.some(({message}) => message === warning[1]) !== true;
	const isChange = replicas !== undefined && desired !== replicas && settlement.reason !== undefined;
	const kept = settlement.memory ?? memory;
	return {
		rescale: isChange ? {from: replicas, to: desired, reason: settlement.reason, text: settlement.text ?? ''} : undefined,
		status,
		events: isNew ? [warned(...warning)] : [],
		memory:
			typeof target === 'string' || kept === forgotten || desired === 0 ? kept : {...kept, own: ownOf(kept.own, target, measured.cause)},
	};
}

/** What others had set before it ever decided is where it begins. */
function ownOf(own: Memory['own'], target: ScaleTarget, cause: string): Memory['own'] {
	const {uid} = target.object.metadata;
	return own !== undefined && isOf(own, target, cause) ? {...own, uid} : {replicas: target.written, uid};
}

/** Of one that began anew the record may be older than what it has written last: more than that counts as its own, unless it is known who wrote it. */
const isOf = (own: NonNullable<Memory['own']>, {object, written}: ScaleTarget, cause: string): boolean =>
	own.uid === undefined ? own.replicas >= written || writerIn(cause) !== undefined : own.uid === object.metadata.uid;

/** Those that are said now, in their order; what was said before and is not now is over. */
const conditionsNow = (before: readonly Condition[] | undefined, now: readonly Said[], nowMs: number): readonly Condition[] =>
	now.flatMap(condition => {
		const found = conditionOf(withCondition(before, condition, nowMs), condition.type);
		return found === undefined ? [] : [found];
	});

/** The decision once it was done, or once it could not be: then it is tried again at the next look. */
export function rescaled(decision: Decision, failure: string | undefined, nowMs: number, monotonicMs: number): Decision {
	const {rescale, status, memory} = decision;
	if (rescale === undefined) return decision;
	const {from, to, reason, text} = rescale;
	const others = (status.conditions ?? []).filter(({type}) => type !== 'AbleToScale');
	if (failure !== undefined) {
		const able = said('AbleToScale', false, 'FailedUpdateScale', `the HPA controller was unable to update the target scale: ${failure}`);
		const conditions = conditionsNow(status.conditions, [able, ...others], nowMs);
		return {
			...decision,
			status: {...status, desiredReplicas: from, conditions},
			events: [warned('FailedRescale', `New size: ${to}; reason: ${reason}; error: ${failure}`)],
			memory: {...memory, own: undefined},
		};
	}
	const own = conditionOf(status.conditions, 'AbleToScale');
	const able =
		own?.reason === 'ReplicasOverwritten'
			? own
			: said('AbleToScale', true, 'SucceededRescale', `the HPA controller was able to update the target scale to ${to}`);
	const made = {time: timestampOf(nowMs), from, to, reason, ...(text === '' ? {} : {measured: text})};
	return {
		...decision,
		status: {
			...status,
			lastScaleTime: timestampOf(nowMs),
			conditions: conditionsNow(status.conditions, [able, ...others], nowMs),
			decisions: [...(status.decisions ?? []), made].slice(-limits.autoscaleDecisions),
		},
		events: [
			...decision.events,
			{event: 'Normal', reason: 'SuccessfulRescale', aspect: String(to), message: `New size: ${to}; reason: ${reason}`},
		],
		memory: {
			own: {replicas: to, uid: memory.own?.uid},
			history: withChange(memory.history ?? historyFrom(from, monotonicMs), to - from, monotonicMs),
		},
	};
}

/** What is shown has changed; figures alone may wait. */
export function differs(before: HpaStatus | undefined, now: HpaStatus): 'all' | 'figures' | undefined {
	const {currentMetrics: was, ...rest} = before ?? {};
	const {currentMetrics: is, ...restNow} = now;
	if (!deepEqual(rest, restNow)) return 'all';
	return deepEqual(was, is) ? undefined : 'figures';
}
