// Looks at the logs of all running containers now and then and rotates those that have grown too large, one after another.

import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/clock.js';
import {logFile} from './attempts.js';
import type {Containers} from './containers.js';
import {explained} from './explained.js';
import {rotateLog} from './logs.js';

/** Goes on until cancelled. */
export function keepRotating(containers: Containers, clock: Clock, limitBytes: number, onWarning: (message: string) => void): Cancel {
	let cancel: Cancel = () => undefined;
	let closed = false;

	function rest(): void {
		if (!closed) cancel = clock.after(limits.logCheckMs, () => rotate([...containers.running()].map(current)));
	}

	function rotate(files: string[]): void {
		const file = files.pop();
		if (file === undefined || closed) return rest();
		rotateLog(file, limitBytes, error => {
			if (error !== undefined) onWarning(`a log was not rotated: ${explained(error)}`);
			rotate(files);
		});
	}

	rest();
	return () => {
		closed = true;
		cancel();
	};
}

const current = ({folder, live, highest}: {folder: string; live: {attempt: number} | undefined; highest: number}): string =>
	logFile(folder, live?.attempt ?? highest);
