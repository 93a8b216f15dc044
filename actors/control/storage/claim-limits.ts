// What the LimitRanges of its namespace make of a new claim: one that asks for too much or too little is refused.

import {admitCreate} from '../../../api/admission.js';
import type {Outcome} from '../../../api/errors.js';
import type {PersistentVolumeClaimSpec} from '../../../api/kinds/persistentvolumeclaim.js';
import type {Draft} from '../../../api/object.js';
import {amountOf} from '../../../api/resource-amount.js';
import type {Known} from '../../../system/index/object-index.js';
import {claims} from '../../config-references.js';
import {brokenByRequest, limitsFor, unlessBroken} from '../objects/limit-range.js';

/** The draft, or what of it breaks a limit. One that admission will refuse is left to it. */
export function withinClaimLimits(draft: Draft, known: Known): Outcome<Draft> {
	const items = limitsFor(draft, known).filter(({type}) => type === 'PersistentVolumeClaim');
	if (items.length === 0) return {ok: true, value: draft};
	const admitted = admitCreate(draft);
	if (!admitted.ok) return {ok: true, value: draft};
	const {resources} = admitted.value.spec as PersistentVolumeClaimSpec;
	const broken = items.flatMap(item => brokenByRequest(item, resource => amountOf(resource, resources.requests?.[resource])));
	return unlessBroken(claims, draft, broken);
}
