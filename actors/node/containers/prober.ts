// One probe of one attempt of a container: tries it, one try after another, and tells the container what changed.
//
// It is started when the attempt is to be probed and stopped when that is over, so that a crash of it costs no more than the results it
// had counted. Between two tries there is a timer and nothing else.

import type {Container} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {actionOf} from './action.js';
import {perform} from '../runtime/perform.js';
import {noResults, probeTerms, tallied, type ContainerProbe, type ProbeKind, type Tally} from './probe.js';
import type {ActionResult, ContainerId} from '../runtime/runtime-port.js';

export type ProberInput = {
	readonly kind: ProbeKind;
	readonly probe: ContainerProbe;
	readonly container: Container;
	readonly id: ContainerId;
	readonly podIP: string;
	readonly attempt: number;
	/** Of the attempt: the initial delay counts from there. */
	readonly startedAtMs: number;
	/** It ran before this agent did: others have been found as well. */
	readonly isAdopted: boolean;
	/** The container. */
	readonly owner: string;
};

export type ProberMessage = {readonly type: 'round'} | Reply<ActionResult, 'probed'>;

export type ProberState = ProberInput & {
	readonly tally: Tally;
	/** Of the round that runs, or ran last. */
	readonly roundAtMs: number;
	/** Tries in a row that could not be made. */
	readonly untried: number;
	readonly problem: string | undefined;
};

/** Told to the container. */
export type ProbeNews = {
	readonly type: 'probeNews';
	readonly probe: ProbeKind;
	readonly attempt: number;
	/** What stands now; undefined: nothing yet. */
	readonly passed: boolean | undefined;
	/** Why the last try failed, when it is to be told. */
	readonly failure: string | undefined;
};

export const prober: Behavior<ProberInput, ProberState, ProberMessage> = {
	kind: 'Prober',
	init: begin,
	receive(state, message, context) {
		switch (message.type) {
			case 'round':
				return round(state, context);
			case 'probed':
				return probed(state, message, context);
		}
	},
	pastIntensity: 'backOff',
	describe,
	trouble: state => (state.tally.verdict === false && state.tally.last === false ? describe(state) : undefined),
};

function describe({tally: {verdict, run, last}, problem}: ProberState): string {
	if (last === undefined) return problem ?? 'no result yet';
	const results = `${last ? 'passed' : 'failed'} ${run} in a row`;
	return `${verdict === true ? 'passed' : verdict === false ? 'failed' : 'not decided'}: ${results}${problem === undefined ? '' : `, ${problem}`}`;
}

function begin(input: ProberInput, {nowMs, random}: Context): Next<ProberState> {
	const {initialDelayMs, periodMs} = probeTerms(input.probe);
	// All that an agent finds would be tried in the same moment.
	const spreadMs = input.isAdopted ? Math.floor(random.next() * Math.min(periodMs, limits.probeSpreadMs)) : 0;
	const atMs = Math.max(nowMs + spreadMs, input.startedAtMs + initialDelayMs);
	const state: ProberState = {...input, tally: noResults, roundAtMs: atMs, untried: 0, problem: undefined};
	return next(state, [roundAt(input, atMs, Math.max(spreadMs, initialDelayMs))]);
}

const roundAt = ({kind, container}: ProberInput, atMs: number, atMostMs: number): Effect => ({
	type: 'wakeAt',
	name: 'round',
	atMs,
	atMostMs,
	message: {type: 'round'},
	cause: `${kind} probe of ${container.name}`,
});

function round(state: ProberState, {nowMs}: Context): Next<ProberState> {
	const {probe, container, podIP, id, kind, attempt} = state;
	const {timeoutMs} = probeTerms(probe);
	const trying: ProberState = {...state, roundAtMs: nowMs};
	const action = actionOf(probe, container, podIP);
	if (!action.ok) return untried(trying, action.problem, nowMs);
	// Without a number of the round: what an instance that crashed has asked for is joined, and never runs beside it.
	const key = `${id.uid}/${id.container}/probe/${kind}/${attempt}`;
	return next(trying, [
		perform({type: 'container.act', id, action: action.value, timeoutMs}, key, 'probed', timeoutMs + limits.actSlackMs),
	]);
}

function probed(state: ProberState, {outcome}: Reply<ActionResult, 'probed'>, {nowMs}: Context): Next<ProberState> {
	if (outcome.ok) return counted(state, outcome.value, nowMs);
	if (outcome.error.code !== 'ERR_TIMEOUT') return untried(state, outcome.error.message, nowMs);
	return counted(state, {ok: false, message: `no answer within ${probeTerms(state.probe).timeoutMs / 1_000} s`}, nowMs);
}

/**
 * As in Kubernetes a try that could not be made is no result: counted, it would kill what may be well. One such is what happens when
 * the container ends meanwhile; two are told.
 */
function untried(state: ProberState, problem: string, nowMs: number): Next<ProberState> {
	const now: ProberState = {...state, untried: state.untried + 1, problem};
	return next(now, [again(now, nowMs), ...(now.untried === 2 ? [news(now, `could not be tried: ${problem}`)] : [])]);
}

function counted(state: ProberState, {ok, message}: ActionResult, nowMs: number): Next<ProberState> {
	const {kind, probe, isAdopted, tally: before} = state;
	const terms = probeTerms(probe);
	const counted = tallied(before, ok, terms);
	const isFirst = before.last === undefined;
	// What ran before is as its first result says, until more of them say otherwise.
	const isKnownAtOnce = isAdopted && isFirst && (kind === 'readiness' || (kind === 'startup' && ok));
	const tally: Tally = isKnownAtOnce ? {...counted, verdict: ok} : counted;
	const now: ProberState = {...state, tally, untried: 0, problem: ok ? undefined : message};
	const hasTurned = tally.verdict !== before.verdict;
	const isNews = hasTurned || (isAdopted && isFirst) || (!ok && tally.run === 1);
	const isOver = hasTurned && (kind === 'startup' || (kind === 'liveness' && !ok));
	return next(now, [...(isOver ? [] : [again(now, nowMs)]), ...(isNews ? [news(now, ok ? undefined : `failed: ${message}`)] : [])]);
}

/** A round that took longer than the period is followed at once by the next. */
function again(state: ProberState, nowMs: number): Effect {
	const {periodMs} = probeTerms(state.probe);
	return roundAt(state, Math.max(nowMs, state.roundAtMs + periodMs), periodMs);
}

function news({owner, kind, attempt, tally}: ProberState, failure: string | undefined): Effect {
	const message: ProbeNews = {type: 'probeNews', probe: kind, attempt, passed: tally.verdict, failure};
	return tell(owner, message);
}
