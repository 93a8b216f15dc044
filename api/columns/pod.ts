// A pod's row as kubectl shows it, with one thing more: a container that waits for its retry says when and why.

import {conditionOf, isConditionTrue} from '../conditions.js';
import {ageSince} from '../duration.js';
import type {Column} from '../kind.js';
import type {ApiObject} from '../object.js';
import {sidecarsIn} from '../sidecars.js';
import type {ContainerStateTerminated, ContainerStatus, Pod} from '../shapes/pod.js';
import {ageColumn, column, nameColumn, none, wideColumn} from './common.js';

const asPod = (object: ApiObject): Pod => object as Pod;
const containersOf = (pod: Pod): readonly ContainerStatus[] => pod.status?.containerStatuses ?? [];
const initContainersOf = (pod: Pod): readonly ContainerStatus[] => pod.status?.initContainerStatuses ?? [];
const isOfSidecar = ({spec}: Pod, {name}: ContainerStatus): boolean =>
	spec !== undefined && sidecarsIn(spec).some(sidecar => sidecar.name === name);
const sidecarsOf = (pod: Pod): readonly ContainerStatus[] => initContainersOf(pod).filter(status => isOfSidecar(pod, status));
const isReadySidecar = ({ready, started}: ContainerStatus): boolean => ready && started === true;
const runs = ({ready, state}: ContainerStatus): boolean => ready && state?.running !== undefined;

/** One or two words on how the pod is (kubectl's printPod). */
function podStatusText(pod: Pod, nowMs: number): string {
	const {status} = pod;
	// What was heard of it last is old.
	if (conditionOf(status?.conditions, 'Ready')?.reason === 'NodeLost') return 'Unknown';
	if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
	// It was ended for a reason of its own: what became of its containers follows from that.
	if (status?.phase === 'Failed' && status.reason !== undefined) return status.reason;
	const init = initText(pod);
	if (init !== undefined) return init;
	const text = containerText(pod, nowMs) ?? status?.reason ?? status?.phase ?? 'Unknown';
	if (text !== 'Completed' || !containersOf(pod).some(runs)) return text;
	return isConditionTrue(status?.conditions, 'Ready') ? 'Running' : 'NotReady';
}

/** `Init:0/2`, or what keeps the first init container that is not done; undefined when all are. */
function initText(pod: Pod): string | undefined {
	const statuses = initContainersOf(pod);
	const at = statuses.findIndex(
		status => status.state?.terminated?.exitCode !== 0 && !(status.started === true && isOfSidecar(pod, status)),
	);
	const state = statuses[at]?.state;
	if (at < 0 || isConditionTrue(pod.status?.conditions, 'Initialized')) return undefined;
	const {waiting, terminated} = state ?? {};
	if (terminated !== undefined) return `Init:${endText(terminated)}`;
	const reason = waitingText(waiting);
	return reason === '' || reason === 'PodInitializing' ? `Init:${at}/${pod.spec?.initContainers?.length ?? 0}` : `Init:${reason}`;
}

/** The first container that has something to say. */
function containerText(pod: Pod, nowMs: number): string | undefined {
	for (const container of containersOf(pod)) {
		const text = stateText(container, nowMs);
		if (text !== undefined) return text;
	}
	return undefined;
}

function stateText(container: ContainerStatus, nowMs: number): string | undefined {
	const {waiting, terminated} = container.state ?? {};
	if (waiting?.retryAt !== undefined) return retryText(container, waiting.retryAt, nowMs);
	if (waiting?.reason !== undefined && waiting.reason !== '') return waitingText(waiting);
	return terminated === undefined ? undefined : endText(terminated);
}

/** `Pulling 43%`: how far it is stands before all else in its message. */
function waitingText({reason = '', message = ''}: NonNullable<ContainerStatus['state']>['waiting'] = {}): string {
	const [, percent] = /^(\d{1,3}) %/.exec(reason === 'Pulling' ? message : '') ?? [];
	return percent === undefined ? reason : `${reason} ${percent}%`;
}

function endText({reason = '', signal = 0, exitCode}: ContainerStateTerminated): string {
	if (reason !== '') return reason;
	return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

/** `retry 4 in 3 s: exit 137`; what was out of memory, or could not even start, says so instead: `retry 9 in 4 min: RunContainerError`. */
function retryText({restartCount, lastState, state}: ContainerStatus, retryAt: string, nowMs: number): string {
	const waitMs = Date.parse(retryAt) - nowMs;
	const {exitCode: code, reason: ended} = lastState?.terminated ?? state?.terminated ?? {};
	const end = ended === 'OOMKilled' ? ended : code === undefined || code < 0 ? 'exit code unknown' : `exit ${code}`;
	const reason = state?.waiting?.reason ?? '';
	const why = reason === '' || reason === 'CrashLoopBackOff' ? end : reason;
	return `retry ${state?.waiting?.retry ?? restartCount + 1} in ${Number.isNaN(waitMs) ? '?' : waitText(Math.max(0, waitMs))}: ${why}`;
}

const waitText = (ms: number): string => (ms < 120_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.ceil(ms / 60_000)} min`);

/** `3 (5m ago)`. */
function restartsText(pod: Pod, nowMs: number): string {
	const counted = initText(pod) === undefined ? [...sidecarsOf(pod), ...containersOf(pod)] : initContainersOf(pod);
	const restarts = counted.reduce((sum, {restartCount}) => sum + restartCount, 0);
	const ends = counted.flatMap(({lastState}) => lastState?.terminated?.finishedAt ?? []);
	const last = ends.sort().at(-1);
	return restarts === 0 || last === undefined ? String(restarts) : `${restarts} (${ageSince(last, nowMs)} ago)`;
}

function readyText(pod: Pod): string {
	const ready = containersOf(pod).filter(runs).length + sidecarsOf(pod).filter(isReadySidecar).length;
	return `${ready}/${(pod.spec?.containers.length ?? 0) + (pod.spec === undefined ? 0 : sidecarsIn(pod.spec).length)}`;
}

export const podColumns: readonly Column[] = [
	nameColumn,
	column('Ready', 'How many of the containers are ready.', object => readyText(asPod(object))),
	column('Status', 'How the pod is.', (object, nowMs) => podStatusText(asPod(object), nowMs)),
	column('Restarts', 'How often containers were restarted, and when last.', (object, nowMs) => restartsText(asPod(object), nowMs)),
	ageColumn,
	wideColumn('IP', 'Where the pod listens.', object => asPod(object).status?.podIP ?? none),
	wideColumn('Node', 'The node it is bound to.', object => asPod(object).spec?.nodeName ?? none),
	wideColumn('Nominated Node', 'The node it may get.', object => asPod(object).status?.nominatedNodeName ?? none),
	wideColumn('Readiness Gates', 'Further conditions of readiness.', () => none),
];
