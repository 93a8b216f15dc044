// What a node that is short of something is in its record: conditions, a taint that keeps new pods away, events.

import {conditionOf, isConditionTrue} from '../../../api/conditions.js';
import {isPressure, pressures, pressureTaints} from '../../../api/node-pressure.js';
import type {NodeCondition, NodeObject, Taint} from '../../../api/kinds/node.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {normal, warning} from '../objects/event.js';
import {withTaints} from './node-finding.js';

/** Whether this condition stays though its agent did not tell it: it has not looked yet. */
export const staysUntold = (type: string, told: readonly {readonly type: string}[]): boolean =>
	isPressure(type) && !told.some(each => isPressure(each.type));

/** With the taints that its conditions come to; others of those keys are not kept. */
export function withPressureTaints(node: NodeObject): NodeObject {
	const before = node.spec?.taints ?? [];
	const conditions = node.status?.conditions;
	const keys: ReadonlySet<string> = new Set(Object.values(pressureTaints));
	const wanted = pressures.filter(type => isConditionTrue(conditions, type)).map(type => pressureTaints[type]);
	const has = before.filter(({key}) => keys.has(key)).map(({key}) => key);
	// An agent that never looked has no say about what a person has set.
	const isJudged = pressures.some(type => conditionOf(conditions, type) !== undefined);
	if (!isJudged || (has.length === wanted.length && wanted.every(key => has.includes(key)))) return node;
	const others = before.filter(({key}) => !keys.has(key));
	return {...node, spec: withTaints(node, [...others, ...wanted.map((key): Taint => ({key, effect: 'NoSchedule'}))])};
}

export function pressureEvents(before: NodeObject, after: NodeObject): readonly Effect[] {
	return pressures.flatMap(type => {
		const [was, is] = [before, after].map(({status}): NodeCondition | undefined => conditionOf(status?.conditions, type));
		if (is === undefined || is.status === (was?.status ?? 'False')) return [];
		const reason = (is.reason ?? type).replace(/^Agent/, 'Node');
		return [is.status === 'True' ? warning(reason, is.message ?? type) : normal(reason, is.message ?? type)];
	});
}
