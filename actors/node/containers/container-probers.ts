// The probers of a container that runs: which there are, and when.

import type {Effect} from '../../../system/kernel/behavior.js';
import {idOf, type ContainerActorState} from './container-state.js';
import type {RunningPhase} from './container-status.js';
import {probeOf, type ProbeKind} from './probe.js';
import {prober, type ProberInput} from './prober.js';
import type {RunningContainer} from '../runtime/runtime-port.js';

/** With the attempt in its name, so that one of the next attempt never waits for one of the last to end. */
const childOf = (kind: ProbeKind, attempt: number): string => `${kind}-${attempt}`;

/** The startup probe holds the others back. */
const kindsFor = (state: ContainerActorState, isStarted: boolean): readonly ProbeKind[] => {
	if (state.role === 'init') return [];
	const kinds: readonly ProbeKind[] = isStarted ? ['readiness', 'liveness'] : ['startup'];
	return kinds.filter(kind => probeOf(kind, state) !== undefined);
};

const has = (state: ContainerActorState, kind: ProbeKind): boolean => state.role !== 'init' && probeOf(kind, state) !== undefined;

/** How an attempt begins to run, before any result: without a probe it is well. */
export function runningPhase(state: ContainerActorState, running: RunningContainer, isAdopted: boolean): RunningPhase {
	const started = !has(state, 'startup');
	const ready = started && !has(state, 'readiness');
	return {type: 'running', running, started, ready, isAdopted, isUnsettled: isAdopted && !ready};
}

/** The startup probe has passed: without a readiness probe it is ready. */
export function startedPhase(state: ContainerActorState, phase: RunningPhase): RunningPhase {
	const ready = !has(state, 'readiness');
	return {...phase, started: true, ready, isUnsettled: phase.isUnsettled && !ready};
}

/** Starts those of a container that runs; of one that has started others than before. */
export const startProbers = (state: ContainerActorState, phase: RunningPhase, self: string): readonly Effect[] =>
	kindsFor(state, phase.started).flatMap((kind): Effect[] => {
		const {container, sandbox, attempt} = state;
		const probe = probeOf(kind, state);
		if (probe === undefined) return [];
		const input: ProberInput = {
			kind,
			probe,
			container,
			id: idOf(state),
			podIP: sandbox.podIP,
			attempt,
			startedAtMs: phase.running.startedAtMs,
			isAdopted: phase.isAdopted,
			owner: self,
		};
		return [{type: 'spawn', name: childOf(kind, attempt), behavior: prober.kind, input, restart: 'permanent'}];
	});

/** The attempt is over, or to end: nothing is to be known of it any more. */
export const restProbers = (state: ContainerActorState): readonly Effect[] =>
	state.phase.type !== 'running'
		? []
		: kindsFor(state, state.phase.started).map(kind => ({type: 'stopChild', name: childOf(kind, state.attempt)}));
