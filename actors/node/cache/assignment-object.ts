// How a node keeps what it was assigned: one object per pod in its cache, written before it is acknowledged.

import {objectKey, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {timestampOf, type ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {podKey} from '../../addresses.js';
import {configPlurals} from '../../config-references.js';
import {networkPlurals} from '../../network-references.js';
import type {Assignment, AssignmentVersion} from '../../protocol/sync-message.js';
import type {ConfigCopy} from './config-copy.js';

export type AssignmentObject = ApiObject<{
	readonly assignment: Assignment;
	readonly version: AssignmentVersion;
	/** It is not this node's any more: it ends, also if its hand crashes meanwhile. */
	readonly surplus?: true;
	/** It ran for longer than it may: its containers are ended, and not started again. */
	readonly overdue?: true;
	/** The node was short of something and ended it, in these words; likewise. */
	readonly evicted?: string;
}>;

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

/** The same, to end. */
export const asSurplus = (object: AssignmentObject): AssignmentObject =>
	object.spec === undefined || object.spec.surplus === true ? object : {...object, spec: {...object.spec, surplus: true}};

/** The same pod with what is newly wanted of it: since when it is here stays, and why it has failed. */
export function reassigned(old: AssignmentObject, assignment: Assignment, version: AssignmentVersion): AssignmentObject {
	const {overdue, evicted} = old.spec ?? {};
	const kept = {...(overdue === undefined ? {} : {overdue}), ...(evicted === undefined ? {} : {evicted})};
	return {...old, spec: {assignment, version, ...kept}};
}

/** The same, past its deadline. */
export const asOverdue = (object: AssignmentObject): AssignmentObject =>
	object.spec === undefined || object.spec.overdue === true ? object : {...object, spec: {...object.spec, overdue: true}};

/** The same, ended for the sake of its node. */
export const asEvicted = (object: AssignmentObject, message: string): AssignmentObject =>
	object.spec === undefined ? object : {...object, spec: {...object.spec, evicted: message}};

/** What the cache of this node holds, as a hello tells it. */
export function have(known: Known): {readonly [key: ObjectKey]: string} {
	const entries: [ObjectKey, string][] = [];
	for (const object of known.list(assignments)) {
		const {spec, metadata} = object as AssignmentObject;
		// What is to end is there, but as no version that could be wanted.
		if (spec !== undefined) entries.push([podKey(metadata), spec.surplus === true ? '' : spec.version]);
	}
	for (const plural of configPlurals) {
		for (const object of known.list(plural)) entries.push([object.metadata.uid, (object as ConfigCopy).spec?.version ?? '']);
	}
	return Object.fromEntries(entries);
}

/** The same of the network. A hello has to fit into a message: what does not is left out, and told anew. */
export function haveOfNetwork(known: Known): {readonly have: {readonly [key: ObjectKey]: string}; readonly left: ReadonlySet<ObjectKey>} {
	const entries: [ObjectKey, string][] = [];
	const left = new Set<ObjectKey>();
	let characters = 0;
	for (const plural of networkPlurals) {
		for (const object of known.list(plural)) {
			const entry: [ObjectKey, string] = [object.metadata.uid, (object as ConfigCopy).spec?.version ?? ''];
			characters += JSON.stringify(entry).length;
			if (characters > limits.helloNetworkCharacters) left.add(entry[0]);
			else entries.push(entry);
		}
	}
	return {have: Object.fromEntries(entries), left};
}
