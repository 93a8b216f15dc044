// "Did you mean": the closest of some words, if one is close enough to be meant.

import {closestMatch} from 'leven';
import {limits} from './limits.js';

/** The candidate most like the word, case aside; undefined when none is near. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
	if (word.length === 0 || word.length > limits.suggestCharacters) return undefined;
	const lower = word.toLowerCase();
	const byLower = new Map(candidates.map(candidate => [candidate.toLowerCase(), candidate]));
	const maxDistance = word.length <= 3 ? 1 : Math.min(4, Math.ceil(word.length / 3));
	const words = [...byLower.keys()];
	const closest = byLower.has(lower) ? lower : (closestMatch(lower, words, {maxDistance}) ?? swapped(lower, words));
	return closest === undefined ? undefined : byLower.get(closest);
}

/** The same letters in another order: two slips by distance, one to the fingers. */
const swapped = (word: string, words: readonly string[]): string | undefined =>
	word.length > 3 ? undefined : words.find(other => [...other].toSorted().join('') === [...word].toSorted().join(''));

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
	const meant = suggest(word, candidates);
	return meant === undefined || meant === word ? '' : `; did you mean ${JSON.stringify(meant)}?`;
}
