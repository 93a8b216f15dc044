// Rules of a container's environment.

import {fieldPaths, laterFieldPaths, parseFieldPath} from '../field-path.js';
import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {checkDataKey} from './config-data.js';
import {checkDnsSubdomain, isQualifiedName, labelKeyWords} from './names.js';
import {forbid, itemsOf, membersOf, refuse, refuseUnsupported, textOf, type Found} from './report.js';

const variableName = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const variableWords = 'letters, digits, "-", "_" and ".", not starting with a digit';
const later = new Set(['resourceFieldRef']);
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

export function checkEnv(found: Found, path: string, env: unknown): void {
	itemsOf(env).forEach((variable, i) => checkVariable(found, `${path}[${i}]`, membersOf(variable)));
}

function checkVariable(found: Found, path: string, variable: JsonObject): void {
	const name = textOf(variable['name']);
	if (name !== undefined && !variableName.test(name)) {
		refuse(found, `${path}.name`, `must be ${variableWords}, got ${shown(name)}`);
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
	for (const member of ['configMapKeyRef', 'secretKeyRef']) checkKeyRef(found, `${path}.${member}`, membersOf(source[member]));
}

function checkKeyRef(found: Found, path: string, reference: JsonObject): void {
	const key = textOf(reference['key']);
	checkName(found, path, reference);
	if (key !== undefined) checkDataKey(found, `${path}.key`, key);
}

function checkName(found: Found, path: string, reference: JsonObject): void {
	const name = textOf(reference['name']);
	if (name !== undefined) checkDnsSubdomain(found, `${path}.name`, name);
}

const wholes = ['configMapRef', 'secretRef'];

/** All entries of a ConfigMap or Secret at once. */
export function checkEnvFrom(found: Found, path: string, envFrom: unknown): void {
	itemsOf(envFrom).forEach((item, i) => {
		const at = `${path}[${i}]`;
		const source = membersOf(item);
		const given = wholes.filter(member => source[member] !== undefined);
		if (given.length !== 1)
			refuse(found, at, `must be one of ${wholes.join(', ')}, got ${given.length === 0 ? 'none' : given.join(' and ')}`);
		for (const member of given) checkName(found, `${at}.${member}`, membersOf(source[member]));
		const prefix = textOf(source['prefix']) ?? '';
		if (prefix !== '' && !variableName.test(prefix)) refuse(found, `${at}.prefix`, `must be ${variableWords}, got ${shown(prefix)}`);
	});
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
