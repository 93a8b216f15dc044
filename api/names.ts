// Names made for objects that only say how theirs shall begin, and for those that must get the same one whenever they are made again.

import {fnv1a} from './fnv.js';

/** No vowels and nothing that looks like something else, as in Kubernetes: no words by accident. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestName = 63;

/** The prefix, cut if need be, and five random characters; `random` gives numbers from 0 up to 1. */
export function generateName(prefix: string, random: () => number): string {
	let name = prefix.slice(0, longestName - suffixLength);
	for (let i = 0; i < suffixLength; i++) name += alphabet[Math.floor(random() * alphabet.length)] ?? 'b';
	return name;
}

/** The length of a `hashName`. */
export const hashNameLength = 10;

/** Ten of the same characters that the text alone decides: of a billion pairs of texts not one in a hundred thousand has the same. */
export function hashName(text: string): string {
	let name = '';
	for (const salt of ['a', 'b']) {
		let rest = fnv1a(salt + text);
		for (let i = 0; i < hashNameLength / 2; i++) {
			name += alphabet[rest % alphabet.length] ?? 'b';
			rest = Math.floor(rest / alphabet.length);
		}
	}
	return name;
}

/** The prefix, cut if need be, a hyphen, and the hash of the text. */
export const hashedName = (prefix: string, text: string): string =>
	`${prefix.slice(0, longestName - hashNameLength - 1)}-${hashName(text)}`;

/** The beginning, cut if need be, the tail, and five characters that the seed decides: asked for again, it is the same name. */
export const seededName = (beginning: string, tail: string, seed: string): string =>
	`${beginning.slice(0, longestName - suffixLength - tail.length)}${tail}${hashName(seed).slice(0, suffixLength)}`;
