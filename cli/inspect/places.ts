// What a word of the shell means as a place: relative to where one stands, absolute, or an object as kubectl names it. Pure.
//
// A place is `control/pods/default.web-1`; the root, above all systems, is the empty one and shown as `/`.

import {findKind} from '../../api/catalogue.js';
import {controlSystem, objectKey, objectPath, parseAddress, type Address} from '../../api/keys.js';
import {inOneLine} from '../screen/table.js';

export type Place = string;

export const root: Place = '';

export const shownPlace = (place: Place): string => (place === root ? '/' : place);

/** For `-o` and messages. */
export const placeShown = (place: Place): string => inOneLine(shownPlace(place));

/** `troupe://control/pods/x` as a place; other texts as they are. */
export function placeOfAddress(address: Address): Place {
	const parsed = parseAddress(address);
	return parsed === undefined ? address : [parsed.system, parsed.path].filter(part => part !== '').join('/');
}

export const parentOf = (place: Place): Place => place.split('/').slice(0, -1).join('/');

export const nameOf = (place: Place): string => place.split('/').at(-1) ?? '';

export const childOf = (place: Place, name: string): Place => (place === root ? name : `${place}/${name}`);

/** One meaning of a word. */
export type Meaning = {
	readonly place: Place;
	/** Of a pod: its record is meant, and this node's system may have a hand of it. */
	readonly hand?: {readonly record: Place; readonly name: string} | undefined;
};

/** What the word may mean, likeliest first. */
export function meaningsOf(word: string, here: Place, systems: readonly string[], namespace: string): readonly Meaning[] {
	const parsed = parseAddress(word);
	if (parsed !== undefined) return [{place: tidied('', placeOfAddress(word))}];
	if (word.startsWith('/')) return [{place: tidied(root, word)}];
	const [first = '', ...rest] = word.split('/');
	if (first === '..' || first === '.') return [{place: tidied(here, word)}];
	const relative: Meaning = {place: tidied(here, word)};
	const absolute = here !== root && systems.includes(first) ? [{place: tidied(root, word)}] : [];
	return [relative, ...absolute, ...objectMeanings(first, rest, namespace)];
}

/** `pod/web-1`, `deploy/web`: the record in the control tree; `pods` alone: the collection. */
function objectMeanings(kindWord: string, [name, ...more]: readonly string[], namespace: string): readonly Meaning[] {
	const kind = findKind(kindWord);
	if (kind === undefined) return [];
	if (name === undefined || name === '') return [{place: `${controlSystem}/${kind.plural}`}];
	const path = objectPath(objectKey(kind.plural, kind.namespaced ? namespace : undefined, name));
	const record = `${controlSystem}/${path}`;
	if (more.length > 0) return [{place: [record, ...more].join('/')}];
	return [{place: record, ...(kind.plural === 'pods' ? {hand: {record, name: nameOf(record)}} : {})}];
}

/** Where the objects of `pod/` are, `hand/` being of pods, too, and what stands in front of their names there; undefined where it is no kind. */
export function objectsOfKind(word: string, namespace: string): {readonly collection: Place; readonly prefix: string} | undefined {
	const kind = findKind(word === handKind ? 'pod' : word);
	if (kind === undefined) return undefined;
	const path = objectPath(objectKey(kind.plural, kind.namespaced ? namespace : undefined, ''));
	return {collection: `${controlSystem}/${parentOf(path)}`, prefix: nameOf(path)};
}

const handKind = 'hand';

/** `hand/web-1`, `hand/web-1/nginx`: the hand of a pod on its node, and what is below it; undefined for other words. */
export function handWord(word: string, namespace: string): {readonly record: Place; readonly below: string} | undefined {
	const [first, name = '', ...more] = word.split('/');
	if (first !== handKind || name === '') return undefined;
	const path = objectPath(objectKey('pods', namespace, name));
	return {record: `${controlSystem}/${path}`, below: [path, ...more].join('/')};
}

/** With dots resolved and no slash too many. */
function tidied(from: Place, word: string): Place {
	const parts = from === root ? [] : from.split('/');
	for (const part of word.split('/')) {
		if (part === '..') parts.pop();
		else if (part !== '' && part !== '.') parts.push(part);
	}
	return parts.join('/');
}
