// Runs that are tasks of runs, and of these, and so on: they are counted by the run that all of them come from.

import type {ApiObject} from '../../../api/object.js';
import {rootRunAnnotation} from '../../../api/task-object.js';
import {controllerOf} from '../objects/owners.js';

/** The uid of the run that one comes from: its own where it is no task of another one. */
export function rootOf(run: ApiObject): string {
	const {uid, annotations} = run.metadata;
	return controllerOf(run)?.kind === 'Run' ? (annotations?.[rootRunAnnotation] ?? uid) : uid;
}

/** Runs that come from one; those of them that are not over. */
export const familyTerm = (namespace: string, root: string, which: 'all' | 'underWay'): string => `family=${which}/${namespace}/${root}`;

/** Of one run; the one that all come from is not among them. */
export function familyTerms(run: ApiObject, isOver: boolean): readonly string[] {
	const root = rootOf(run);
	if (root === run.metadata.uid) return [];
	const {namespace = ''} = run.metadata;
	return [familyTerm(namespace, root, 'all'), ...(isOver ? [] : [familyTerm(namespace, root, 'underWay')])];
}
