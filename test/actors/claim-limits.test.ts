// Which new claims a LimitRange refuses.

import test from 'ava';
import type {LimitRangeItem} from '../../api/kinds/limitrange.js';
import {withinClaimLimits} from '../../actors/control/storage/claim-limits.js';
import {aLimitRange, indexOf} from './_objects.js';
import {claimDraft} from './_storage.js';

const refusalOf = (spec: object, ...items: readonly LimitRangeItem[]): string => {
	const outcome = withinClaimLimits(claimDraft('data', spec), indexOf(aLimitRange('a', ...items)));
	return outcome.ok ? 'taken' : outcome.error.message.replace('persistentvolumeclaims "data" is forbidden: ', '');
};

const asking = (storage: string): object => ({resources: {requests: {storage}}});
const bounds: LimitRangeItem = {type: 'PersistentVolumeClaim', min: {storage: '1Gi'}, max: {storage: '10Gi'}};

test('a claim has to request what lies between the least and the most, both included', t => {
	t.is(refusalOf(asking('1Gi'), bounds), 'taken');
	t.is(refusalOf(asking('10Gi'), bounds), 'taken');
	t.is(refusalOf(asking('512Mi'), bounds), 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi');
	t.is(refusalOf(asking('10241Mi'), bounds), 'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 10241Mi');
	t.is(
		refusalOf({resources: {requests: {storage: '20Gi'}, limits: {storage: '1Mi'}}}, bounds),
		'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi',
		'what it says of a limit is not looked at',
	);
});

test('limits of containers and pods say nothing of claims, and what admission will refuse is left to it', t => {
	const others: readonly LimitRangeItem[] = [
		{type: 'Pod', max: {memory: '1Mi'}},
		{type: 'Container', max: {memory: '1Mi'}},
	];
	t.is(refusalOf(asking('1Gi'), ...others), 'taken');
	t.is(refusalOf(asking('none'), bounds), 'taken');
	const draft = claimDraft('data', asking('1Gi'));
	const elsewhere = {...draft, metadata: {name: 'data', namespace: 'shop'}};
	const outcome = withinClaimLimits(elsewhere, indexOf(aLimitRange('a', {type: 'PersistentVolumeClaim', max: {storage: '1Mi'}})));
	t.is(outcome.ok && outcome.value, elsewhere);
});
