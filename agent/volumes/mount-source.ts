// What of a volume a container sees: a place on the node without links, which the volume holds.

import path from 'node:path';
import {isRelativeDown, isWithin, makeFoldersBeneath, resolved} from '../os/beneath.js';
import {hostPathOf, refusalOf, type HostPaths} from './host-paths.js';
import type {VolumeRecord} from './volumes.js';

/** Why a container cannot have its mounts. */
export class Refusal extends Error {}

export type Refused = (reason: string) => Refusal;

/** What the agent may look into. */
export type LocalRecord = Exclude<VolumeRecord, {type: 'nfs'}>;

export const downOnly = (subPath: string): string => `subPath must lead down, got ${JSON.stringify(subPath)}`;

/**
 * The whole of it, or what is at its subPath; a folder that is missing there is made where programs may write. Programs may exchange what is on the way
 * afterwards. Throws a Refusal, or errno exceptions.
 */
export function placeIn(record: LocalRecord, subPath: string | undefined, hostPaths: HostPaths, refused: Refused): string {
	const top = placeOf(record, hostPaths, refused);
	const place = subPath === undefined || subPath === '' ? top : beneath(top, subPath, record, refused);
	const refusal = record.type === 'hostPath' ? refusalOf(record.path, place, hostPaths) : undefined;
	if (refusal !== undefined) throw refused(refusal);
	return place;
}

function placeOf(record: LocalRecord, hostPaths: HostPaths, refused: Refused): string {
	if (record.type === 'hostPath') {
		const found = hostPathOf(record.path, record.check, hostPaths);
		if (!found.ok) throw refused(found.reason);
		return found.path;
	}
	const {place, missing} = resolved(record.place);
	if (missing.length > 0) throw refused('it is not there any more');
	return place;
}

/** Links in a volume lead on as long as they stay in it. */
function beneath(top: string, subPath: string, record: LocalRecord, refused: Refused): string {
	if (!isRelativeDown(subPath)) throw refused(downOnly(subPath));
	const {place, missing} = resolved(path.join(top, subPath));
	if (!isWithin(top, place)) throw refused(`subPath "${subPath}" leads out of the volume`);
	if (missing.length === 0) return place;
	const isMade = record.type === 'scratch' || (record.type === 'hostPath' && record.check === 'DirectoryOrCreate');
	if (!isMade) throw refused(`there is no "${subPath}" in it`);
	makeFoldersBeneath(top, path.relative(top, place));
	return place;
}
