// What the news of its probers make of a container: started, ready, or to be killed.

import {limits} from '../../../api/limits.js';
import {next, type Context} from '../../../system/kernel/behavior.js';
import {podWarning, type PodEvent} from '../../protocol/sync-message.js';
import {restProbers, startProbers, startedPhase} from './container-probers.js';
import {changed, type ContainerActorState, type ContainerNext} from './container-state.js';
import type {RunningPhase} from './container-status.js';
import {endAttempt} from './container-stop.js';
import {probeOf, type ProbeKind} from './probe.js';
import type {ProbeNews} from './prober.js';

/** News of another attempt, or of one that is being ended, are none. */
export function probeNews(state: ContainerActorState, message: ProbeNews, context: Context): ContainerNext {
	const {phase} = state;
	if (phase.type !== 'running' || message.attempt !== state.attempt) return next(state);
	const {probe, passed, failure} = message;
	const events: PodEvent[] =
		failure === undefined ? [] : [{...podWarning('Unhealthy', `${probeTitle[probe]} probe ${failure}`), aspect: probe}];
	switch (probe) {
		case 'readiness':
			return told(state, {...phase, ready: passed === true, isUnsettled: false}, events);
		case 'startup':
			return passed === true ? hasStarted(state, phase, context) : failing(state, phase, message, events, context);
		case 'liveness':
			return failing(state, phase, message, events, context);
	}
}

const probeTitle: Readonly<Record<ProbeKind, string>> = {startup: 'Startup', readiness: 'Readiness', liveness: 'Liveness'};

function told(state: ContainerActorState, phase: RunningPhase, events: readonly PodEvent[]): ContainerNext {
	const now: ContainerActorState = {...state, phase};
	return next(now, [changed(now, events)]);
}

/** The other probes begin. */
function hasStarted(state: ContainerActorState, phase: RunningPhase, {self}: Context): ContainerNext {
	const now = startedPhase(state, phase);
	const {state: started, effects} = told(state, now, []);
	return next(started, [...restProbers(state), ...startProbers(started, now, self), ...effects]);
}

/** Past its threshold the container is ended, and restarted as its pod says; the probe may name a grace of its own. */
function failing(
	state: ContainerActorState,
	phase: RunningPhase,
	{probe, passed}: ProbeNews,
	events: readonly PodEvent[],
	context: Context,
): ContainerNext {
	// One that was adopted and is not known to have started is not ready; liveness says nothing of that.
	const isUnsettled = phase.isUnsettled && probe === 'liveness';
	if (passed !== false)
		return events.length === 0 && isUnsettled === phase.isUnsettled ? next(state) : told(state, {...phase, isUnsettled}, events);
	const {assignment, container} = state;
	const seconds = probeOf(probe, state)?.terminationGracePeriodSeconds ?? assignment.spec.terminationGracePeriodSeconds;
	const message = `container ${container.name} failed its ${probe} probe and is ended`;
	const killing: PodEvent = {event: 'Normal', reason: 'Killing', message};
	return endAttempt(state, 1_000 * (seconds ?? limits.terminationGraceSeconds), [...events, killing], context);
}
