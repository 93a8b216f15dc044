// What is found while a compose file is read: what cannot be said as objects, and what is said in another way. Both name their field.

import {limits} from '../limits.js';
import {joinPath} from '../path.js';
import type {Problem} from '../problem.js';

/** A word about a field that changes nothing: it is told and goes on. */
export type Note = {readonly path: string; readonly message: string};

export type Findings = {readonly problems: Problem[]; readonly notes: Note[]};

export const noFindings = (): Findings => ({problems: [], notes: []});

/** Where a value stands in the file, and where to tell what is wrong with it. */
export type At = {readonly found: Findings; readonly path: string};

export const below = ({found, path}: At, ...keys: readonly (string | number)[]): At => ({found, path: keys.reduce<string>(joinPath, path)});

/** Tells what is wrong with the value here. */
export function refuse({found, path}: At, message: string): undefined {
	if (found.problems.length < limits.problemsShown) found.problems.push({path, message, reason: 'FieldValueInvalid'});
}

/** Tells what becomes of the value here, where that is not what it says. */
export function remark({found, path}: At, message: string): void {
	if (found.notes.length < limits.problemsShown) found.notes.push({path, message});
}
