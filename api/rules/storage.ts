// Rules of claims and of volumes.

import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import {memoryBytes} from '../quantity.js';
import {isQuantity} from '../resource-amount.js';
import {shown} from '../shown.js';
import {checkDnsSubdomain} from './names.js';
import {forbid, itemsOf, membersOf, refuse, textOf, type Found} from './report.js';
import {checkRequirements} from './selector.js';

/** What a claim asks for, also in the template of one. */
export function checkClaimSpec(found: Found, path: string, spec: JsonObject): void {
	checkAccessModes(found, `${path}.accessModes`, spec['accessModes']);
	const {requests, limits: most} = membersOf(spec['resources']);
	checkStorage(found, `${path}.resources.requests`, requests, true);
	checkStorage(found, `${path}.resources.limits`, most, false);
	checkRequirements(found, `${path}.selector`, membersOf(spec['selector']));
	for (const field of ['storageClassName', 'volumeName'] as const) {
		const name = textOf(spec[field]);
		if (name !== undefined && name !== '') checkDnsSubdomain(found, `${path}.${field}`, name);
	}
}

/** At least one; a single pod shares with nobody. */
export function checkAccessModes(found: Found, path: string, modes: unknown): void {
	const given = itemsOf(modes);
	if (given.length === 0) refuse(found, path, 'must name at least one', 'FieldValueRequired');
	if (given.includes('ReadWriteOncePod') && given.length > 1)
		forbid(found, path, 'ReadWriteOncePod must be alone: it may not be used with others');
}

/** Amounts by resource, of which there is only storage. */
export function checkStorage(found: Found, path: string, amounts: unknown, isRequired: boolean): void {
	const members = membersOf(amounts);
	for (const resource of Object.keys(members))
		if (resource !== 'storage') refuse(found, `${path}.${resource}`, 'is not known: storage is', 'FieldValueNotSupported');
	const {storage} = members;
	if (storage === undefined) {
		if (isRequired) refuse(found, `${path}.storage`, 'is required', 'FieldValueRequired');
		return;
	}
	const bytes = isQuantity(storage) ? memoryBytes(storage) : undefined;
	if (bytes === undefined || bytes <= 0)
		refuse(found, `${path}.storage`, `must be a quantity above 0, such as "10Gi", got ${shown(storage)}`);
	else if (bytes > limits.resourceAmount) refuse(found, `${path}.storage`, `must be at most "1Pi", got ${shown(storage)}`);
}
