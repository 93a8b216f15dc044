// What a pod waits for before it is bound to a node: workloads of its namespace that are available, and Jobs that are complete.

import {shown} from './shown.js';

/** Of a pod: `deployment/db,job/migrate`. */
export const dependsOnAnnotation = 'troupe.dev/depends-on';

const kinds = {deployment: 'deployments', statefulset: 'statefulsets', daemonset: 'daemonsets', job: 'jobs'} as const;

export type AwaitedKind = (typeof kinds)[keyof typeof kinds];
export type Awaited = {readonly plural: AwaitedKind; readonly name: string};

/** At most so many are awaited by one pod. */
const most = 100;

/** What a text names, or what is wrong with it. */
export function readDependsOn(text: string): {readonly awaited: readonly Awaited[]} | {readonly problem: string} {
	const parts = text.split(',', most + 1).map(part => part.trim());
	if (parts.length > most) return {problem: `must name at most ${most}`};
	const awaited: Awaited[] = [];
	for (const part of parts.filter(each => each !== '')) {
		const [, kind, name = ''] = /^(deployment|statefulset|daemonset|job)\/([a-z0-9][-a-z0-9.]{0,252})$/.exec(part) ?? [];
		if (kind === undefined)
			return {problem: `must be deployment/NAME, statefulset/NAME, daemonset/NAME or job/NAME, with commas, got ${shown(part)}`};
		awaited.push({plural: kinds[kind as keyof typeof kinds], name});
	}
	return {awaited};
}
