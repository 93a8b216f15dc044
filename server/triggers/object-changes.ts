// Changes of objects that triggers with `objects` name: each committed change is one occasion, those of one object in order. A change that was
// committed when the server died may be missed.
//
// Nobody is told without end of what it does itself. A function is not told of itself, nor of what it owns: its instances, which its calls change. A
// workflow is not told of itself, of its runs, of what these own, nor of runs that were started because of one of these, and what they own.

import {findKind} from '../../api/catalogue.js';
import {functionLabel} from '../../api/function-instance.js';
import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {matches} from '../../api/selector.js';
import type {ApiObject} from '../../api/object.js';
import type {Change} from '../../system/index/object-index.js';
import {publicText} from '../public-text.js';
import {targetOf, type ChangeWord, type Occasion, type Trigger, type Triggered, type TriggerTarget} from './occasion.js';

export type ObjectChanges = {
	/** From now on these are its triggers. */
	readonly set: (key: ObjectKey, object: Triggered) => void;
	readonly remove: (key: ObjectKey) => void;
	/** Of one committed change. */
	readonly hear: (change: Change) => void;
};

export type ObjectChangesOptions = {
	readonly see: (occasion: Occasion) => void;
	/** The workflows from whose runs an object comes: see `workflowsBehind`. */
	readonly workflowsBehind: (object: ApiObject) => readonly string[];
	/** There is no kind of that name, so the trigger will never see anything. */
	readonly onUnknownKind: (target: TriggerTarget, trigger: Trigger) => void;
};

type Wish = {
	readonly target: TriggerTarget;
	readonly uid: string;
	readonly trigger: Trigger;
	readonly objects: NonNullable<Trigger['objects']>;
};

export function createObjectChanges({see, workflowsBehind, onUnknownKind}: ObjectChangesOptions): ObjectChanges {
	/** By kind and namespace, then by whose they are. */
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
		set(key, {metadata, spec}) {
			remove(key);
			const target = targetOf(key);
			if (target === undefined) return;
			const places = new Set<string>();
			for (const trigger of spec?.triggers ?? []) {
				const {objects} = trigger;
				if (objects === undefined) continue;
				const kind = findKind(objects.kind);
				if (kind === undefined) {
					onUnknownKind(target, trigger);
					continue;
				}
				const place = placeOf(kind.plural, kind.namespaced ? metadata.namespace : undefined);
				const there = wishes.get(place) ?? new Map<ObjectKey, readonly Wish[]>();
				wishes.set(place, there.set(key, [...(there.get(key) ?? []), {target, uid: metadata.uid, trigger, objects}]));
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
			const there = wishes.get(placeOf(plural, object.metadata.namespace));
			if (there === undefined) return;
			const seen = once(() => seenOf(change, workflowsBehind(object)));
			for (const each of there.values())
				for (const wish of each)
					if (isWished(wish, change) && !isOwn(wish, object, seen)) see({target: wish.target, trigger: wish.trigger, seen: seen()});
		},
	};
}

const placeOf = (plural: string, namespace: string | undefined): string => `${plural}/${namespace ?? ''}`;

const wordOf = ({before, after}: Change): ChangeWord => (before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated');

/** One that has left the selector is told of as well: it is not what it was. */
function isWished({objects}: Wish, change: Change): boolean {
	const {changes, selector = {}} = objects;
	if (changes !== undefined && !changes.includes(wordOf(change))) return false;
	return [change.before, change.after].some(each => each !== undefined && matches(selector, each.object.metadata.labels));
}

function isOwn({target, uid}: Wish, {metadata}: ApiObject, seen: () => SeenChange): boolean {
	if (metadata.uid === uid) return true;
	switch (target.plural) {
		case 'functions':
			return metadata.labels?.[functionLabel] === target.name || (metadata.ownerReferences ?? []).some(reference => reference.uid === uid);
		case 'workflows': {
			const {causes} = seen();
			return causes.includes(target.name) || causes.length >= limits.workflowCauses;
		}
	}
}

type SeenChange = Extract<Occasion['seen'], {type: 'change'}>;

function seenOf(change: Change, causes: readonly string[]): SeenChange {
	const entry = change.after ?? change.before;
	return {type: 'change', key: change.key, change: wordOf(change), object: entry === undefined ? 'null' : publicText(entry), causes};
}

/** Made when it is asked for first: most changes are not told to anybody. */
function once<Value>(make: () => Value): () => Value {
	let made: {readonly value: Value} | undefined;
	return () => (made ??= {value: make()}).value;
}
