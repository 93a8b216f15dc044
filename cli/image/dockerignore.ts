// What a `.dockerignore` leaves out of the folder that an image is built from. Pure.
//
// Source: https://docs.docker.com/build/concepts/context/#dockerignore-files; github.com/moby/patternmatcher.

import {valueOr} from '../../api/value-or.js';

/** Whether a path within the folder, with `/` between its steps, is left out. */
export type Ignored = {
	readonly isLeftOut: (path: string) => boolean;
	/** Nothing of a folder that is left out is sent; false where a later pattern may take some of it in again. */
	readonly isFinal: boolean;
};

type Pattern = {readonly takesIn: boolean; readonly test: RegExp};

/** Later lines win. A pattern that cannot be understood matches nothing. */
export function readDockerignore(text: string): Ignored {
	const patterns = text
		.replace(/^\ufeff/, '')
		.split(/\r?\n/)
		.filter(line => !line.startsWith('#'))
		.flatMap(patternOf);
	return {
		isLeftOut: path => patterns.reduce((left, {takesIn, test}) => (test.test(path) ? !takesIn : left), false),
		isFinal: patterns.every(({takesIn}) => !takesIn),
	};
}

/** What is below a path that matches, matches. */
function patternOf(line: string): readonly Pattern[] {
	const word = line.trim();
	const takesIn = word.startsWith('!');
	const clean = cleaned(takesIn ? word.slice(1).trim() : word);
	const test = valueOr(undefined, () => new RegExp(`^${sourceOf(clean)}(?:/|$)`, 's'));
	return clean === '' || test === undefined ? [] : [{takesIn, test}];
}

/** Without empty steps, `.` and `..`; from the folder itself. */
function cleaned(pattern: string): string {
	const steps: string[] = [];
	for (const step of pattern.split('/')) {
		if (step === '..') steps.pop();
		else if (step !== '' && step !== '.') steps.push(step);
	}
	return steps.join('/');
}

function sourceOf(pattern: string): string {
	let source = '';
	for (let rest = pattern; rest !== '';) {
		const [token = ''] = /^(?:\*\*\/|\*\*|\*|\?|\[\^?\]?[^\]]*\]|\\.|[^])/s.exec(rest) ?? [];
		rest = rest.slice(token.length);
		source += tokenSource(token);
	}
	return source;
}

function tokenSource(token: string): string {
	if (token === '**/') return '(?:.*/)?';
	if (token === '**') return '.*';
	if (token === '*') return '[^/]*';
	if (token === '?') return '[^/]';
	if (token.length > 1 && token.startsWith('[')) return `(?!/)[${token.slice(1, -1).replace(/[[\\\]]/g, '\\$&')}]`;
	return (token.length > 1 ? token.slice(1) : token).replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
