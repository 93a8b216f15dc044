// The rule of the annotation that says what a pod waits for.

import {dependsOnAnnotation, readDependsOn} from '../depends-on.js';
import {joinPath} from '../path.js';
import {membersOf, refuse, textOf, type Found} from './report.js';

export function checkDependsOn(found: Found, path: string, annotations: unknown): void {
	const text = textOf(membersOf(annotations)[dependsOnAnnotation]);
	const read = text === undefined ? undefined : readDependsOn(text);
	if (read !== undefined && 'problem' in read) refuse(found, joinPath(path, dependsOnAnnotation), read.problem);
}
