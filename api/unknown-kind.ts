// What to say of a kind that is not in the catalogue: it is misspelt, in another version, or not there.

import {apiVersionOf, kinds} from './catalogue.js';
import {shown} from './shown.js';
import {suggest} from './suggest.js';

/** Spellings of an older dialect, and the apiVersion it has for all of them. */
const olderKinds = ['Replicaset', 'Hpa'];
const olderVersion = 'v1';

const known = `${kinds
	.slice(0, -1)
	.map(({kind}) => kind)
	.join(', ')} and ${kinds.at(-1)?.kind ?? ''}`;

/** One sentence on a kind that `kindOf` does not find. */
export function unknownKind(apiVersion: string, kind: string): string {
	if (kind === 'Event') return 'an Event is made by the cluster; it cannot be applied';
	if (kind === 'List' || kind.endsWith('List')) return `a ${kind} cannot be applied; make each of its items a document of its own`;
	const sameName = kinds.find(({kind: name}) => name === kind);
	if (sameName !== undefined) return `there is no ${kind} in ${shown(apiVersion)}; its apiVersion is ${apiVersionOf(sameName)}`;
	const inOtherCase = kinds.find(each => apiVersionOf(each) === apiVersion && each.kind.toLowerCase() === kind.toLowerCase());
	if (inOtherCase !== undefined) return `there is no kind ${shown(kind)} in ${shown(apiVersion)}; did you mean ${inOtherCase.kind}?`;
	if (olderKinds.includes(kind)) return `there is no ${kind} in ${shown(apiVersion)}; its apiVersion is ${olderVersion}`;
	const meant = suggest(kind, [...kinds.map(({kind: name}) => name), ...olderKinds]);
	return `there is no kind ${shown(kind)} in ${shown(apiVersion)}; ${meant === undefined ? `there are ${known}` : `did you mean ${meant}?`}`;
}
