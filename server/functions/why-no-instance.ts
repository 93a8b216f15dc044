// Why a function has no instance that takes a call, in the words of the pods that should be ones.

import {functionLabel} from '../../api/function-instance.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

type Name = {readonly namespace: string; readonly name: string};

export function whyNoInstance(index: ObjectIndex, fn: Name, waitedMs: number): string {
	const reasons = podsOf(index, fn)
		.map(troubleOfPod)
		.filter(reason => reason !== undefined);
	const [reason = 'none was free'] = reasons;
	return `no instance took the call within ${Math.round(waitedMs / 100) / 10} s: ${reason}`;
}

/** Whether all that should be instances end again and again before they take calls: another second of waiting is no help. */
export function isHopeless(index: ObjectIndex, fn: Name): boolean {
	const pods = podsOf(index, fn);
	return pods.length > 0 && pods.every(endsAgain);
}

const podsOf = (index: ObjectIndex, {namespace, name}: Name): readonly Pod[] =>
	[...index.select('pods', namespace, {matchLabels: {[functionLabel]: name}})] as readonly Pod[];

function endsAgain({status}: Pod): boolean {
	const [container] = status?.containerStatuses ?? [];
	if (container === undefined || container.ready || container.restartCount < limits.functionHopelessRestarts) return false;
	const last = container.state?.terminated ?? container.lastState?.terminated;
	if (last === undefined) return false;
	const lastedMs = Date.parse(last.finishedAt ?? '') - Date.parse(last.startedAt ?? '');
	return last.exitCode > 0 && last.exitCode < firstOfSignals && lastedMs < limits.functionLoadMs;
}

/** One that was killed, for want of memory say, comes back, and its callers wait for that. */
const firstOfSignals = 128;

function troubleOfPod({metadata, status}: Pod): string | undefined {
	const [container] = status?.containerStatuses ?? [];
	const {waiting} = container?.state ?? {};
	const last = container?.state?.terminated ?? container?.lastState?.terminated;
	const scheduled = status?.conditions?.find(({type}) => type === 'PodScheduled');
	const why = last?.message ?? waiting?.message ?? (scheduled?.status === 'False' ? scheduled.message : undefined);
	return why === undefined ? undefined : `${metadata.name}: ${why.trimEnd()}`;
}
