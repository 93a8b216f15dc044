// A pod's status from those of its containers, as Kubernetes computes it. Pure.

import type {ContainerStatus, PodPhase, PodStatus, RestartPolicy} from '../../api/kinds/pod.js';
import {timestampOf, type Condition} from '../../api/object.js';
import type {Assignment} from '../sync-message.js';
import type {Sandbox} from './runtime-port.js';

export type PodView = {
	readonly assignment: Assignment;
	readonly sandbox: Sandbox | undefined;
	/** Why there is no sandbox, if making one failed. */
	readonly problem: string | undefined;
	/** By container; one that has not spoken yet is missing. */
	readonly containers: {readonly [name: string]: ContainerStatus};
	readonly startedAtMs: number;
	/** What was reported last: conditions keep their transition times. */
	readonly previous: PodStatus | undefined;
};

export function podStatusOf(view: PodView, nowMs: number): PodStatus {
	const {assignment, sandbox, problem, previous, startedAtMs} = view;
	const statuses = assignment.spec.containers.map(container => view.containers[container.name] ?? notYet(container.name, container.image));
	const phase = phaseOf(statuses, assignment.spec.restartPolicy ?? 'Always');
	return {
		phase,
		conditions: conditionsOf(phase, statuses, problem, previous?.conditions ?? [], nowMs),
		...(problem === undefined ? {} : {reason: 'SandboxFailed', message: problem}),
		...(sandbox === undefined
			? {}
			: {hostIP: sandbox.hostIP, hostIPs: [{ip: sandbox.hostIP}], podIP: sandbox.podIP, podIPs: [{ip: sandbox.podIP}]}),
		startTime: timestampOf(startedAtMs),
		containerStatuses: statuses,
	};
}

const notYet = (name: string, image: string): ContainerStatus => ({
	name,
	image,
	imageID: '',
	ready: false,
	started: false,
	restartCount: 0,
	state: {waiting: {reason: 'ContainerCreating'}},
});

function phaseOf(statuses: readonly ContainerStatus[], policy: RestartPolicy): PodPhase {
	const ended = statuses.filter(({state}) => state?.terminated !== undefined);
	if (ended.length === statuses.length && policy !== 'Always') {
		return ended.every(({state}) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
	}
	const lived = ({state, lastState}: ContainerStatus): boolean =>
		state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;
	return statuses.every(lived) ? 'Running' : 'Pending';
}

function conditionsOf(
	phase: PodPhase,
	statuses: readonly ContainerStatus[],
	problem: string | undefined,
	previous: readonly Condition[],
	nowMs: number,
): readonly Condition[] {
	const unready = statuses.filter(({ready}) => !ready).map(({name}) => name);
	const over = phase === 'Succeeded' || phase === 'Failed';
	const reason =
		unready.length === 0
			? {}
			: over
				? {reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted'}
				: {reason: 'ContainersNotReady', message: problem ?? `containers with unready status: [${unready.join(' ')}]`};
	const ready = unready.length === 0 ? 'True' : 'False';
	const wanted: readonly Condition[] = [
		{type: 'Initialized', status: 'True'},
		{type: 'ContainersReady', status: ready, ...reason},
		{type: 'Ready', status: ready, ...reason},
	];
	return wanted.map(condition => {
		const old = previous.find(({type}) => type === condition.type);
		const since = old?.status === condition.status ? old.lastTransitionTime : undefined;
		return {...condition, lastTransitionTime: since ?? timestampOf(nowMs)};
	});
}
