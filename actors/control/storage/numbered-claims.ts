// Claims whose names end in a number, counted by what comes before it: so a StatefulSet of thousands knows that the claims of its pods are as
// they have to be, and looks at none of them. Where there are more, kept of pods that are no more, it looks.

import type {PersistentVolumeClaim} from '../../../api/kinds/persistentvolumeclaim.js';
import type {Filing} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {placeNumber} from '../pods/pod-terms.js';

/** Claims `<base>-<number>` of a namespace that just this owner has; undefined: none has them. */
export const numberedTerm = (namespace: string, base: string, owner: string | undefined): string =>
	`numbered=${namespace}/${base}/${owner ?? ''}`;

/** What the names of such claims add up to. */
export const numberedSumTerm = (term: string): string => `sum-of-${term}`;

/** The terms of a claim by which a StatefulSet counts it, unless it is about to go. */
export function numberedTerms(claim: PersistentVolumeClaim): readonly Filing[] {
	const {name, namespace = '', ownerReferences = []} = claim.metadata;
	const [, base] = /^(.+)-\d+$/.exec(name) ?? [];
	if (base === undefined || isDeleting(claim)) return [];
	const owners = ownerReferences.map(({uid}) => uid);
	const term = numberedTerm(namespace, base, owners.length === 0 ? undefined : owners.join());
	return [term, {term: numberedSumTerm(term), amount: placeNumber(name)}];
}
