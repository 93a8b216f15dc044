// The kind PriorityClass: how much pods count, beside each other.

import {ageColumn, column, nameColumn, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {forbid, membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {content} from '../schemas/priorityclass.js';
import {shown} from '../shown.js';

export type PriorityClass = ApiObject & ShapeOf<typeof content>;

/** Of this priority and above are pods without which the cluster does not work. */
export const criticalPriority = 2_000_000_000;

/** Classes that every cluster has, as Kubernetes has them: no other class may be above the highest value of a user. */
export const systemPriorities: ReadonlyMap<string, number> = new Map([
	['system-cluster-critical', criticalPriority],
	['system-node-critical', 2_000_001_000],
]);

const reservedPrefix = 'system-';
const highestOfUsers = 1_000_000_000;

const asClass = (object: ApiObject): PriorityClass => object as PriorityClass;

export const priorityClass: KindDefinition = {
	kind: 'PriorityClass',
	group: 'scheduling.k8s.io',
	version: 'v1',
	plural: 'priorityclasses',
	singular: 'priorityclass',
	shortNames: ['pc'],
	namespaced: false,
	content: ['value', 'globalDefault', 'preemptionPolicy', 'description'],
	defaults: draft => ({...draft, preemptionPolicy: asClass(draft as ApiObject).preemptionPolicy ?? 'PreemptLowerPriority'}),
	validate,
	refuseDeletion: ({metadata: {name}}) =>
		systemPriorities.has(name) ? `priorityclasses "${name}" is forbidden: every cluster has it` : undefined,
	columns: [
		nameColumn,
		numberColumn('Value', 'Pods of a higher value go first.', object => asClass(object).value),
		column('Global-Default', 'Whether pods that name no class are of it.', object => String(asClass(object).globalDefault ?? false)),
		column('PreemptionPolicy', 'Whether its pods may take the place of lower ones.', object => asClass(object).preemptionPolicy ?? ''),
		ageColumn,
	],
};

function validate(found: Found, object: Draft, old?: ApiObject): void {
	const members = membersOf(object);
	const {name} = membersOf(members['metadata']);
	const {value} = members;
	const ofSystem = typeof name === 'string' ? systemPriorities.get(name) : undefined;
	if (ofSystem !== undefined) {
		if (value !== ofSystem) refuse(found, 'value', `must be ${ofSystem} in ${shown(name)}, got ${shown(value)}`);
		if (members['globalDefault'] === true) forbid(found, 'globalDefault', `must be false in ${shown(name)}`);
	} else {
		if (typeof name === 'string' && name.startsWith(reservedPrefix))
			forbid(found, 'metadata.name', `names that begin with "${reservedPrefix}" are the system's, got ${shown(name)}`);
		if (typeof value === 'number' && value > highestOfUsers)
			forbid(found, 'value', `must be at most ${highestOfUsers}: higher ones are the system's, got ${value}`);
	}
	if (old !== undefined) {
		// Pods that were made with it keep what it was: it would say something else of them than they do.
		checkUnchanged(found, 'value', value, asClass(old).value);
		checkUnchanged(found, 'preemptionPolicy', members['preemptionPolicy'], asClass(old).preemptionPolicy);
	}
}
