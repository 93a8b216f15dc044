// What a workload tells of its pods that were made and deleted, in the words of Kubernetes' controllers.

import type {ApiObject} from '../../../api/object.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {normal} from '../objects/event.js';

/** `pod`: its name. */
type Words = (owner: ApiObject, pod: string, done: 'create' | 'delete') => string;

const plain: Words = (_owner, pod, done) => `${done === 'create' ? 'Created' : 'Deleted'} pod: ${pod}`;

/** A StatefulSet's own words. */
export const inSet: Words = ({metadata}, pod, done) => `${done} Pod ${pod} in StatefulSet ${metadata.name} successful`;

/** For `written` of a controller. A workload may have thousands of pods: the first are told by name, the others are counted. */
export const podNews =
	(words: Words = plain) =>
	(owner: ApiObject, id: string, value: unknown): readonly Effect[] => {
		const done = id.startsWith('create/') ? 'create' : id.startsWith('delete/') || id.startsWith('dismiss/') ? 'delete' : undefined;
		const {kind, metadata} = (value ?? {}) as Partial<ApiObject>;
		if (done === undefined || kind !== 'Pod' || metadata === undefined) return [];
		const told = normal(done === 'create' ? 'SuccessfulCreate' : 'SuccessfulDelete', words(owner, metadata.name, done));
		return [{...told, aspect: metadata.name, isOneOfMany: true}];
	};
