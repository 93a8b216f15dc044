// Versions of a function, each by a word for what its instances are made from: the one that it has now, the sets of those that there are, and which of
// them have calls of their own.

import type {FunctionObject} from '../../../api/kinds/function.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {hashLabel} from '../../../api/rollouts.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';
import {revisionOf} from '../workloads/revisions.js';
import {templateHash} from '../workloads/template-hash.js';
import {templateOf, type FunctionTemplate} from './function-template.js';

/** Made once for each: calls ask for them. */
const words = new WeakMap<object, string>();

function wordFor(made: object, template: FunctionTemplate): string {
	const before = words.get(made);
	if (before !== undefined) return before;
	const {[hashLabel]: _hash, ...labels} = template.metadata?.labels ?? {};
	const word = templateHash({...template, metadata: {...template.metadata, labels}}, 0);
	words.set(made, word);
	return word;
}

/** The version that it has now. Undefined: nobody has uploaded the code. */
export function versionOf(fn: FunctionObject): string | undefined {
	const known = fn.spec === undefined ? undefined : words.get(fn.spec);
	const template = known === undefined ? templateOf(fn) : undefined;
	return fn.spec === undefined || template === undefined ? known : wordFor(fn.spec, template);
}

export const versionOfSet = ({spec}: ReplicaSet): string | undefined =>
	spec === undefined ? undefined : wordFor(spec.template, spec.template);

/** Whether the set is that of the version that the function has now. */
export function isNewest(fn: FunctionObject, set: ReplicaSet): boolean {
	const version = versionOf(fn);
	return version !== undefined && version === versionOfSet(set);
}

/** The set of a version, unless it is going. */
export function setOfVersion(fn: FunctionObject, version: string, known: Pick<Known, 'byOwner'>): ReplicaSet | undefined {
	const {uid} = fn.metadata;
	for (const object of known.byOwner(uid))
		if (
			object.kind === 'ReplicaSet' &&
			versionOfSet(object as ReplicaSet) === version &&
			controllerOf(object)?.uid === uid &&
			!isDeleting(object)
		)
			return object as ReplicaSet;
	return undefined;
}

/** Whether `spec.traffic` names it by its number. */
export const isNamed = ({spec}: FunctionObject, revision: number): boolean =>
	spec?.traffic?.some(share => share.revision === revision) === true;

/** Whether it has an activator of its own: traffic names it, or runs that began with it are all that calls it. No other calls get its instances. */
export const isApart = (fn: FunctionObject, revision: number): boolean =>
	isNamed(fn, revision) || fn.status?.apart?.includes(revision) === true;

/**
 * Who gives out slots of a version: the activator of the revision with that number, or the one of the function. Undefined: the version is gone.
 */
export function placeOfVersion(fn: FunctionObject, version: string, known: Pick<Known, 'byOwner'>): number | 'function' | undefined {
	if (versionOf(fn) === version) return 'function';
	const set = setOfVersion(fn, version, known);
	if (set === undefined) return undefined;
	const revision = revisionOf(set);
	return isApart(fn, revision) ? revision : 'function';
}
