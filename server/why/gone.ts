// Why an object is gone, and how it was before.

import {kindByPlural} from '../../api/catalogue.js';
import {conditionOf} from '../../api/conditions.js';
import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {JournalEntry, ObjectEvent} from '../control-plane.js';
import {answerOf} from './cause.js';
import {conditionsOf} from './common.js';
import {lengthText, titleOf, type Finding} from './finding.js';

export type Gone = {
	readonly goneAtMs: number | undefined;
	/** Its deletion, and those of what owned it that were asked for before, the owner furthest up last. */
	readonly deletions: readonly Deletion[];
	readonly nowMs: number;
};

export type Deletion = {
	/** The commit that asked for it. */
	readonly askedVersion: number | undefined;
	/** Of what was deleted. */
	readonly journal: readonly JournalEntry[];
};

/** `found`: as it was when its deletion was asked for. */
export function goneAnswer(object: ApiObject, found: Finding, gone: Gone): string {
	const target = conditionOf(conditionsOf(object), 'DisruptionTarget');
	const left = target?.status === 'True' && target.message !== undefined ? `: ${target.message}` : '';
	const before = found.state === 'fine' ? 'Before that nothing was wrong with it.' : `Before that: ${answerOf(object, found)}`;
	return `${titleOf(object)} ${goneText(gone)}${left === '' ? causeText(gone) : left}. ${before}`;
}

/** Nothing is known of what it was: the control plane has started since, or too many others went after it. */
export function forgottenAnswer(key: ObjectKey, events: readonly ObjectEvent[], gone: Gone): string {
	const {plural, name} = parseObjectKey(key);
	const told = events.findLast(({type}) => type === 'Warning') ?? events.at(-1);
	const last =
		told === undefined
			? ''
			: ` The last that was told of it, ${lengthText(gone.nowMs - told.lastAtMs)} ago: ${told.reason}: ${told.message}.`;
	return `${kindByPlural(plural)?.kind ?? plural} ${name} ${goneText(gone)}${causeText(gone)}, and how it was is not known any more.${last}`;
}

const goneText = ({goneAtMs, nowMs}: Gone): string =>
	goneAtMs === undefined ? 'is gone' : `has been gone for ${lengthText(nowMs - goneAtMs)}`;

/** What asked for its deletion, or for that of what owned it: the pods of a set that goes may be let go by whatever came to it next. */
function causeText({deletions}: Gone): string {
	const cause = deletions.map(causeOf).findLast(each => each !== '') ?? '';
	return cause === '' ? '' : `, because of ${cause}`;
}

const causeOf = ({journal, askedVersion}: Deletion): string =>
	(journal.find(({version}) => version === askedVersion) ?? journal.findLast(({type}) => type === 'delete'))?.cause ?? '';
