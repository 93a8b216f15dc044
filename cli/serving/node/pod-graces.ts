// How long each pod of a home may take to end, when no cluster runs that could be asked: its node's cache knows.

import {existsSync} from 'node:fs';
import path from 'node:path';
import {assignments, type AssignmentObject} from '../../../actors/node/cache/assignment-object.js';
import {parseStoreKey, storePrefix} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {parseRecord} from '../../../system/store/record.js';
import type {StoredRecord} from '../../../system/store/store.js';
import {recordsFrom} from '../../../system/store/store-calls.js';

/**
 * Milliseconds by uid. Empty where there is nothing to read, or nothing readable: programs must end all the same, then with
 * the usual grace.
 */
export async function podGraces(data: string): Promise<ReadonlyMap<string, number>> {
	const directory = path.join(data, 'node');
	if (!existsSync(directory)) return new Map();
	const {openLevelStore} = await import('../../../system/store/level-store.js');
	try {
		const driver = await openLevelStore(directory);
		try {
			const loaded = await recordsFrom(driver, storePrefix);
			return new Map(Array.from(loaded.ok ? loaded.records : []).flatMap(graceOf));
		} finally {
			await driver.close();
		}
	} catch {
		return new Map();
	}
}

function graceOf({key, body}: StoredRecord): [string, number][] {
	const stored = parseStoreKey(key);
	if (stored?.holds !== 'object' || !stored.key.startsWith(`${assignments}/`)) return [];
	const record = parseRecord(stored.key, body);
	if ('problem' in record) return [];
	const {metadata, spec} = record.object as AssignmentObject;
	const seconds = spec?.assignment.spec.terminationGracePeriodSeconds ?? limits.terminationGraceSeconds;
	return [[metadata.uid, seconds * 1_000]];
}
