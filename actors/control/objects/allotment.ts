// What is given to one object of a kind alone, such as an address: by the collection, which alone knows what it gave and is not committed yet.
//
// A thing is named by the term under which the index files the object that has it: so it is taken until the removal is committed. What was given
// meanwhile is held here. A change that needs something comes from the record to the collection, and goes back to it with that in it.

import {invalid, type Outcome} from '../../../api/errors.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import type {KindDefinition} from '../../../api/kind.js';
import type {ApiObject, Draft} from '../../../api/object.js';
import type {Problem} from '../../../api/problem.js';
import type {Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {aboutObject} from './about-object.js';
import type {PatchObject, ReplaceObject} from './object-message.js';

/** By names of the kind's own: where the search for a free one goes on, so that what was given back is given again last. */
export type Cursors = {readonly [range: string]: number};

export type Stock = {
	readonly known: Known;
	/** Whether another object has it, or is getting it. */
	readonly isTaken: (term: string) => boolean;
	/** Whether the object has it already. */
	readonly isIts: (term: string) => boolean;
	readonly cursors: Cursors;
};

export type Allotted =
	| {readonly ok: true; readonly object: Draft; readonly terms: readonly string[]; readonly cursors: Cursors}
	| {readonly ok: false; readonly problems: readonly Problem[]};

/** How a kind's objects get what each has alone. */
export type Allotment = {
	/** Whether the object lacks something, or has what it did not have before. */
	readonly isDue: (after: Draft, before: ApiObject) => boolean;
	/** The object with all that it needs; or what it cannot have. */
	readonly allot: (wanted: Draft, stock: Stock) => Allotted;
};

/** A change of an object that needs something. */
export type AllotChange = {
	readonly type: 'allot';
	/** What the change makes of the object of this version. */
	readonly object: ApiObject;
	readonly over: string;
	readonly message: ReplaceObject | PatchObject;
	readonly replyTo: PatchObject['replyTo'];
};

/** It goes back to the record: the change with what it needed. */
export type AllottedChange = Omit<AllotChange, 'type'> & {readonly type: 'allotted'};

type Hold = {
	readonly key: ObjectKey;
	/** Of an object that is there; undefined: it is being made. */
	readonly uid: string | undefined;
	/** The name of its record. */
	readonly child: string;
	readonly terms: readonly string[];
};

/** The terms that were given and may not be in the index yet. */
export type Holds = {readonly holds: readonly Hold[]; readonly cursors: Cursors};

export const noHolds: Holds = {holds: [], cursors: {}};

type Wanted = Omit<Hold, 'terms'> & {readonly object: Draft; readonly isDryRun: boolean};

/** The object with what it needs, and what is held then. */
export function allotted(
	definition: KindDefinition,
	allotment: Allotment,
	before: Holds,
	{object, isDryRun, ...wanted}: Wanted,
	context: Context,
): Outcome<{readonly object: Draft; readonly holds: Holds}> {
	const {known} = context;
	const holds = before.holds.filter(hold => isOpen(definition, hold, context) && hold.key !== wanted.key);
	const held = new Set(holds.flatMap(({terms}) => terms));
	const owners = (term: string): readonly ObjectKey[] =>
		[...known.byTerm(definition.plural, term)].map(({metadata}) => objectKey(definition.plural, metadata.namespace, metadata.name));
	const isTaken = (term: string): boolean => held.has(term) || owners(term).some(key => key !== wanted.key);
	const isIts = (term: string): boolean => wanted.uid !== undefined && owners(term).includes(wanted.key);
	const given = allotment.allot(object, {known, isTaken, isIts, cursors: before.cursors});
	if (!given.ok) {
		const about = {...aboutObject(definition, object.metadata.name ?? ''), kind: definition.kind};
		return {ok: false, error: invalid(given.problems, about)};
	}
	if (isDryRun) return {ok: true, value: {object: given.object, holds: before}};
	return {ok: true, value: {object: given.object, holds: {holds: [...holds, {...wanted, terms: given.terms}], cursors: given.cursors}}};
}

/** What was given to a change that its record did not take after all is held until the next one, or until the object is gone. */
function isOpen({plural}: KindDefinition, {key, uid, child, terms}: Hold, {known, hasChild}: Context): boolean {
	const object = known.get(key);
	if (uid === undefined) return object === undefined && hasChild(child);
	return object?.metadata.uid === uid && !terms.every(term => known.countByTerm(plural, term) > 0);
}
