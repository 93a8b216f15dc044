// Why a function has no instance that takes a call, in the words of the pods that should be ones.

import {isMeant} from '../../actors/control/functions/instances.js';
import {versionOfSet} from '../../actors/control/functions/function-version.js';
import type {Acquire} from '../../actors/control/functions/function-message.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import {functionLabel} from '../../api/function-instance.js';
import {objectKey} from '../../api/keys.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {limits} from '../../api/limits.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

type Name = {readonly namespace: string; readonly name: string};

/** Which instances of it take the call. */
type Wanted = Pick<Acquire, 'revision' | 'version'>;

export function whyNoInstance(index: ObjectIndex, fn: Name, wanted: Wanted, waitedMs: number): string {
	const reasons = podsOf(index, fn, wanted)
		.map(troubleOfPod)
		.filter(reason => reason !== undefined);
	const [reason = 'none was free'] = reasons;
	return `no instance took the call within ${Math.round(waitedMs / 100) / 10} s: ${reason}`;
}

/** Whether all that should be instances end again and again before they take calls: another second of waiting is no help. */
export function isHopeless(index: ObjectIndex, fn: Name, wanted: Wanted): boolean {
	const pods = podsOf(index, fn, wanted);
	return pods.length > 0 && pods.every(endsAgain);
}

function podsOf(index: ObjectIndex, {namespace, name}: Name, {revision, version}: Wanted): readonly Pod[] {
	const fn = index.get(objectKey('functions', namespace, name)) as FunctionObject | undefined;
	const pods = [...index.select('pods', namespace, {matchLabels: {[functionLabel]: name}})] as readonly Pod[];
	return pods.filter(pod => {
		const set = index.byUid(controllerOf(pod)?.uid ?? '') as ReplicaSet | undefined;
		if (fn === undefined || set === undefined) return false;
		return isMeant(fn, set, revision) && (version === undefined || versionOfSet(set) === version);
	});
}

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
