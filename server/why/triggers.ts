// Triggers that never see anything.

import {findKind, suggestKind} from '../../api/catalogue.js';
import type {ApiObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {finding, type Finding} from './finding.js';

type Deaf = {readonly name: string; readonly objects?: {readonly kind: string} | undefined};

/** Of the first trigger of the object that cannot see what it is for; undefined where all can. */
export function deafFinding(object: ApiObject, triggers: readonly Deaf[] | undefined): Finding | undefined {
	const deaf = triggers?.find(({objects}) => objects !== undefined && findKind(objects.kind) === undefined);
	if (deaf === undefined) return undefined;
	const kind = deaf.objects?.kind ?? '';
	const meant = suggestKind(kind);
	return finding(object, {
		state: 'wrong',
		is: `has a trigger ${shown(deaf.name)} that never sees anything`,
		because: `there is no kind ${shown(kind)}`,
		next: {says: `its objects.kind has to be one that there is${meant === undefined ? '' : `, such as ${meant}`}`},
	});
}
