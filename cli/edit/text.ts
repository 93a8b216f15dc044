// What stands in the file that is edited: remarks in lines that begin with #, then the object. Pure.

import {deepEqual} from '../../api/equal.js';
import type {JsonObject} from '../../api/object.js';
import type {Fault} from '../manifests/faults.js';
import {parseManifest} from '../manifests/manifest.js';

const introduction = [
	'Edit the object below. Lines that begin with # are ignored, an empty file changes nothing.',
	'What only the cluster sets is not shown.',
];

/** The text with the remarks in front of it: how it works, and what was wrong with it the last time. */
export function withRemarks(body: string, faults: readonly Fault[]): string {
	const lines = [...introduction, ...(faults.length === 0 ? [] : ['', 'It was not taken:'])];
	const offset = lines.length + faults.length + 2;
	const remarks = ['', ...lines, ...faults.map(fault => remarkOf(fault, offset)), ''].map(line => `# ${line}`.trimEnd());
	return [...remarks, body].join('\n');
}

/** Lines are counted in the file as it is seen next, remarks included. */
const remarkOf = ({place, message}: Fault, offset: number): string =>
	`${'line' in place ? `line ${place.line + offset}: ` : ''}${message.replaceAll('\n', ' ')}`;

/** The text without the remarks in front. */
export const withoutRemarks = (text: string): string => text.replace(/^\uFEFF?(#.*(\r?\n|$))*/, '');

export type Edited =
	| {readonly type: 'empty'}
	| {readonly type: 'unchanged'}
	| {readonly type: 'wrong'; readonly faults: readonly Fault[]}
	| {readonly type: 'changed'; readonly value: JsonObject; readonly locate: (path: string) => Fault['place']};

/** What became of the object in the text without remarks. */
export function readEdited(body: string, original: JsonObject, form: 'yaml' | 'json'): Edited {
	const {documents, faults} = parseManifest(`edited.${form}`, body);
	const [document, ...more] = documents;
	if (faults.length > 0) return {type: 'wrong', faults};
	if (document === undefined) return {type: 'empty'};
	if (more.length > 0)
		return {type: 'wrong', faults: more.map(({locate}) => ({place: locate(''), message: 'there must be one object', code: 'ERR_INVALID'}))};
	if (deepEqual(document.value, original)) return {type: 'unchanged'};
	return {type: 'changed', value: document.value, locate: document.locate};
}
