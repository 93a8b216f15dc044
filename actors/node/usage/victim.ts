// Which pod a node that is short of something ends first: one that uses more than it asked for, then the one of the lowest priority, then the one that uses most
// above what it asked for. Pure.
//
// Source: Kubernetes' "Node-pressure Eviction", pod selection. How much disk a pod uses is never counted (a directory's size would have to be walked): of
// those that are equal the newest goes.

import {criticalPriority} from '../../../api/kinds/priorityclass.js';
import type {PodSpec} from '../../../api/kinds/pod.js';
import {podRequests} from '../../../api/pod-resources.js';
import type {Assignment} from '../../protocol/sync-message.js';
import type {Measurement} from './report.js';
import {amountText, type Shortage} from './pressure.js';

export type Candidate = {readonly assignment: Assignment; readonly startedAtMs: number};

export type Victim = {readonly assignment: Assignment; readonly message: string};

/** Undefined: there is none that may be ended. */
export function victimOf(shortage: Shortage, candidates: readonly Candidate[], measured: Measurement): Victim | undefined {
	const used = new Map<string, number>();
	for (const {usage} of measured.containers) used.set(usage.uid, (used.get(usage.uid) ?? 0) + (usage.memoryBytes ?? 0));
	const isMemory = shortage.pressure === 'MemoryPressure';
	const ranked = candidates
		.filter(({assignment: {spec, uid}}) => (spec.priority ?? 0) < criticalPriority && used.has(uid) && mayFree(shortage, spec))
		.map(({assignment, startedAtMs}) => {
			const bytes = used.get(assignment.uid) ?? 0;
			const request = podRequests(assignment.spec).memoryBytes;
			const above = isMemory ? bytes - request : 0;
			return {assignment, bytes, request, order: [above > 0 ? 0 : 1, assignment.spec.priority ?? 0, -above, -startedAtMs]};
		})
		.sort((a, b) => compared(a.order, b.order));
	const [first] = ranked;
	if (first === undefined) return undefined;
	const use = isMemory
		? `; the pod was using ${amountText('memory.available', first.bytes)}, its request is ${amountText('memory.available', first.request)}`
		: '';
	return {assignment: first.assignment, message: `the node was ${shortage.text}${use}`};
}

/** Of a disk a pod frees what is in folders of its own, or in the file system of a container: its logs alone are not worth it. */
function mayFree({pressure}: Shortage, {volumes = [], runtimeClassName}: PodSpec): boolean {
	if (pressure !== 'DiskPressure') return true;
	return runtimeClassName === 'docker' || volumes.some(({emptyDir}) => emptyDir !== undefined && emptyDir.medium !== 'Memory');
}

/** By the first that differs. */
function compared(a: readonly number[], b: readonly number[]): number {
	for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
	return 0;
}
