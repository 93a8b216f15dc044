// What `help` of the inspector's shell shows. Pure.

import {flagLines, twoColumns} from '../command-line/help.js';
import {verbFlags} from './verb-words.js';
import type {VerbSpec} from './verb.js';

const groups: readonly (readonly [string, (spec: VerbSpec) => boolean])[] = [
	['Looking, for everyone who may view:', ({changes, shellOnly}) => changes === undefined && shellOnly !== true],
	['Changing, for admins; each is written to the audit log:', ({changes}) => changes !== undefined],
	['The shell:', ({shellOnly}) => shellOnly === true],
];

export const overviewOf = (specs: readonly VerbSpec[]): string =>
	[
		...groups.flatMap(([title, holds]) => [title, ...twoColumns(specs.filter(holds).map(({name, summary}) => [name, summary])), '']),
		'A PLACE is relative (pods, .., /), absolute (control/pods/default.web-1), or an object as kubectl names it (pod/web-1, deploy/web);',
		'hand/web-1 is the hand of a pod on its node. Tab completes all of them. help VERB tells more of one, with an example.',
		'Why an object is not as it should be, from symptom to cause, is a command of its own: troupe why pod/web-1.',
		'',
	].join('\n');

export const verbHelp = ({name, summary, usage, example: [line, what], flags, changes}: VerbSpec): string =>
	[
		`${name}: ${summary}`,
		'',
		`  ${name} ${usage}`.trimEnd(),
		'',
		'Example:',
		`  ${line}   ${what}`,
		'',
		'Flags:',
		...flagLines({...flags, ...verbFlags}),
		...(changes === undefined ? [] : ['', 'It changes a running actor: admins may, and the audit log has who did.']),
		'',
	].join('\n');
