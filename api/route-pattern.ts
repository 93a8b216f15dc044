// Regular expressions of routes: RE2's, which take time in proportion to what they look at, whatever it is. What one may cost is bounded before
// it is used: its text, its repetitions, and the program that comes of it.

import {RE2JS} from 're2js';
import {limits} from './limits.js';

export type RoutePattern = {
	/** Whether all of the text is a match. A text that is too long is none. */
	readonly matches: (text: string) => boolean;
};

export type ReadPattern = {readonly ok: true; readonly value: RoutePattern} | {readonly ok: false; readonly message: string};

/** What is wrong is said for who wrote it, without the expression. */
export function readRoutePattern(text: string): ReadPattern {
	const {routePatternCharacters, routePatternRepeats, routePatternSteps, routeMatchedCharacters} = limits;
	if (text.length > routePatternCharacters) return refused(`must have at most ${routePatternCharacters} characters, got ${text.length}`);
	// Repetitions within repetitions multiply, and are written out before the program can be measured.
	if (repeatsIn(text) > routePatternRepeats) return refused(`has numbers of repetitions that add up to more than ${routePatternRepeats}`);
	let pattern;
	try {
		pattern = RE2JS.compile(text);
	} catch (error) {
		return refused(`is no regular expression of RE2: ${wordsOf(error)}`);
	}
	if (pattern.programSize() > routePatternSteps)
		return refused(`is too large: a program of ${pattern.programSize()} steps, where ${routePatternSteps} are the most`);
	return {ok: true, value: {matches: value => value.length <= routeMatchedCharacters && pattern.matches(value)}};
}

const refused = (message: string): ReadPattern => ({ok: false, message});

const repeatsIn = (text: string): number =>
	[...text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
		(sum, [, least, most]) => sum + Number(most === undefined || most === '' ? least : most),
		0,
	);

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error));
