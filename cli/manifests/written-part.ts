// The part of an object that people write, as `diff` and `edit` show it. Pure.

import {isObject, type ApiObject, type Json, type JsonObject} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';

/** Of metadata, what the cluster alone sets. */
const ofTheCluster = [
	'uid',
	'resourceVersion',
	'generation',
	'creationTimestamp',
	'deletionTimestamp',
	'deletionGracePeriodSeconds',
	'managedFields',
];

/** An object without status, without what the cluster alone sets, and without what `apply` remembers. */
export function writtenPart(object: ApiObject): JsonObject {
	const {status: _status, ...rest} = object as unknown as JsonObject;
	const {annotations, ...metadata} = rest['metadata'] as JsonObject;
	const {[lastAppliedAnnotation]: _last, ...others} = isObject(annotations) ? annotations : {};
	const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !ofTheCluster.includes(key)));
	return {...rest, metadata: {...kept, ...(Object.keys(others).length === 0 ? {} : {annotations: others})}};
}

type Pair = readonly [before: JsonObject | undefined, after: JsonObject | undefined];

/** The two with values of a Secret hidden: whether a value changed is to be seen, not what it is. */
export function withoutSecrets([before, after]: Pair): Pair {
	if ((before ?? after)?.['kind'] !== 'Secret') return [before, after];
	const values = [before, after].map(object => (isObject(object?.['data']) ? object['data'] : {}));
	const hidden = (object: JsonObject | undefined, own: JsonObject | undefined, other: JsonObject | undefined, word: string) =>
		object === undefined || !isObject(object['data'])
			? object
			: {...object, data: Object.fromEntries(Object.entries(own ?? {}).map(([key, value]) => [key, mask(value, other?.[key], word)]))};
	return [hidden(before, values[0], values[1], 'before'), hidden(after, values[1], values[0], 'after')];
}

const mask = (value: Json | undefined, other: Json | undefined, word: string): string =>
	other !== undefined && other !== value ? `*** (${word})` : '***';
