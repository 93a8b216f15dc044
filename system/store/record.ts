// One object as the store keeps it: a header line with its schemaVersion, then the bytes that list, watch and topic show.

import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';

export type ObjectRecord = {
	readonly schemaVersion: number;
	readonly object: ApiObject;
	/** The object's own bytes, without the header. */
	readonly json: string;
};

export const formatRecord = (schemaVersion: number, json: string): string => `{"schemaVersion":${schemaVersion}}\n${json}`;

/** Reads a record back. Whatever is in it, the answer is a record that names this very key, or a problem in words. */
export function parseRecord(key: ObjectKey, body: string): ObjectRecord | {readonly problem: string} {
	const end = body.indexOf('\n');
	if (end < 0) return {problem: 'it has no header line'};
	const json = body.slice(end + 1);
	try {
		const {schemaVersion} = Object(JSON.parse(body.slice(0, end))) as {schemaVersion?: unknown};
		if (!isVersion(schemaVersion)) return {problem: 'its header names no schemaVersion'};
		const object: unknown = JSON.parse(json);
		const problem = problemOf(key, object);
		return problem === undefined ? {schemaVersion, object: object as ApiObject, json} : {problem};
	} catch {
		return {problem: 'it is not readable as JSON: torn or overwritten'};
	}
}

function problemOf(key: ObjectKey, object: unknown): string | undefined {
	const {metadata, kind} = Object(object) as {metadata?: unknown; kind?: unknown};
	const {name, uid, resourceVersion} = Object(metadata) as Record<string, unknown>;
	if (typeof kind !== 'string' || typeof uid !== 'string') return 'it is no API object';
	if (name !== parseObjectKey(key).name) return `it is named ${JSON.stringify(name)}`;
	if (typeof resourceVersion !== 'string' || !isVersion(Number(resourceVersion))) return 'its resourceVersion is no number';
	return undefined;
}

const isVersion = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
