// How far a rollout is, told as it goes on: by a list and a watch from it.

import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {failedError} from '../command.js';
import type {NamedObject} from '../objects/chosen.js';
import {waitUntil, type Deadline} from '../objects/wait.js';
import type {Terminal} from '../screen/terminal.js';
import type {RolloutKind} from './rollout-kind.js';

export type StatusWish = {
	/** The revision that is meant; 0: the newest. */
	readonly revision: number;
	/** Goes on until it is done. */
	readonly isFollowed: boolean;
	readonly deadline: Deadline;
};

/** Tells each line once. Throws AppError when the rollout failed, the object is gone or the time is up. */
export async function followStatus(
	client: Client,
	terminal: Pick<Terminal, 'out'>,
	{resource, namespace, name}: NamedObject,
	kind: RolloutKind,
	{revision, isFollowed, deadline}: StatusWish,
): Promise<void> {
	let told = '';
	let uid: string | undefined;
	const isDone = (objects: ReadonlyMap<string, ApiObject>): boolean => {
		const object = uid === undefined ? [...objects.values()][0] : objects.get(uid);
		if (object === undefined) throw failedError('object has been deleted');
		({uid} = object.metadata);
		const status = kind.statusOf(object, revision);
		if (status.text !== told) terminal.out(`${status.text}\n`);
		told = status.text;
		return status.isDone || !isFollowed;
	};
	try {
		await waitUntil(client, {resource, namespace, query: {fieldSelector: `metadata.name=${name}`}, isDone, what: 'the rollout'}, deadline);
	} catch (error) {
		throw deadline.signal.aborted ? failedError('timed out waiting for the condition') : error;
	}
}
