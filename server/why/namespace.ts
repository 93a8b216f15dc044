// Why a namespace does not go.

import type {ApiObject} from '../../api/object.js';
import {limits} from '../../api/limits.js';
import {parkedFinding, deletionOf} from './common.js';
import {isDeleting} from '../../actors/control/objects/garbage.js';
import {aboutOf, counted, finding, fine, listText, type Evidence, type Finding, type Link} from './finding.js';
import {isConditionTrue} from '../../api/conditions.js';
import {conditionsOf} from './common.js';

export function namespaceFinding(namespace: ApiObject, evidence: Evidence): Finding {
	if (isConditionTrue(conditionsOf(namespace), 'ActorFailed')) return parkedFinding(namespace);
	const {name, finalizers = []} = namespace.metadata;
	const total = evidence.known.countInNamespace(name);
	if (!isDeleting(namespace)) return fine(namespace, `it has ${counted(total, 'object')}`);
	if (total === 0 && finalizers.length > 0) return deletionOf(namespace);
	const {kinds, held} = contentOf(name, evidence);
	const holds = held === undefined ? '' : `; ${held.about} ${held.says}`;
	return finding(namespace, {
		state: held === undefined ? 'waits' : 'wrong',
		is: 'is being deleted',
		because: `${counted(total, 'object')} ${total === 1 ? 'is' : 'are'} left: ${listText(kinds, 5)}${holds}`,
		below: held === undefined ? [] : [held],
		next: {says: 'it goes when nothing is left in it'},
	});
}

/** What is left by kind, and the first thing that does not go by itself. */
function contentOf(name: string, {known}: Evidence): {readonly kinds: readonly string[]; readonly held: Link | undefined} {
	const counts = new Map<string, number>();
	let held: Link | undefined;
	let left: number = limits.whyPods;
	for (const object of known.inNamespace(name)) {
		if (left-- <= 0) break;
		const kind = object.kind.toLowerCase();
		counts.set(kind, (counts.get(kind) ?? 0) + 1);
		if (held !== undefined || !isDeleting(object)) continue;
		const found = deletionOf(object);
		if (found.state === 'wrong') held = {about: aboutOf(object), says: `${found.is}: ${found.because}`};
	}
	return {kinds: [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => counted(count, kind)), held};
}
