// Rules of a container's environment.

import {fieldPaths, laterFieldPaths, parseFieldPath} from '../field-path.js';
import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {isQualifiedName, labelKeyWords} from './names.js';
import {forbid, itemsOf, membersOf, refuse, refuseUnsupported, textOf, type Found} from './report.js';

const variableName = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const later = new Set(['resourceFieldRef', 'configMapKeyRef', 'secretKeyRef']);
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

export function checkEnv(found: Found, path: string, env: unknown): void {
	itemsOf(env).forEach((variable, i) => checkVariable(found, `${path}[${i}]`, membersOf(variable)));
}

function checkVariable(found: Found, path: string, variable: JsonObject): void {
	const name = textOf(variable['name']);
	if (name !== undefined && !variableName.test(name)) {
		refuse(found, `${path}.name`, `must be letters, digits, "-", "_" and ".", not starting with a digit, got ${shown(name)}`);
	}
	const value = textOf(variable['value']);
	if (value !== undefined) refuseNul(found, `${path}.value`, value);
	if (variable['valueFrom'] === undefined) return;
	if (value !== undefined && value !== '') refuse(found, `${path}.valueFrom`, 'cannot stand beside a value');
	checkSource(found, `${path}.valueFrom`, membersOf(variable['valueFrom']));
}

function checkSource(found: Found, path: string, source: JsonObject): void {
	const given = sources.filter(name => source[name] !== undefined);
	if (given.length !== 1)
		refuse(found, path, `must be one of ${sources.join(', ')}, got ${given.length === 0 ? 'none' : given.join(' and ')}`);
	refuseUnsupported(found, source, path, later);
	const fieldPath = textOf(membersOf(source['fieldRef'])['fieldPath']);
	if (fieldPath !== undefined) checkFieldPath(found, `${path}.fieldRef.fieldPath`, fieldPath);
}

function checkFieldPath(found: Found, path: string, fieldPath: string): void {
	const source = parseFieldPath(fieldPath);
	if (source === undefined) {
		if (laterFieldPaths.includes(fieldPath)) return forbid(found, path, `${shown(fieldPath)} is not supported yet`);
		const hint = didYouMean(fieldPath, fieldPaths);
		return refuse(found, path, `must be one of ${fieldPaths.join(', ')}, got ${shown(fieldPath)}${hint}`, 'FieldValueNotSupported');
	}
	if ('key' in source && !isQualifiedName(source.key)) refuse(found, path, `the key must be ${labelKeyWords}, got ${shown(source.key)}`);
}

/** The operating system takes no text with a NUL in it. */
export function refuseNul(found: Found, path: string, text: string): void {
	if (text.includes('\0')) refuse(found, path, 'must not contain a NUL character');
}
