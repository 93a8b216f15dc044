// How a node keeps what it was assigned: one object per pod in its cache, written before it is acknowledged.

import {objectKey, type ObjectKey} from '../../api/keys.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import type {Known} from '../../system/object-index.js';
import {podKey} from '../addresses.js';
import type {Assignment, AssignmentVersion} from '../sync-message.js';

export type AssignmentObject = ApiObject<{readonly assignment: Assignment; readonly version: AssignmentVersion}>;

export const assignments = 'assignments';

export const assignmentKey = ({namespace, name}: Pick<Assignment, 'namespace' | 'name'>): ObjectKey =>
	objectKey(assignments, namespace, name);

export function assignmentObject(assignment: Assignment, version: AssignmentVersion, nowMs: number): AssignmentObject {
	return {
		apiVersion: 'node.troupe.dev/v1',
		kind: 'Assignment',
		metadata: {
			name: assignment.name,
			namespace: assignment.namespace,
			uid: assignment.uid,
			resourceVersion: '',
			generation: 1,
			creationTimestamp: timestampOf(nowMs),
		},
		spec: {assignment, version},
	};
}

/** What the cache of this node holds, as a hello tells it. */
export function have(known: Known): {readonly [key: ObjectKey]: AssignmentVersion} {
	const entries: [ObjectKey, AssignmentVersion][] = [];
	for (const object of known.list(assignments)) {
		const {spec, metadata} = object as AssignmentObject;
		if (spec !== undefined) entries.push([podKey(metadata), spec.version]);
	}
	return Object.fromEntries(entries);
}
