// What to say of a kind that is not in the catalogue: it is misspelt, in another version, or not there yet.

import {apiVersionOf, kinds} from './catalogue.js';
import {shown} from './shown.js';
import {suggest} from './suggest.js';

/** Kinds that later versions have, in all their spellings. */
const laterKinds = [
	'Deployment',
	'Dns',
	'EndpointSlice',
	'Event',
	'Function',
	'HorizontalPodAutoscaler',
	'Hpa',
	'Job',
	'Service',
	'SlurmJob',
	'Workflow',
];

const known = `${kinds
	.slice(0, -1)
	.map(({kind}) => kind)
	.join(', ')} and ${kinds.at(-1)?.kind ?? ''}`;

/** The kind of a later version, from a word of a command line: singular or plural, in any case. */
export const laterKind = (word: string): string | undefined =>
	laterKinds.find(kind => [kind, `${kind}s`].some(spelling => spelling.toLowerCase() === word.toLowerCase()));

/** One sentence on a kind that `kindOf` does not find. */
export function unknownKind(apiVersion: string, kind: string): string {
	if (laterKinds.includes(kind)) return `the kind ${kind} is not in this version yet; it has ${known}`;
	if (kind === 'List' || kind.endsWith('List')) return `a ${kind} cannot be applied; make each of its items a document of its own`;
	const sameName = kinds.find(({kind: name}) => name === kind);
	if (sameName !== undefined) return `there is no ${kind} in ${shown(apiVersion)}; its apiVersion is ${apiVersionOf(sameName)}`;
	const meant = suggest(kind, [...kinds.map(({kind: name}) => name), ...laterKinds]);
	return `there is no kind ${shown(kind)} in ${shown(apiVersion)}; ${meant === undefined ? `there are ${known}` : `did you mean ${meant}?`}`;
}
