// Rules of a container's environment.

import {fieldPaths, laterFieldPaths, parseFieldPath} from '../field-path.js';
import type {JsonObject} from '../object.js';
import {divisors, resourceFields} from '../resource-field.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {checkDataKey} from './config-data.js';
import {checkDnsSubdomain, isQualifiedName, labelKeyWords} from './names.js';
import {checkProgramText} from './program-text.js';
import {forbid, itemsOf, membersOf, refuse, requireOne, textOf, type Found} from './report.js';

const variableName = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const variableWords = 'letters, digits, "-", "_" and ".", not starting with a digit';
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

/** The container whose environment it is, and all of the pod. */
type Own = {readonly container: JsonObject; readonly containers: readonly JsonObject[]};

export function checkEnv(found: Found, path: string, env: unknown, containers: Own): void {
	itemsOf(env).forEach((variable, i) => checkVariable(found, `${path}[${i}]`, membersOf(variable), containers));
}

function checkVariable(found: Found, path: string, variable: JsonObject, containers: Own): void {
	const name = textOf(variable['name']);
	if (name !== undefined && !variableName.test(name)) {
		refuse(found, `${path}.name`, `must be ${variableWords}, got ${shown(name)}`);
	}
	const value = textOf(variable['value']);
	if (value !== undefined) checkProgramText(found, `${path}.value`, value);
	if (variable['valueFrom'] === undefined) return;
	if (value !== undefined && value !== '') refuse(found, `${path}.valueFrom`, 'cannot stand beside a value');
	checkSource(found, `${path}.valueFrom`, membersOf(variable['valueFrom']), containers);
}

function checkSource(found: Found, path: string, source: JsonObject, containers: Own): void {
	requireOne(found, path, source, sources);
	const fieldPath = textOf(membersOf(source['fieldRef'])['fieldPath']);
	if (fieldPath !== undefined) checkFieldPath(found, `${path}.fieldRef.fieldPath`, fieldPath);
	if (source['resourceFieldRef'] !== undefined)
		checkResourceRef(found, `${path}.resourceFieldRef`, membersOf(source['resourceFieldRef']), containers);
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
		requireOne(found, at, source, wholes, ['prefix']);
		for (const member of wholes) checkName(found, `${at}.${member}`, membersOf(source[member]));
		const prefix = textOf(source['prefix']) ?? '';
		if (prefix !== '' && !variableName.test(prefix)) refuse(found, `${at}.prefix`, `must be ${variableWords}, got ${shown(prefix)}`);
	});
}

function checkFieldPath(found: Found, path: string, fieldPath: string): void {
	const source = parseFieldPath(fieldPath);
	if (source === undefined) {
		if (laterFieldPaths.includes(fieldPath))
			return forbid(found, path, `${shown(fieldPath)} is not supported yet; name one entry, as in ${shown(`${fieldPath}['KEY']`)}`);
		const hint = didYouMean(fieldPath, fieldPaths);
		return refuse(found, path, `must be one of ${fieldPaths.join(', ')}, got ${shown(fieldPath)}${hint}`, 'FieldValueNotSupported');
	}
	if ('key' in source && !isQualifiedName(source.key)) refuse(found, path, `the key must be ${labelKeyWords}, got ${shown(source.key)}`);
}

function checkResourceRef(found: Found, path: string, reference: JsonObject, {container, containers}: Own): void {
	const resource = textOf(reference['resource']) ?? '';
	const name = textOf(reference['containerName']) ?? '';
	const {divisor} = reference;
	const known: readonly string[] = resourceFields;
	const names = containers.flatMap(each => textOf(each['name']) ?? []);
	const target = name === '' ? container : containers.find(each => each['name'] === name);
	if (target === undefined)
		refuse(found, `${path}.containerName`, `there is no container ${shown(name)} in the pod${didYouMean(name, names)}`);
	if (known.includes(resource)) {
		const limit = resource.startsWith('limits.') ? resource.slice('limits.'.length) : undefined;
		const limits = membersOf(membersOf(target?.['resources'])['limits']);
		// Kubernetes would tell what the node has; that is not known before the pod is bound.
		if (limit !== undefined && target !== undefined && limits[limit] === undefined)
			forbid(
				found,
				`${path}.resource`,
				`${shown(resource)} of a container without that limit is not supported yet; set resources.${resource}`,
			);
	} else if (typeof reference['resource'] === 'string') {
		const hint = didYouMean(resource, known);
		refuse(found, `${path}.resource`, `must be one of ${known.join(', ')}, got ${shown(resource)}${hint}`, 'FieldValueNotSupported');
	}
	const allowed = divisors[resource.endsWith('.cpu') ? 'cpu' : 'memory'];
	if ((typeof divisor === 'string' || typeof divisor === 'number') && !allowed.includes(String(divisor)))
		refuse(found, `${path}.divisor`, `must be one of ${allowed.join(', ')}, got ${shown(divisor)}`, 'FieldValueNotSupported');
}
