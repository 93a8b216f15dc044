// What a trigger of a function has the function called with.

import {objectKey, type ObjectKey} from '../../api/keys.js';
import type {FunctionObject, FunctionTrigger} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {FunctionName} from './call.js';
import type {Delivery} from './delivery.js';

export const nameOf = ({metadata}: FunctionObject): FunctionName => ({namespace: metadata.namespace ?? '', name: metadata.name});

export const keyOf = ({metadata}: FunctionObject): ObjectKey => objectKey('functions', metadata.namespace, metadata.name);

type What = Pick<Delivery, 'queue' | 'contentType' | 'headers' | 'body'> & Partial<Pick<Delivery, 'by'>>;

/** Of a trigger, what holds whatever calls. */
type TriggerEnds = Pick<FunctionTrigger, 'name'> & {readonly retries?: number | undefined; readonly deadLetterTopic?: string | undefined};

export const triggerDelivery = (
	fn: FunctionName,
	{name, retries, deadLetterTopic}: TriggerEnds,
	{by, queue, contentType, headers, body}: What,
): Delivery => ({
	function: fn,
	trigger: name,
	queue,
	by,
	contentType,
	headers: {...headers, 'x-troupe-trigger': name},
	body,
	retries: retries ?? limits.deliveryRetries,
	deadLetterTopic,
	reply: undefined,
});
