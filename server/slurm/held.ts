// Why a SlurmJob does not go on.

import {textSaid} from './slurm-output.js';

/** Now: it is tried again after a pause, or once something else changes that it waits for. */
export class Held extends Error {
	readonly reason: string;
	readonly pause: 'backOff' | 'untilChanged';

	constructor(reason: string, message: string, pause: Held['pause'] = 'backOff') {
		super(message);
		this.reason = reason;
		this.pause = pause;
	}
}

/** For good, unless Slurm has it already: then it is tried again after a long while. */
export class Refused extends Error {
	readonly reason: string;

	constructor(reason: string, message: string) {
		super(message);
		this.reason = reason;
	}
}

/** Slurm itself could not be asked: a code, and what was said instead in base64. */
export function slurmUnavailable(unanswered: string): Held {
	const [code = '', text = ''] = unanswered.split(' ');
	if (code === '127') return new Held('NoSlurm', 'the login node has no squeue and sbatch in the PATH of a login shell');
	return new Held('SlurmUnavailable', `Slurm does not answer: ${textSaid(text)}`);
}
