// How much of the disk a volume takes: what its node counts is kept by the volume and shown by its claim. It is for people: nothing is decided by it.

import {isConditionTrue} from '../../../api/conditions.js';
import type {PersistentVolume, PersistentVolumeStatus} from '../../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaimStatus} from '../../../api/kinds/persistentvolumeclaim.js';
import {storageExceeded} from '../../../api/local-storage.js';
import {memoryText} from '../../../api/quantity.js';
import {amountOf} from '../../../api/resource-amount.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {withCondition} from '../objects/conditions.js';
import {warning} from '../objects/event.js';

const exceeded = 'CapacityExceeded';

/** The volume with what was counted, or as it was where that is much the same. */
export function withUsage(volume: PersistentVolume, usedBytes: number): PersistentVolume {
	const {spec, status} = volume;
	const capacity = amountOf('storage', spec?.capacity['storage']) ?? 0;
	const before = amountOf('storage', status?.used?.['storage']);
	if (status === undefined || (before !== undefined && !isNotable(before, usedBytes, capacity))) return volume;
	const {reason: _, ...rest} = status;
	const shown: PersistentVolumeStatus = {
		...rest,
		used: {storage: memoryText(usedBytes)},
		message: `${memoryText(usedBytes)} of ${memoryText(capacity)} is used`,
		...(usedBytes > capacity ? {reason: exceeded} : {}),
	};
	return {...volume, status: shown};
}

const mebibyte = 1_048_576;

/** A hundredth of its size, or a tenth of what was shown; and whether it is too much. */
const isNotable = (before: number, now: number, capacity: number): boolean =>
	before > capacity !== now > capacity || Math.abs(now - before) >= Math.min(capacity / 100, Math.max(mebibyte, before / 10));

type ClaimUsage = {readonly status: Pick<PersistentVolumeClaimStatus, 'used' | 'conditions'>; readonly effects: readonly Effect[]};

/** What the claim of a volume shows of that, and tells when it has become too much. */
export function usageOfClaim(
	status: PersistentVolumeClaimStatus | undefined,
	{spec, status: shown}: PersistentVolume,
	nowMs: number,
): ClaimUsage {
	const before = status?.conditions;
	if (shown?.used === undefined) return {status: before === undefined ? {} : {conditions: before}, effects: []};
	const isExceeded = shown.reason === exceeded;
	const {message = ''} = shown;
	const condition = {
		type: storageExceeded,
		status: isExceeded ? ('True' as const) : ('False' as const),
		reason: isExceeded ? exceeded : 'WithinCapacity',
		message,
	};
	const isNews = isExceeded && !isConditionTrue(before, storageExceeded);
	return {
		status: {used: shown.used, conditions: withCondition(before, condition, nowMs)},
		effects: isNews
			? [warning(storageExceeded, `${message}: class ${spec?.storageClassName ?? ''} does not enforce sizes, and the disk may fill up`)]
			: [],
	};
}
