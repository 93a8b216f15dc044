// A pod's status from those of its containers, as Kubernetes computes it. Pure.

import type {Container, ContainerStateWaiting, ContainerStatus, PodPhase, PodStatus} from '../../../api/kinds/pod.js';
import {timestampOf, type Condition} from '../../../api/object.js';
import {sidecarsIn} from '../../../api/sidecars.js';
import type {Assignment} from '../../protocol/sync-message.js';
import {podInitializing} from '../containers/container-status.js';
import type {Sandbox} from '../runtime/runtime-port.js';
import type {PodFailure} from './pod-failure.js';
import {hasSucceeded, startOrderOf, type StartOrder} from './start-order.js';

export type PodView = {
	readonly assignment: Assignment;
	readonly sandbox: Sandbox | undefined;
	/** Why there is no sandbox, if making one failed. */
	readonly problem: string | undefined;
	/** By container, init containers among them; one that has not spoken yet is missing. */
	readonly containers: {readonly [name: string]: ContainerStatus};
	/** What the containers whose turn it is wait for, if it is not there. */
	readonly awaited: ContainerStateWaiting | undefined;
	/** Why the node has ended it; undefined: it has not. */
	readonly failure: PodFailure | undefined;
	readonly startedAtMs: number;
	/** What was reported last: conditions keep their transition times. */
	readonly previous: PodStatus | undefined;
};

export function podStatusOf(view: PodView, nowMs: number): PodStatus {
	const {assignment, sandbox, problem, previous, startedAtMs, failure} = view;
	const {spec} = assignment;
	const order = startOrderOf(spec, view.containers, sandbox?.firstAttempts);
	const shown = (containers: readonly Container[]): readonly ContainerStatus[] =>
		containers.map(container => {
			const status = statusOf(container, view, order);
			// What is being ended runs for a while yet.
			return failure === undefined ? status : {...status, ready: false};
		});
	const statuses = shown(spec.containers);
	const policy = spec.restartPolicy ?? 'Always';
	// In a sandbox that has died containers end to begin again, but for those that nothing starts again.
	const isBetween = policy !== 'Never' && sandbox?.isLost === true;
	const sidecars = shown(sidecarsIn(spec));
	// As the kubelet has it: a pod that has ended has nothing left that runs.
	const mayBeOver = policy !== 'Always' && !isBetween && !sidecars.some(({state}) => state?.running !== undefined);
	const phase = failure === undefined ? phaseOf(statuses, mayBeOver, order) : 'Failed';
	return {
		phase,
		conditions: conditionsOf(phase, [...sidecars, ...statuses], order, problem, previous?.conditions ?? [], nowMs),
		...reasonOf(view),
		...(sandbox === undefined
			? {}
			: {hostIP: sandbox.hostIP, hostIPs: [{ip: sandbox.hostIP}], podIP: sandbox.podIP, podIPs: [{ip: sandbox.podIP}]}),
		startTime: timestampOf(startedAtMs),
		containerStatuses: statuses,
		...(spec.initContainers === undefined ? {} : {initContainerStatuses: shown(spec.initContainers)}),
	};
}

const reasonOf = ({failure, problem}: PodView): Pick<PodStatus, 'reason' | 'message'> =>
	failure ?? (problem === undefined ? {} : noSandbox(problem));

const noSandbox = (problem: string) => ({reason: 'SandboxFailed', message: problem});

/** As its actor says; a container that waits for its turn shows what the pod waits for. */
function statusOf({name, image}: Container, {containers, awaited, problem}: PodView, {mayStart, initialized}: StartOrder): ContainerStatus {
	const told = containers[name];
	if (told !== undefined && told.state?.waiting?.reason !== podInitializing) return told;
	const missing = problem === undefined ? awaited : noSandbox(problem);
	const waiting = (mayStart.includes(name) ? missing : undefined) ?? {reason: initialized ? 'ContainerCreating' : podInitializing};
	if (told !== undefined) return {...told, state: {waiting}};
	return {name, image, imageID: '', ready: false, started: false, restartCount: 0, state: {waiting}};
}

function phaseOf(statuses: readonly ContainerStatus[], mayBeOver: boolean, {initialized, failed}: StartOrder): PodPhase {
	if (!initialized) return failed && mayBeOver ? 'Failed' : 'Pending';
	const ended = statuses.filter(({state}) => state?.terminated !== undefined);
	if (ended.length === statuses.length && mayBeOver) return ended.every(hasSucceeded) ? 'Succeeded' : 'Failed';
	const lived = ({state, lastState}: ContainerStatus): boolean =>
		state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;
	return statuses.every(lived) ? 'Running' : 'Pending';
}

function conditionsOf(
	phase: PodPhase,
	statuses: readonly ContainerStatus[],
	{incomplete}: StartOrder,
	problem: string | undefined,
	previous: readonly Condition[],
	nowMs: number,
): readonly Condition[] {
	const readiness = readinessOf(phase, statuses, problem);
	const wanted: readonly Condition[] = [
		incomplete.length === 0 ? {type: 'Initialized', status: 'True'} : notInitialized(incomplete),
		{type: 'ContainersReady', ...readiness},
		{type: 'Ready', ...readiness},
	];
	return wanted.map(condition => {
		const old = previous.find(({type}) => type === condition.type);
		const since = old?.status === condition.status ? old.lastTransitionTime : undefined;
		return {...condition, lastTransitionTime: since ?? timestampOf(nowMs)};
	});
}

function readinessOf(phase: PodPhase, statuses: readonly ContainerStatus[], problem: string | undefined): Omit<Condition, 'type'> {
	if (phase === 'Failed') return {status: 'False', reason: 'PodFailed'};
	if (phase === 'Succeeded') return {status: 'False', reason: 'PodCompleted'};
	const unready = statuses.filter(({ready}) => !ready).map(({name}) => name);
	if (unready.length === 0) return {status: 'True'};
	return {status: 'False', reason: 'ContainersNotReady', message: problem ?? `containers with unready status: [${unready.join(' ')}]`};
}

const notInitialized = (incomplete: readonly string[]): Condition => ({
	type: 'Initialized',
	status: 'False',
	reason: 'ContainersNotInitialized',
	message: `containers with incomplete status: [${incomplete.join(' ')}]`,
});
