// Why a function has no instance that takes a call, in the words of the pods that should be ones.

import {functionLabel} from '../../api/function-instance.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

export function whyNoInstance(
	index: ObjectIndex,
	{namespace, name}: {readonly namespace: string; readonly name: string},
	waitedMs: number,
): string {
	const pods = [...index.select('pods', namespace, {matchLabels: {[functionLabel]: name}})] as readonly Pod[];
	const reasons = pods.map(troubleOfPod).filter(reason => reason !== undefined);
	const [reason = 'none was free'] = reasons;
	return `no instance took the call within ${waitedMs / 1_000} s: ${reason}`;
}

function troubleOfPod({metadata, status}: Pod): string | undefined {
	const [container] = status?.containerStatuses ?? [];
	const {waiting} = container?.state ?? {};
	const last = container?.state?.terminated ?? container?.lastState?.terminated;
	const scheduled = status?.conditions?.find(({type}) => type === 'PodScheduled');
	const why = last?.message ?? waiting?.message ?? (scheduled?.status === 'False' ? scheduled.message : undefined);
	return why === undefined ? undefined : `${metadata.name}: ${why.trimEnd()}`;
}
