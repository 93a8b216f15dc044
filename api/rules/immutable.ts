// What an update may not change.

import {deepEqual, differences} from '../equal.js';
import {limits} from '../limits.js';
import type {ApiObject, JsonObject} from '../object.js';
import type {Toleration} from '../shapes/pod.js';
import {shown} from '../shown.js';
import {forbid, itemsOf, membersOf, textOf, type Found} from './report.js';

/** An object keeps its name for life. */
export function checkIdentity(found: Found, metadata: JsonObject, old: ApiObject): void {
	for (const field of ['name', 'namespace', 'uid'] as const) {
		const now = textOf(metadata[field]);
		const before = old.metadata[field] ?? '';
		if (now === undefined || now === '' || now === before) continue;
		forbid(found, `metadata.${field}`, `cannot be changed: it is ${shown(before)}, got ${shown(now)}`);
	}
}

/**
 * A pod's spec stays as it is: it may be bound to a node once, get more tolerations, and an earlier deadline. (Kubernetes also takes
 * another image; that comes with the issue that restarts containers on purpose.) `old` has its defaults.
 */
export function checkPodChange(found: Found, path: string, spec: JsonObject, old: JsonObject): void {
	const boundNow = isUnset(old['nodeName']) && !isUnset(spec['nodeName']);
	const free = {tolerations: undefined, activeDeadlineSeconds: undefined, ...(boundNow ? {nodeName: undefined} : {})};
	// A pod of before there were classes has no word for its own.
	const withClass = {runtimeClassName: 'process'};
	const before = {...withClass, ...old, ...free};
	const after = {...withClass, ...spec, ...free};
	for (const changed of differences(before, after, path).slice(0, limits.changesShown)) {
		const what = /\.(containers|initContainers)\[\d+\]\.image$/.test(changed)
			? 'changing the image of a pod is not supported yet'
			: 'cannot be changed';
		forbid(found, changed, `${what}; delete the pod and create it again`);
	}
	checkTolerationChange(found, `${path}.tolerations`, itemsOf(spec['tolerations']), itemsOf(old['tolerations']));
	checkDeadlineChange(found, `${path}.activeDeadlineSeconds`, spec['activeDeadlineSeconds'], old['activeDeadlineSeconds']);
}

/** Time that was promised may be shortened, never given back. */
function checkDeadlineChange(found: Found, path: string, now: unknown, old: unknown): void {
	if (old === undefined || now === old) return;
	if (typeof now !== 'number' || typeof old !== 'number' || now > old)
		forbid(found, path, `can be lowered only: it is ${shown(old)}, got ${shown(now)}`);
}

const isUnset = (value: unknown): boolean => value === undefined || value === '';

function checkTolerationChange(found: Found, path: string, now: readonly unknown[], old: readonly unknown[]): void {
	const lost = old.filter(toleration => !now.some(other => deepEqual(toleration, other))) as readonly Toleration[];
	if (lost.length > 0) forbid(found, path, `tolerations can be added, but not changed or removed: ${lost.map(nameOf).join(', ')}`);
}

const nameOf = (toleration: Toleration): string => shown(textOf(membersOf(toleration)['key']) ?? '');

/** A selector decides what belongs to an object, so it stays. */
export function checkUnchanged(found: Found, path: string, now: unknown, old: unknown): void {
	if (!deepEqual(now, old)) forbid(found, path, 'cannot be changed; delete the object and create it again');
}
