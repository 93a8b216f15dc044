// How quickly a silent member is noticed, from the grace that it has. From 2.5 s on all is as it always was; below that everything that has to
// happen within a grace happens in proportion sooner: beats, their answers, suspicion, and what makes an observer doubt its own hearing.

import {limits} from '../../api/limits.js';

export type Pace = {
	/** Silent for so long, it is dead. */
	readonly graceMs: number;
	/** Without a beat for so long, it is suspect. */
	readonly suspectAfterMs: number;
	/** An observer whose loop stood still for so long cannot tell. */
	readonly observerLagMs: number;
	readonly beatMs: number;
	/** A beat without an answer for so long has another connection dialled. */
	readonly beatAnswerMs: number;
	/** Beats go over two connections: no time is left to find out that one of them waits for TCP to send again. */
	readonly beatsTwice: boolean;
};

export function paceOf(graceMs: number): Pace {
	const share = Math.min(1, graceMs / limits.shortGraceMs);
	return {
		graceMs,
		suspectAfterMs: share * limits.suspectAfterMs,
		observerLagMs: share * limits.observerLagMs,
		beatMs: share * limits.beatMs,
		beatAnswerMs: share * limits.beatAnswerMs,
		beatsTwice: share < 1,
	};
}

export const usualPace = paceOf(limits.nodeGraceMs);
