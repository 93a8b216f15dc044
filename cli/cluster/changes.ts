// Changing objects that others change, too: what is read is what is changed, or it is read again.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {JsonPatch} from '../../api/json-patch.js';
import type {ApiObject, Json, JsonObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {getOne, withKind} from './lists.js';
import {pathOf, type Resource} from './resources.js';

/** A merge patch, or a JSON patch, which is a list. */
export type PatchBody = JsonObject | JsonPatch;

const isJsonPatch = (patch: PatchBody): patch is JsonPatch => Array.isArray(patch);

/** What of a request says the patch. It is made only while the object has this version, if one is given. */
export function patchPart(patch: PatchBody, resourceVersion: string | undefined): {readonly contentType: string; readonly body: Json} {
	const version = resourceVersion === undefined ? {} : {resourceVersion};
	if (!isJsonPatch(patch)) {
		const metadata = {...(patch['metadata'] as JsonObject | undefined), ...version};
		return {contentType: 'application/merge-patch+json', body: resourceVersion === undefined ? patch : {...patch, metadata}};
	}
	const ofVersion = Object.entries(version).map(([key, value]) => ({op: 'add', path: `/metadata/${key}`, value}) as const);
	return {contentType: 'application/json-patch+json', body: [...ofVersion, ...patch]};
}

export type Changed = {
	readonly object: ApiObject;
	/** Whether there was anything to change. */
	readonly isChanged: boolean;
};

/**
 * Changes an object by the patch that `patchOf` makes of what is there; undefined: nothing is to be changed. What another writer
 * changed in between is read again. Throws what `patchOf` throws, and ERR_NOT_FOUND.
 */
export async function changeObject(
	client: Client,
	{resource, namespace, name}: {readonly resource: Resource; readonly namespace: string; readonly name: string},
	patchOf: (live: ApiObject) => PatchBody | undefined,
	isDryRun: boolean,
): Promise<Changed> {
	for (let left = limits.changeTries; ; left--) {
		const live = withKind(await getOne(client, resource, namespace, name), resource);
		const patch = patchOf(live);
		if (patch === undefined) return {object: live, isChanged: false};
		try {
			const object = await client.json({
				method: 'PATCH',
				path: pathOf(resource, namespace, name),
				query: {fieldManager: 'troupe', fieldValidation: 'Strict', ...(isDryRun ? {dryRun: 'All'} : {})},
				...patchPart(patch, live.metadata.resourceVersion),
			});
			return {object: withKind(object as ApiObject, resource), isChanged: true};
		} catch (error) {
			if (left <= 1 || !(error instanceof AppError && error.code === 'ERR_CONFLICT')) throw error;
		}
	}
}

/** Makes an object that is not there yet; as it is then. */
export const createObject = async (
	client: Client,
	resource: Resource,
	namespace: string,
	body: JsonObject,
	dryRun: string | undefined,
): Promise<ApiObject> =>
	(await client.json({
		method: 'POST',
		path: pathOf(resource, namespace),
		query: {fieldManager: 'troupe', ...(dryRun === undefined ? {} : {dryRun: 'All'})},
		body,
	})) as ApiObject;
