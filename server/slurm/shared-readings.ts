// Readings of files at login nodes that several ask for: one for all that ask while it is under way, and, at the end of a file, for as long as a reader
// that follows it waits between two looks.

import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';

type Reading = Promise<Buffer | undefined>;

/** `key` names the file and the place in it, `most` how many bytes are asked for. */
export type SharedReadings = (key: string, most: number, read: () => Reading) => Reading;

export function createSharedReadings(clock: Clock): SharedReadings {
	const readings = new Map<string, Reading>();
	return (key, most, read) => {
		const known = readings.get(key);
		if (known !== undefined) return known;
		const reading = read();
		readings.set(key, reading);
		const forget = (): void => void readings.delete(key);
		reading.then(piece => {
			// What is not at the end each reads at its own pace: all of it would be much to keep.
			const isKept = (piece?.length ?? 0) < most && readings.size <= limits.slurmSharedReadings;
			if (isKept) clock.after(limits.slurmLogPauseMs, forget);
			else forget();
		}, forget);
		return reading;
	};
}
