// The systems that can be looked into, and how each is asked: by a message to its inspector.

import {inspectorOf} from '../../actors/addresses.js';
import {inspectMessage} from '../../actors/inspector.js';
import {failed, type ErrorCode, type Outcome} from '../../api/errors.js';
import {isChange, type SystemRequest} from '../../api/inspect.js';
import type {Json} from '../../api/object.js';
import type {ControlPlane} from '../control-plane.js';
import {soundAnswer} from './answer-shape.js';

export type Systems = {
	/** `control` first, then all others by name. */
	readonly names: () => readonly string[];
	/**
	 * Never rejects. A system that does not answer within the time, or at all, is `ERR_NOT_REACHABLE`; of a change that it may have made before,
	 * as of a fault that takes away the answer, `ERR_OUTCOME_UNKNOWN`.
	 */
	readonly ask: (
		system: string,
		request: SystemRequest,
		options: {readonly deadlineMs: number; readonly cause: string},
	) => Promise<Outcome<Json>>;
};

/** The system did not answer, and whether it heard is not known. */
const unheard: ReadonlySet<ErrorCode> = new Set(['ERR_NO_SUCH_ACTOR', 'ERR_TIMEOUT', 'ERR_OUTCOME_UNKNOWN', 'ERR_ACTOR_STOPPED']);

export const systemsOf = ({ask, systems}: Pick<ControlPlane, 'ask' | 'systems'>): Systems => ({
	names: systems,
	async ask(system, request, options) {
		const inspector = inspectorOf(system);
		const outcome = soundAnswer(system, request, await ask<Json>(inspector, inspectMessage(request), options));
		// Of another actor it may say the same: then it has answered.
		const isUnheard = !outcome.ok && unheard.has(outcome.error.code) && outcome.error.details['address'] === inspector;
		if (!isUnheard) return outcome;
		if (isChange(request.verb) && outcome.error.code !== 'ERR_NO_SUCH_ACTOR')
			return failed('ERR_OUTCOME_UNKNOWN', {address: 'place' in request ? request.place : system});
		return failed('ERR_NOT_REACHABLE', {message: wordsOf(system, outcome.error.code, options.deadlineMs)});
	},
});

const wordsOf = (system: string, code: ErrorCode, deadlineMs: number): string =>
	code === 'ERR_TIMEOUT' ? `"${system}" did not answer within ${deadlineMs / 1_000} s` : `"${system}" cannot be reached`;
