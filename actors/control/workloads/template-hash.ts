// The name that a template gives to what is made from it, and whether two templates are the same.

import {deepEqual} from '../../../api/equal.js';
import {fnv1a} from '../../../api/fnv.js';
import {isObject, type Json, type JsonObject} from '../../../api/object.js';
import {hashLabel} from '../../../api/rollouts.js';
import {itemsOf, membersOf} from '../../../api/rules/report.js';
import type {Workload} from './census.js';

export type PodTemplate = NonNullable<Workload['spec']>['template'];

/** As in generated names: no vowels, so no words by accident. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short word for a template; after a collision another one. A hash of the template in one order. That two
 * templates have the same word is no harm: they are told apart by themselves, and the second one collides.
 */
export function templateHash(template: PodTemplate, collisions: number): string {
	return Array.from(String(fnv1a(`${collisions}${ordered(template)}`)), digit => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

/** JSON with its members in order. */
const ordered = (value: unknown): string =>
	JSON.stringify(value, (_key, member: unknown) =>
		isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
	);

/** Whether they make the same pods; the label with the hash aside, which one of them has got from its owner. */
export const isSameTemplate = (a: PodTemplate, b: PodTemplate): boolean =>
	(deepEqual(a.spec, b.spec) || deepEqual(specOf(a), specOf(b))) && deepEqual(metadataOf(a), metadataOf(b));

/** Clients write the resources of a container that has none as an empty object: kubectl does, when it takes a Deployment back. */
function specOf({spec}: PodTemplate): object {
	const {containers, initContainers, ...rest} = spec as JsonObject;
	return {...rest, containers: itemsOf(containers).map(bareOf), initContainers: itemsOf(initContainers).map(bareOf)};
}

function bareOf(container: Json): Json {
	const {resources = {}, ...bare} = membersOf(container);
	return Object.keys(membersOf(resources)).length === 0 ? bare : container;
}

function metadataOf({metadata: {labels, annotations} = {}}: PodTemplate): object {
	const {[hashLabel]: _hash, ...rest} = labels ?? {};
	return {labels: rest, annotations: annotations ?? {}};
}

/** The template with the label; the pods of it are selected by it. */
export const withHash = (template: PodTemplate, hash: string): PodTemplate => ({
	...template,
	metadata: {...template.metadata, labels: {...template.metadata?.labels, [hashLabel]: hash}},
});
