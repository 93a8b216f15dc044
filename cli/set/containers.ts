// The containers that an object's pods are made of, wherever its kind has them, and changes of some of them. Pure.

import {AppError} from '../../api/errors.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {didYouMean} from '../../api/suggest.js';

export type Container = JsonObject & {readonly name: string};

/** A change of containers. */
export type ContainerChange = {
	/** Names, in which `*` stands for anything; each has to fit at least one container. */
	readonly names: readonly string[];
	/** The container as it shall be; the same one where nothing changes. */
	readonly changed: (container: Container) => JsonObject;
};

/** Where kinds have the spec of their pods: a pod itself, what makes pods, and what makes such. */
const places: readonly (readonly string[])[] = [
	['spec'],
	['spec', 'template', 'spec'],
	['spec', 'jobTemplate', 'spec', 'template', 'spec'],
];

const lists = ['initContainers', 'containers'] as const;

/** All containers of an object's pods that one of the names fits, those that run before the others first. Throws ERR_INVALID. */
export function containersOf(object: JsonObject, subject: string, names: readonly string[]): readonly Container[] {
	const all = lists.flatMap(list => itemsOf(podSpecOf(object, subject).spec, list));
	for (const name of names) if (!all.some(container => fits([name], container))) throw missing(subject, name, all);
	return all.filter(container => fits(names, container));
}

/** The merge patch that changes containers; undefined: all is as it should be. Throws ERR_INVALID where there is no such container. */
export function containersPatch(object: JsonObject, subject: string, {names, changed}: ContainerChange): JsonObject | undefined {
	const {place, spec} = podSpecOf(object, subject);
	containersOf(object, subject, names);
	const patch = new Map<string, Json>();
	for (const list of lists) {
		const before = itemsOf(spec, list);
		const after = before.map(container => (fits(names, container) ? changed(container) : container));
		if (after.some((container, index) => container !== before[index])) patch.set(list, after);
	}
	return patch.size === 0 ? undefined : place.reduceRight<JsonObject>((inner, key) => ({[key]: inner}), Object.fromEntries(patch));
}

function podSpecOf(object: JsonObject, subject: string): {readonly place: readonly string[]; readonly spec: JsonObject} {
	for (const place of places) {
		const spec = place.reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), object);
		if (isObject(spec) && Array.isArray(spec['containers'])) return {place, spec};
	}
	throw refusal(`${subject} has no containers`);
}

const itemsOf = (spec: JsonObject, list: string): readonly Container[] =>
	((spec[list] ?? []) as readonly Json[]).filter((item): item is Container => isObject(item) && typeof item['name'] === 'string');

const fits = (names: readonly string[], {name}: Container): boolean =>
	names.some(pattern => (pattern.split('*').length > 1 ? matches(pattern.split('*'), name) : pattern === name));

/** Whether a text has these parts in this order, the first and the last at its ends. */
function matches([first = '', ...rest]: readonly string[], text: string): boolean {
	const last = rest.at(-1) ?? '';
	if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
	let at = first.length;
	for (const part of rest.slice(0, -1)) {
		at = text.indexOf(part, at);
		if (at < 0) return false;
		at += part.length;
	}
	return at + last.length <= text.length;
}

function missing(subject: string, name: string, all: readonly Container[]): AppError {
	const names = all.map(container => container.name);
	return refusal(`${subject} has no container ${JSON.stringify(name)}${didYouMean(name, names) || `; there are ${names.join(', ')}`}`);
}

function refusal(message: string): AppError {
	return new AppError('ERR_INVALID', {message});
}
