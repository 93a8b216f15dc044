// Changing objects that others change, too: what is read is what is changed, or it is read again.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {getOne, withKind} from './lists.js';
import {pathOf, type Resource} from './resources.js';

export type Changed = {
	readonly object: ApiObject;
	/** Whether there was anything to change. */
	readonly isChanged: boolean;
};

/**
 * Changes an object by the merge patch that `patchOf` makes of what is there; undefined: nothing is to be changed. What another writer
 * changed in between is read again. Throws what `patchOf` throws, and ERR_NOT_FOUND.
 */
export async function changeObject(
	client: Client,
	{resource, namespace, name}: {readonly resource: Resource; readonly namespace: string; readonly name: string},
	patchOf: (live: ApiObject) => JsonObject | undefined,
	isDryRun: boolean,
): Promise<Changed> {
	for (let left = limits.changeTries; ; left--) {
		const live = withKind(await getOne(client, resource, namespace, name), resource);
		const patch = patchOf(live);
		if (patch === undefined) return {object: live, isChanged: false};
		const metadata = {...(patch['metadata'] as JsonObject | undefined), resourceVersion: live.metadata.resourceVersion};
		try {
			const object = await client.json({
				method: 'PATCH',
				path: pathOf(resource, namespace, name),
				query: {fieldManager: 'troupe', fieldValidation: 'Strict', ...(isDryRun ? {dryRun: 'All'} : {})},
				body: {...patch, metadata},
				contentType: 'application/merge-patch+json',
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
