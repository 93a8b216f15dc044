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

type Place = {readonly resource: Resource; readonly namespace: string; readonly name: string};

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
	place: Place,
	patchOf: (live: ApiObject) => PatchBody | undefined,
	isDryRun: boolean,
): Promise<Changed> {
	for (let left = limits.changeTries; ; left--) {
		const live = await liveObject(client, place);
		const patch = patchOf(live);
		if (patch === undefined) return {object: live, isChanged: false};
		try {
			return {object: await sendPatch(client, place, patchPart(patch, live.metadata.resourceVersion), isDryRun), isChanged: true};
		} catch (error) {
			if (left <= 1 || !(error instanceof AppError && error.code === 'ERR_CONFLICT')) throw error;
		}
	}
}

/**
 * Sets members of an object whatever others change of it meanwhile, as long as it is this one: what is written many times in a second is never read in
 * the version that it has. Undefined: nothing is to be set. Throws what `membersOf` throws, ERR_NOT_FOUND, and ERR_CONFLICT for one that was made anew.
 */
export async function setMembers(client: Client, place: Place, membersOf: (live: ApiObject) => JsonObject | undefined): Promise<Changed> {
	const live = await liveObject(client, place);
	const members = membersOf(live);
	if (members === undefined) return {object: live, isChanged: false};
	const patch = {...members, metadata: {uid: live.metadata.uid}};
	return {object: await sendPatch(client, place, patchPart(patch, undefined), false), isChanged: true};
}

const liveObject = async (client: Client, {resource, namespace, name}: Place): Promise<ApiObject> =>
	withKind(await getOne(client, resource, namespace, name), resource);

const sendPatch = async (
	client: Client,
	{resource, namespace, name}: Place,
	part: ReturnType<typeof patchPart>,
	isDryRun: boolean,
): Promise<ApiObject> =>
	withKind(
		(await client.json({
			method: 'PATCH',
			path: pathOf(resource, namespace, name),
			query: {fieldManager: 'troupe', fieldValidation: 'Strict', ...(isDryRun ? {dryRun: 'All'} : {})},
			...part,
		})) as ApiObject,
		resource,
	);

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
