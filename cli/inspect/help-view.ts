// What `help` of the inspector's shell shows, and `troupe actor help`. Pure.

import {brokenAt, flagLines, twoColumns} from '../command-line/help.js';
import {isShell, verbFlags} from './verb-words.js';
import type {VerbSpec} from './verb.js';

const groups: readonly (readonly [string, (spec: VerbSpec) => boolean])[] = [
	['Looking, for everyone who may view:', ({changes, shellOnly}) => changes === undefined && shellOnly !== true],
	['Changing, for admins; each is written to the audit log:', ({changes}) => changes !== undefined],
	['The shell:', ({shellOnly}) => shellOnly === true],
];

const places: readonly string[] = [
	'A PLACE is a system and a path (control/pods/default.web-1; the address',
	'troupe://control/pods/default.web-1 works, too), or an object as kubectl names',
	'it (pod/web-1, deploy/web); hand/web-1 is the hand of a pod on its node.',
];
const why = 'Why an object is not as it should be: troupe why pod/web-1.';
const shellPlaces = 'Within the shell it may be relative: pods, .., /. Tab completes all of them.';

/** All verbs; `columns`: of the screen, where there is one. */
export function overviewOf(specs: readonly VerbSpec[], columns?: number): string {
	const shown = groups.map(([title, holds]) => [title, specs.filter(holds)] as const).filter(([, found]) => found.length > 0);
	const lines = shown.flatMap(([title, found]) => [
		title,
		...twoColumns(
			found.map(({name, summary}) => [name, summary]),
			columns,
		),
		'',
	]);
	return [...lines, ...places, ...(isShell(specs) ? [shellPlaces] : []), 'help VERB tells more of one, with an example.', why, ''].join(
		'\n',
	);
}

/** `before`: what a shell has in front of the verb, `troupe actor `. */
export const verbHelp = ({name, summary, usage, example: [line, what], flags, changes}: VerbSpec, before = '', columns?: number): string =>
	[
		...brokenAt(`${name}: ${summary}`, columns === undefined ? Number.POSITIVE_INFINITY : columns - 1),
		'',
		`  ${before}${name} ${usage}`.trimEnd(),
		'',
		'Example:',
		...twoColumns([[`${before}${line}`, what]], columns),
		'',
		'Flags:',
		...flagLines({...flags, ...verbFlags}, columns),
		...(changes === undefined ? [] : ['', 'It changes a running actor: admins may, and the audit log has who did.']),
		'',
	].join('\n');
