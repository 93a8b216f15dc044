// What the detector found about a node, as its record shows it: taint, readiness, and why nothing is moved.
//
// The same function tells the detector whether there is anything to write and the record what; where all is as found it gives the
// very object back, so a node that is heard costs no write however often it says so.

import {conditionOf} from '../../../api/conditions.js';
import type {NodeCondition, NodeObject, NodeSpec, Taint} from '../../../api/kinds/node.js';
import {timestampOf} from '../../../api/object.js';
import {unreachableTaint} from '../../../api/rules/taints.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import type {MemberState} from '../../../system/presence/membership.js';
import {withCondition, withoutCondition} from '../objects/conditions.js';
import {normal, warning} from '../objects/event.js';
import {isLost} from '../pods/eviction.js';

export type Finding = {
	readonly state: MemberState;
	/** Why its pods are not replaced though it is silent for long enough; undefined when that is not so. */
	readonly frozen?: string;
};

const evictionsFrozen = 'EvictionsFrozen';
export const confirmedLost = 'ConfirmedLost';

/** A condition of readiness as the detector words it; every other one was worded at the start of the term or by the agent's hello. */
const silent = {
	suspect: {reason: 'NodeSuspect', message: 'no beat of the agent, or its connection was closed; the node gets no new pods'},
	restarting: {reason: 'AgentRestarting', message: 'the agent said that it restarts; the node gets no new pods'},
	dead: {reason: 'NodeLost', message: 'nothing is heard of the node; its pods are replaced'},
} as const;

/** Why a node is not ready of which nothing is heard. An agent that says that it restarts leaves its pods running. */
export const silentReasons: ReadonlySet<string> = new Set([silent.suspect.reason, silent.dead.reason]);
export const suspectReason: string = silent.suspect.reason;

const ours: ReadonlySet<string> = new Set(Object.values(silent).map(({reason}) => reason));

const heardAgain = {type: 'Ready', status: 'True', reason: 'AgentReady', message: 'the agent is heard'} as const;

/** Whether its readiness says that it is lost: also where a user has taken the taint away. */
export const saysLost = ({status}: NodeObject): boolean => conditionOf(status?.conditions, 'Ready')?.reason === silent.dead.reason;

/** The node as the finding has it. One that has said no hello in this term does not become ready by a beat. */
export function withFinding(node: NodeObject, finding: Finding, nowMs: number): NodeObject {
	const taints = taintsAs(node, finding, nowMs);
	const conditions = frozenAs(readyAs(node.status?.conditions ?? [], finding, nowMs), finding, nowMs);
	const spec = taints === node.spec?.taints ? node.spec : withTaints(node, taints);
	const isSame = spec === node.spec && (conditions === node.status?.conditions || conditions.length === 0);
	return isSame ? node : {...node, ...(spec === undefined ? {} : {spec}), status: {...node.status, conditions}};
}

function taintsAs(node: NodeObject, {state}: Finding, nowMs: number): readonly Taint[] | undefined {
	const taints = node.spec?.taints;
	if (state === 'alive') return isLost(node) ? withoutTaint(taints) : taints;
	if (state !== 'dead' || isLost(node)) return taints;
	return [...(taints ?? []), {key: unreachableTaint, effect: 'NoExecute', timeAdded: timestampOf(nowMs)}];
}

const withoutTaint = (taints: readonly Taint[] | undefined): readonly Taint[] | undefined =>
	taints?.filter(({key}) => key !== unreachableTaint);

export function withTaints({spec}: NodeObject, taints: readonly Taint[] | undefined): NodeSpec {
	const {taints: _before, ...rest} = spec ?? {};
	return taints === undefined || taints.length === 0 ? rest : {...rest, taints};
}

type Conditions = readonly NodeCondition[];

function readyAs(conditions: Conditions, {state}: Finding, nowMs: number): Conditions {
	const {status, reason = ''} = conditionOf(conditions, 'Ready') ?? {};
	const isOurs = status === 'Unknown' && ours.has(reason);
	if (state === 'unknown') return conditions;
	if (state === 'alive') return isOurs ? withCondition(conditions, heardAgain, nowMs) : conditions;
	// What is not ready for another reason stays so, and lost is more than suspect.
	const isNews = status === 'True' || (isOurs && (state === 'dead' || reason !== silent.dead.reason));
	return isNews ? withCondition(conditions, {type: 'Ready', status: 'Unknown', ...silent[state]}, nowMs) : conditions;
}

function frozenAs(conditions: Conditions, {state, frozen}: Finding, nowMs: number): Conditions {
	if (state === 'alive') return withoutCondition(withoutCondition(conditions, evictionsFrozen), confirmedLost) ?? [];
	if (frozen === undefined) return withoutCondition(conditions, evictionsFrozen) ?? [];
	// How many are heard changes all the time: what was said when it began stays.
	if (conditionOf(conditions, evictionsFrozen) !== undefined) return conditions;
	return withCondition(conditions, {type: evictionsFrozen, status: 'True', reason: 'TooFewHeard', message: frozen}, nowMs);
}

/** What there is to tell of the change. */
export const findingEvents = (before: NodeObject, after: NodeObject): Effect[] => [
	...readyEvents(before, after),
	...frozenEvents(before, after),
];

function readyEvents(before: NodeObject, after: NodeObject): Effect[] {
	const was = conditionOf(before.status?.conditions, 'Ready');
	const {status, reason = '', message = ''} = conditionOf(after.status?.conditions, 'Ready') ?? {};
	if (reason === was?.reason) return isLost(after) && !isLost(before) ? [warning(silent.dead.reason, silent.dead.message)] : [];
	if (status === 'True') return [normal('NodeReady', 'the node is heard again')];
	return [(reason === silent.restarting.reason ? normal : warning)(reason, message)];
}

function frozenEvents(before: NodeObject, after: NodeObject): Effect[] {
	const was = conditionOf(before.status?.conditions, evictionsFrozen);
	const is = conditionOf(after.status?.conditions, evictionsFrozen);
	if (was === undefined && is !== undefined) return [warning(evictionsFrozen, is.message ?? '')];
	return was !== undefined && is === undefined ? [normal('EvictionsResumed', 'enough nodes are heard again')] : [];
}
