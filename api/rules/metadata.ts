// Rules of metadata, the same for every kind.

import type {KindDefinition} from '../kind.js';
import {exclusiveAnnotation} from '../exclusive.js';
import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {checkDnsLabel, checkDnsSubdomain, checkLabelKey, checkLabelValue, isNamePrefix, isQualifiedName, labelKeyWords} from './names.js';
import {itemsOf, membersOf, refuse, textOf, type Found} from './report.js';

export function checkMetadata(found: Found, metadata: JsonObject, kind: KindDefinition): void {
	checkName(found, metadata);
	checkNamespace(found, metadata, kind);
	checkLabels(found, 'metadata.labels', metadata['labels']);
	checkAnnotations(found, 'metadata.annotations', metadata['annotations']);
	checkOwners(found, itemsOf(metadata['ownerReferences']).map(membersOf));
	itemsOf(metadata['finalizers']).forEach((finalizer, i) => checkFinalizer(found, `metadata.finalizers[${i}]`, finalizer));
}

function checkName(found: Found, metadata: JsonObject): void {
	const name = textOf(metadata['name']);
	const generateName = textOf(metadata['generateName']);
	if (name !== undefined && name !== '') return checkDnsSubdomain(found, 'metadata.name', name);
	if (generateName === undefined || generateName === '') {
		if (metadata['name'] === undefined || name === '')
			refuse(found, 'metadata.name', 'a name or generateName is required', 'FieldValueRequired');
		return;
	}
	if (!isNamePrefix(generateName)) {
		refuse(
			found,
			'metadata.generateName',
			`must be lower-case letters, digits, "-" and ".", starting with a letter or digit, got ${shown(generateName)}`,
		);
	}
}

function checkNamespace(found: Found, metadata: JsonObject, kind: KindDefinition): void {
	const namespace = textOf(metadata['namespace']);
	if (namespace === undefined || namespace === '') return;
	if (kind.namespaced) checkDnsLabel(found, 'metadata.namespace', namespace);
	else refuse(found, 'metadata.namespace', `a ${kind.kind} is in no namespace, got ${shown(namespace)}`, 'FieldValueForbidden');
}

/** Keys and values of labels, also of node selectors and such. */
export function checkLabels(found: Found, path: string, labels: unknown): void {
	const members = membersOf(labels);
	for (const key in members) {
		const at = joinPath(path, key);
		checkLabelKey(found, at, key);
		const value = textOf(members[key]);
		if (value !== undefined) checkLabelValue(found, at, value);
	}
}

/** Values of annotations are any text; all together are bounded. */
export function checkAnnotations(found: Found, path: string, annotations: unknown): void {
	const members = membersOf(annotations);
	let bytes = 0;
	for (const key in members) {
		if (!isQualifiedName(key)) refuse(found, joinPath(path, key), `the key must be ${labelKeyWords}, got ${shown(key)}`);
		bytes += key.length + (textOf(members[key])?.length ?? 0);
	}
	// A slip here would let two of a pod run that must never be two.
	const exclusive = members[exclusiveAnnotation];
	if (exclusive !== undefined && exclusive !== 'true' && exclusive !== 'false')
		refuse(found, joinPath(path, exclusiveAnnotation), `must be "true" or "false", got ${shown(exclusive)}`);
	if (bytes > limits.annotationBytes) refuse(found, path, `must be at most ${limits.annotationBytes} bytes together, got ${bytes}`);
}

function checkOwners(found: Found, owners: readonly JsonObject[]): void {
	owners.forEach((owner, i) => {
		for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
			if (owner[field] === '') refuse(found, `metadata.ownerReferences[${i}].${field}`, 'must not be empty', 'FieldValueRequired');
		}
	});
	const controllers = owners.filter(owner => owner['controller'] === true).length;
	if (controllers > 1) refuse(found, 'metadata.ownerReferences', `only one owner may be the controller, got ${controllers}`);
}

function checkFinalizer(found: Found, path: string, finalizer: unknown): void {
	const text = textOf(finalizer);
	if (text !== undefined && !isQualifiedName(text)) refuse(found, path, `must be ${labelKeyWords}, got ${shown(text)}`);
}
