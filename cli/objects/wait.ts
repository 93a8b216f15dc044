// Waiting until objects are as wanted: by a list and a watch from it, never by asking again and again.

import {parseDuration} from '../../api/duration.js';
import {AppError} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import {limits} from '../../api/limits.js';
import type {Client, Query} from '../client.js';
import {withKind, type List} from '../cluster/lists.js';
import {pathOf, type Resource} from '../cluster/resources.js';
import {failedError, usageError} from '../command.js';
import {watch} from '../cluster/watch.js';

/** How long a command waits in all. */
export type Deadline = {readonly signal: AbortSignal; readonly text: string};

/** The deadline that `--timeout` names, else the usual one. It begins now. Throws ERR_USAGE. */
export function deadlineOf(timeout: string | undefined): Deadline {
	const ms = timeout === undefined ? limits.waitMs : parseDuration(timeout);
	if (ms === undefined || ms <= 0) throw usageError(`--timeout must be a time such as 30s or 2m, got "${timeout ?? ''}"`);
	return {signal: AbortSignal.timeout(Math.ceil(ms)), text: timeout ?? `${limits.waitMs / 1_000}s`};
}

/** For work that takes as long as it takes. */
export const noDeadline: Deadline = {signal: new AbortController().signal, text: ''};

export type Wanted = {
	readonly resource: Resource;
	/** Undefined: every namespace. */
	readonly namespace: string | undefined;
	readonly query?: Query;
	/** Looks at all objects of the query, by uid, whenever one changed. */
	readonly isDone: (objects: ReadonlyMap<string, ApiObject>) => boolean;
	/** What is waited for: `pod/web to be gone`. A function tells what is left when the time is up. */
	readonly what: string | (() => string);
};

/** Resolves when it is so. Throws when the deadline passed first. */
export async function waitUntil(client: Client, wanted: Wanted, deadline: Deadline): Promise<void> {
	try {
		while (!(await follow(client, wanted, deadline.signal)));
	} catch (error) {
		const {what} = wanted;
		if (!deadline.signal.aborted) throw error;
		throw failedError(`timed out after ${deadline.text} waiting for ${typeof what === 'string' ? what : what()}`);
	}
}

/** One list and the watch that goes on from it; false when the server ended the watch before it was so. */
async function follow(client: Client, {resource, namespace, query = {}, isDone}: Wanted, signal: AbortSignal): Promise<boolean> {
	const path = pathOf(resource, namespace);
	const list = (await client.json({path, query, signal})) as List;
	const objects = new Map((list.items ?? []).map(item => [item.metadata.uid, withKind(item, resource)]));
	if (isDone(objects)) return true;
	const from = {...query, resourceVersion: list.metadata?.resourceVersion};
	try {
		for await (const {type, object} of watch(client, {path, query: from, signal})) {
			const changed = object as ApiObject;
			if (type === 'DELETED') objects.delete(changed.metadata.uid);
			else objects.set(changed.metadata.uid, changed);
			if (isDone(objects)) return true;
		}
	} catch (error) {
		// Too slow for the server's memory: a new list tells all that was missed.
		if (!(error instanceof AppError && error.code === 'ERR_EXPIRED')) throw error;
	}
	return false;
}
