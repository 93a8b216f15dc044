// Versions of functions that runs under way began with: each is kept, and can be called, until the last of its runs is over.

import type {FunctionObject} from '../../../api/kinds/function.js';
import type {Run, RunStatus} from '../../../api/kinds/run.js';
import {objectKey} from '../../../api/keys.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Watched} from '../objects/controller.js';
import {revisionOf} from '../workloads/revisions.js';
import {setOfVersion, versionOf} from './function-version.js';

/** A function, as NAMESPACE/NAME, in one version. */
export type Pin = NonNullable<RunStatus['functions']>[number];

const none: readonly Pin[] = [];

/** Those of a run that is under way. */
const pinsOf = (run: Run | undefined): readonly Pin[] =>
	run?.status?.completionTime === undefined ? (run?.status?.functions ?? none) : none;

const term = ({function: name, version}: Pin): string => `function=${name}@${version}`;

/** Made once for each run: it is filed anew with each of its steps. */
const terms = new WeakMap<readonly Pin[], readonly string[]>();

/** The terms under which a run is filed. */
export function pinTerms(run: Run): readonly string[] {
	const pins = pinsOf(run);
	const made = terms.get(pins) ?? pins.map(term);
	terms.set(pins, made);
	return made;
}

const isNamedByRuns = (pin: Pin, known: Pick<Known, 'countByTerm'>): boolean => known.countByTerm('runs', term(pin)) > 0;

/** Whether a run under way began with that version. */
export const isPinned = ({metadata}: FunctionObject, version: string | undefined, known: Pick<Known, 'countByTerm'>): boolean =>
	version !== undefined && isNamedByRuns({function: `${metadata.namespace ?? ''}/${metadata.name}`, version}, known);

/**
 * The functions that have to look since a run began or ended. There may be many runs, so those that find nothing to do are left out: where the version
 * is the newest one and kept already, or other runs go on with it.
 */
export function* functionsConcerned({before, after}: Watched, known: Known): Iterable<FunctionObject> {
	const [was, is] = [pinsOf(before as Run | undefined), pinsOf(after as Run | undefined)];
	if (was.length > 0 === is.length > 0) return;
	for (const pin of is.length > 0 ? is : was) {
		const fn = functionOf(pin, known);
		if (fn !== undefined && (is.length > 0 ? !isKept(fn, pin, known) : versionOf(fn) !== pin.version && !isNamedByRuns(pin, known)))
			yield fn;
	}
}

function functionOf({function: name}: Pin, known: Known): FunctionObject | undefined {
	const slash = name.indexOf('/');
	return known.get(objectKey('functions', name.slice(0, slash), name.slice(slash + 1))) as FunctionObject | undefined;
}

function isKept(fn: FunctionObject, {version}: Pin, known: Known): boolean {
	const set = setOfVersion(fn, version, known);
	return set !== undefined && (versionOf(fn) === version || fn.status?.apart?.includes(revisionOf(set)) === true);
}
