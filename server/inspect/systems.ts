// The systems that can be looked into, and how each is asked: by a message to its inspector.
//
// What a system that is away is sent waits for it, in the same stream as what control has for it. So one that does not answer is sent no more than
// one small question until it does, however many ask; and no more are under way to any than its inspector takes.

import {inspectorOf} from '../../actors/addresses.js';
import {inspectMessage} from '../../actors/inspector.js';
import {failed, type ErrorCode, type Outcome} from '../../api/errors.js';
import {isChange, type FaultLook, type SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import {soundAnswer} from './answer-shape.js';
import {createPartitions, type Partitions} from './partitions.js';

/** For whom a system is asked: why, as its messages tell it, and whether that is an admin. */
export type Behalf = {readonly cause: string; readonly isAdmins: boolean};

export type Systems = {
	/** `control` first, then all others by name. */
	readonly names: () => readonly string[];
	/** The fault that keeps its answers away, as it was made; undefined: none is known. */
	readonly partitionOf: (system: string) => FaultLook | undefined;
	/**
	 * Never rejects. A system that does not answer within the time, or at all, is `ERR_NOT_REACHABLE`; of a change that it may have made before,
	 * as of a fault that takes away the answer, `ERR_OUTCOME_UNKNOWN`. `ERR_BUSY`: too many questions to it are under way.
	 */
	readonly ask: (system: string, request: SystemRequest, behalf: Behalf, deadlineMs: number) => Promise<Outcome<Json>>;
};

/** The system did not answer, and whether it heard is not known. */
const unheard: ReadonlySet<ErrorCode> = new Set(['ERR_NO_SUCH_ACTOR', 'ERR_TIMEOUT', 'ERR_OUTCOME_UNKNOWN', 'ERR_ACTOR_STOPPED']);

/** What is known of one system. */
type Way = {
	open: number;
	answers: number;
	/** It has not answered since it was asked for the last time. */
	isSilent: boolean;
	/** What was said of that then. */
	silence: Outcome<never> | undefined;
	/** The question that a silent one has, and when (monotonic) it may have the next: true when it has answered. */
	probe: Promise<boolean> | undefined;
	nextProbeMs: number;
};

type State = {
	readonly control: Pick<ControlPlane, 'ask' | 'systems'>;
	readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
	readonly ways: Map<string, Way>;
	readonly partitions: Partitions;
};

export function systemsOf(control: State['control'], clock: State['clock']): Systems {
	const state: State = {control, clock, ways: new Map(), partitions: createPartitions(clock)};
	return {
		names: control.systems,
		partitionOf: state.partitions.of,
		async ask(system, request, behalf, withinMs) {
			const way = wayTo(state, system);
			// One that a fault has cut off is asked all the same: its process may have begun anew.
			const deadlineMs = state.partitions.of(system) === undefined ? withinMs : Math.min(withinMs, limits.inspectCutMs);
			if (way.isSilent && !(await isHeard(state, system, way, deadlineMs))) return silenceOf(state, system, way, deadlineMs);
			// What ends a stream makes room.
			if (way.open >= (behalf.isAdmins ? limits.inspectAsks : limits.inspectOthersAsks) && request.verb !== 'close')
				return failed('ERR_BUSY', {address: inspectorOf(system), waiting: way.open});
			const outcome = await send(state, system, way, request, behalf.cause, deadlineMs);
			const code = unheardCode(system, outcome);
			if (code === undefined) {
				if (way.isSilent && !outcome.ok) way.silence = outcome;
				return outcome;
			}
			way.silence = notReachable(system, code, deadlineMs);
			if (isChange(request.verb) && code !== 'ERR_NO_SUCH_ACTOR')
				return failed('ERR_OUTCOME_UNKNOWN', {address: 'place' in request ? request.place : system});
			return silenceOf(state, system, way, deadlineMs);
		},
	};
}

function wayTo({control, ways}: State, system: string): Way {
	const known = ways.get(system);
	if (known !== undefined) return known;
	const names = new Set(control.systems());
	for (const [name, {open}] of ways) if (open === 0 && !names.has(name)) ways.delete(name);
	const way: Way = {open: 0, answers: 0, isSilent: false, silence: undefined, probe: undefined, nextProbeMs: 0};
	ways.set(system, way);
	return way;
}

async function send(
	{control, partitions}: State,
	system: string,
	way: Way,
	request: SystemRequest,
	cause: string,
	deadlineMs: number,
): Promise<Outcome<Json>> {
	const {answers} = way;
	way.open += 1;
	const outcome = soundAnswer(system, request, await control.ask<Json>(inspectorOf(system), inspectMessage(request), {deadlineMs, cause}));
	way.open -= 1;
	// What was not sent, since too much waits for the system already, is `ERR_NOT_REACHABLE`.
	const isAnswered = outcome.ok || (unheardCode(system, outcome) === undefined && outcome.error.code !== 'ERR_NOT_REACHABLE');
	if (isAnswered) {
		way.answers += 1;
		way.silence = undefined;
		partitions.answered(system);
		// From then on nothing is sent that would wait on the way, and be carried out when the fault is over.
		way.isSilent = outcome.ok && partitions.begin(system, request);
	} else if (way.answers === answers) {
		way.isSilent = true;
	}
	return outcome;
}

/** Whether a silent system answers within so long. */
async function isHeard(state: State, system: string, way: Way, withinMs: number): Promise<boolean> {
	const nowMs = state.clock.monotonicMs();
	if (way.probe === undefined) {
		if (nowMs < way.nextProbeMs) return false;
		way.nextProbeMs = nowMs + limits.inspectSystemMs;
		way.probe = send(state, system, way, {verb: 'tree', place: system, depth: 0}, 'inspector', limits.inspectProbeMs).then(() => {
			way.probe = undefined;
			return !way.isSilent;
		});
	}
	let cancel = (): void => undefined;
	const late = new Promise<boolean>(resolve => (cancel = state.clock.after(withinMs, () => resolve(false))));
	const heard = await Promise.race([way.probe, late]);
	cancel();
	return heard;
}

/** Why it did not answer, if it did not. Of another actor it may say the same: then it has answered. */
function unheardCode(system: string, outcome: Outcome<Json>): ErrorCode | undefined {
	if (outcome.ok || outcome.error.details['address'] !== inspectorOf(system)) return undefined;
	return unheard.has(outcome.error.code) ? outcome.error.code : undefined;
}

/** What a silent system is told to be: cut off by a fault, or what was found when it was asked last. */
function silenceOf({partitions}: State, system: string, {silence}: Way, deadlineMs: number): Outcome<Json> {
	const fault = partitions.of(system);
	return fault === undefined
		? (silence ?? notReachable(system, 'ERR_TIMEOUT', deadlineMs))
		: failed('ERR_NOT_REACHABLE', {message: cutOff(system, fault)});
}

const notReachable = (system: string, code: ErrorCode, deadlineMs: number): Outcome<never> =>
	failed('ERR_NOT_REACHABLE', {
		message: code === 'ERR_TIMEOUT' ? `"${system}" did not answer within ${deadlineMs / 1_000} s` : `"${system}" cannot be reached`,
	});

const cutOff = (system: string, {text}: FaultLook): string =>
	`"${system}" cannot be reached, a fault keeps it away: ${text}; it ends by itself, and nobody can end it before`;
