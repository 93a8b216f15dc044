// When a probe is tried, and what its results make of a container: thresholds as in Kubernetes (kubelet's prober/worker.go). Pure.

import type {Container, Probe} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {Assignment} from '../../protocol/sync-message.js';
import {instanceIn} from './instance.js';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** That of a manifest, or the one that an instance of a function has by itself. */
export type ContainerProbe = Probe & {readonly runnerListens?: true};

/** One try, which waits until the runner takes calls. */
const runnerProbe: ContainerProbe = {runnerListens: true, timeoutSeconds: limits.functionLoadMs / 1_000, failureThreshold: 1};

export function probeOf(
	kind: ProbeKind,
	{container, assignment}: {readonly container: Container; readonly assignment: Pick<Assignment, 'annotations'>},
): ContainerProbe | undefined {
	const {startupProbe, readinessProbe, livenessProbe} = container;
	const isInstance = instanceIn(container, assignment) !== undefined;
	return {startup: isInstance ? runnerProbe : startupProbe, readiness: readinessProbe, liveness: livenessProbe}[kind];
}

export type ProbeTerms = {
	readonly initialDelayMs: number;
	readonly periodMs: number;
	readonly timeoutMs: number;
	readonly successThreshold: number;
	readonly failureThreshold: number;
};

/** With Kubernetes' defaults for what a manifest does not say; there 0 says nothing, too. */
export const probeTerms = (probe: Probe): ProbeTerms => ({
	initialDelayMs: 1_000 * (probe.initialDelaySeconds ?? 0),
	periodMs: 1_000 * orElse(probe.periodSeconds, 10),
	timeoutMs: 1_000 * orElse(probe.timeoutSeconds, 1),
	successThreshold: orElse(probe.successThreshold, 1),
	failureThreshold: orElse(probe.failureThreshold, 3),
});

const orElse = (value: number | undefined, otherwise: number): number => (value === undefined || value <= 0 ? otherwise : value);

/** The results so far of one attempt. */
export type Tally = {
	/** What stands; undefined: no threshold was reached yet. */
	readonly verdict: boolean | undefined;
	/** How often in a row the last result came. */
	readonly run: number;
	readonly last: boolean | undefined;
};

export const noResults: Tally = {verdict: undefined, run: 0, last: undefined};

/** One result more. */
export function tallied({verdict, run, last}: Tally, passed: boolean, {successThreshold, failureThreshold}: ProbeTerms): Tally {
	const now = passed === last ? run + 1 : 1;
	const isReached = now >= (passed ? successThreshold : failureThreshold);
	return {verdict: isReached ? passed : verdict, run: now, last: passed};
}
