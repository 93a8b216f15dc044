// Changes of objects by which functions are called, by their triggers with `objects`: each committed change is one delivery, those of one object in
// order. A change that was committed when the server died may be missed.
//
// A function is not told of itself, nor of what it owns: its instances, which its calls change.

import {findKind} from '../../api/catalogue.js';
import {functionLabel} from '../../api/function-instance.js';
import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {FunctionObject, FunctionTrigger} from '../../api/kinds/function.js';
import {matches} from '../../api/selector.js';
import type {ApiObject} from '../../api/object.js';
import type {Change} from '../../system/index/object-index.js';
import {publicText} from '../public-text.js';
import type {Delivery} from './delivery.js';
import {keyOf, nameOf, triggerDelivery} from './trigger-delivery.js';

export type ObjectChanges = {
	readonly set: (fn: FunctionObject) => void;
	readonly remove: (key: ObjectKey) => void;
	/** Of one committed change. */
	readonly hear: (change: Change) => void;
};

type Wish = {readonly fn: FunctionObject; readonly trigger: FunctionTrigger; readonly objects: NonNullable<FunctionTrigger['objects']>};

/** `onUnknownKind` is told of a trigger that will never be one. */
export function createObjectChanges(
	deliver: (delivery: Delivery) => void,
	onUnknownKind: (fn: FunctionObject, trigger: FunctionTrigger) => void,
): ObjectChanges {
	/** By kind and namespace, then by function. */
	const wishes = new Map<string, Map<ObjectKey, readonly Wish[]>>();
	const placesOf = new Map<ObjectKey, ReadonlySet<string>>();
	const remove = (key: ObjectKey): void => {
		for (const place of placesOf.get(key) ?? []) {
			const there = wishes.get(place);
			there?.delete(key);
			if (there?.size === 0) wishes.delete(place);
		}
		placesOf.delete(key);
	};
	return {
		set(fn) {
			const key = keyOf(fn);
			remove(key);
			const places = new Set<string>();
			for (const trigger of fn.spec?.triggers ?? []) {
				const {objects} = trigger;
				if (objects === undefined) continue;
				const kind = findKind(objects.kind);
				if (kind === undefined) {
					onUnknownKind(fn, trigger);
					continue;
				}
				const place = placeOf(kind.plural, kind.namespaced ? fn.metadata.namespace : undefined);
				const there = wishes.get(place) ?? new Map<ObjectKey, readonly Wish[]>();
				wishes.set(place, there.set(key, [...(there.get(key) ?? []), {fn, trigger, objects}]));
				places.add(place);
			}
			if (places.size > 0) placesOf.set(key, places);
		},
		remove,
		hear(change) {
			if (wishes.size === 0) return;
			const {plural} = parseObjectKey(change.key);
			const object = (change.after ?? change.before)?.object;
			if (object === undefined) return;
			for (const each of wishes.get(placeOf(plural, object.metadata.namespace))?.values() ?? [])
				for (const wish of each) if (isMeant(wish, change, object)) deliver(deliveryOf(wish, change));
		},
	};
}

const placeOf = (plural: string, namespace: string | undefined): string => `${plural}/${namespace ?? ''}`;

const wordOf = ({before, after}: Change): 'created' | 'updated' | 'deleted' =>
	before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';

/** One that has left the selector is told of as well: it is not what it was. */
function isMeant({fn, objects}: Wish, change: Change, object: ApiObject): boolean {
	const {changes, selector = {}} = objects;
	if (changes !== undefined && !changes.includes(wordOf(change))) return false;
	if (isOwn(fn, object)) return false;
	return [change.before, change.after].some(each => each !== undefined && matches(selector, each.object.metadata.labels));
}

const isOwn = ({metadata: {uid, name}}: FunctionObject, {metadata}: ApiObject): boolean =>
	metadata.uid === uid ||
	metadata.labels?.[functionLabel] === name ||
	(metadata.ownerReferences ?? []).some(reference => reference.uid === uid);

function deliveryOf({fn, trigger}: Wish, change: Change): Delivery {
	const entry = change.after ?? change.before;
	const text = entry === undefined ? 'null' : publicText(entry);
	return triggerDelivery(nameOf(fn), trigger, {
		queue: `object ${change.key}`,
		contentType: 'application/json',
		headers: {'x-troupe-change': wordOf(change)},
		body: Buffer.from(`{"change":"${wordOf(change)}","object":${text}}`),
	});
}
