// Owners that find what they own by labels: how an object finds those that may want it, and how it changes hands.

import type {ApiObject, JsonObject, Labels} from '../../../api/object.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {matches, type LabelSelector} from '../../../api/selector.js';
import type {Context, Effect, Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Watched} from './controller.js';
import {isDeleting} from './garbage.js';
import type {PatchObject} from './object-message.js';
import {adoptionId, controllerOf, ownerReferenceTo, strayTerm} from './owners.js';

/** What has a selector in its spec. */
export type Selecting = ApiObject<{readonly selector?: LabelSelector}>;

/** The term under which an object finds the owners that may want it, by one of its labels. */
const selectsTerm = (namespace: string, label: string): string => `selects=${namespace}/${label}`;
const selectsAnything = '*';

const pairsOf = (labels: Labels | undefined): string[] => Object.entries(labels ?? {}).map(([label, value]) => `${label}=${value}`);

/** The terms of an owner: one label that all it selects must have. */
export function selectionTerms({metadata, spec}: Selecting): readonly string[] {
	const [pair = selectsAnything] = pairsOf(spec?.selector?.matchLabels);
	return [selectsTerm(metadata.namespace ?? '', pair)];
}

/**
 * Owners of a kind that select the object as it is or as it was. One that has a controller is no news for others while its labels stay.
 */
export function* selecting(plural: string, {before, after}: Watched, known: Known): Iterable<ApiObject> {
	const isOwned = after !== undefined && controllerOf(after) !== undefined;
	if (isOwned && before?.metadata.labels === after.metadata.labels) return;
	const namespace = (after ?? before)?.metadata.namespace ?? '';
	yield* selectingLabels(plural, namespace, [before?.metadata.labels, after?.metadata.labels], known);
}

/** Objects of a kind, in a namespace, that select any of these labels. Only those are looked at that name one of them, or none at all. */
export function* selectingLabels(
	plural: string,
	namespace: string,
	labels: readonly (Labels | undefined)[],
	known: Known,
): Iterable<ApiObject> {
	for (const term of new Set([selectsAnything, ...labels.flatMap(pairsOf)])) {
		for (const owner of known.byTerm(plural, selectsTerm(namespace, term)) as Iterable<Selecting>) {
			const selector = owner.spec?.selector;
			if (selector !== undefined && labels.some(each => matches(selector, each))) yield owner;
		}
	}
}

// ---- adopting and releasing --------------------------------------------------------------------------------------------

/** What an owner may take or has to let go. */
export type Candidates = {
	/** The kind of what is owned. */
	readonly plural: string;
	readonly selector: LabelSelector;
	/** How many it owns: where strays are more than that, they are found by their labels. */
	readonly owned: number;
	/** Owned ones that do not match any more. */
	readonly strangers: readonly ApiObject[];
	/** Whether one that matches and has no controller is worth having. */
	readonly isWanted: (object: ApiObject) => boolean;
	/** What it owns gets this finalizer, and loses it when it is let go. */
	readonly finalizer?: string;
};

/** The writes that change owners and are not asked for yet, as far as there is room for writes. */
export function ownerships(owner: ApiObject, candidates: Candidates, {known, pending}: Context): Effect[] {
	const effects: Effect[] = [];
	for (const wanted of [...released(owner, candidates), ...adopted(owner, candidates, known)]) {
		if (pending.size + effects.length >= limits.pendingWrites) break;
		if (!pending.has(wanted.id)) effects.push(wanted);
	}
	return effects;
}

/** What matches and has no controller becomes the owner's. */
function* adopted(owner: ApiObject, {plural, selector, owned, isWanted, finalizer}: Candidates, known: Known): Iterable<Pending> {
	const namespace = owner.metadata.namespace ?? '';
	// Whichever is likely to be fewer: those without a controller, or those with our labels.
	const isFew = known.countByTerm(plural, strayTerm(namespace)) <= owned;
	for (const object of isFew ? known.byTerm(plural, strayTerm(namespace)) : known.select(plural, namespace, selector)) {
		const {labels, ownerReferences = [], finalizers = [], uid} = object.metadata;
		if (controllerOf(object) !== undefined || isDeleting(object) || !matches(selector, labels) || !isWanted(object)) continue;
		const held = finalizer === undefined || finalizers.includes(finalizer) ? {} : {finalizers: [...finalizers, finalizer]};
		yield ownership(plural, object, {ownerReferences: [...ownerReferences, ownerReferenceTo(owner)], ...held}, adoptionId(uid));
	}
}

/** What does not match any more is let go. */
function* released({metadata: {uid}}: ApiObject, {plural, strangers, finalizer}: Candidates): Iterable<Pending> {
	for (const object of strangers) {
		if (isDeleting(object)) continue;
		const {finalizers = []} = object.metadata;
		const ownerReferences = (object.metadata.ownerReferences ?? []).filter(owner => owner.uid !== uid);
		const free =
			finalizer === undefined || !finalizers.includes(finalizer) ? {} : {finalizers: finalizers.filter(each => each !== finalizer)};
		yield ownership(plural, object, {ownerReferences, ...free}, `release/${object.metadata.uid}`);
	}
}

type Update = Extract<Effect, {type: 'update'}>;
type Bonds = Pick<ApiObject['metadata'], 'ownerReferences' | 'finalizers'>;

/** The write of such bonds; it fails where the object has changed meanwhile. */
export function ownership(plural: string, {metadata}: ApiObject, bonds: Bonds, id: string): Update {
	const {uid, resourceVersion} = metadata;
	const lists = Object.fromEntries(Object.entries(bonds).map(([member, list]) => [member, list.length === 0 ? null : list]));
	const patch: JsonObject = {metadata: {uid, resourceVersion, ...lists}};
	const message: PatchObject = {type: 'patch', patch};
	return {type: 'update', key: objectKey(plural, metadata.namespace, metadata.name), message, id};
}
