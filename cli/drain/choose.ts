// Which pods of a node a drain evicts, which it leaves alone, and which it will not touch unless told to. Pure.

import type {Pod} from '../../api/kinds/pod.js';

export type DrainFlags = {
	readonly force: boolean;
	readonly deleteEmptyDirData: boolean;
	readonly ignoreDaemonSets: boolean;
};

export type Choice = {
	readonly evict: readonly Pod[];
	/** Pods of DaemonSets: those come back wherever they are. */
	readonly leave: readonly Pod[];
	/** One line for each sort of pods that only a flag gives up. */
	readonly refusals: readonly string[];
};

const controllerOf = ({metadata}: Pod) => metadata.ownerReferences?.find(({controller}) => controller === true);
const hasEnded = ({status}: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const isOfDaemonSet = (pod: Pod): boolean => controllerOf(pod)?.kind === 'DaemonSet';
/** Nothing makes it anew elsewhere. */
const isBare = (pod: Pod): boolean => controllerOf(pod) === undefined && !hasEnded(pod);
const hasEmptyDir = (pod: Pod): boolean =>
	!hasEnded(pod) && (pod.spec?.volumes ?? []).some(({emptyDir}) => emptyDir !== undefined && emptyDir !== null);

/** `default/web`. */
export const podName = ({metadata: {namespace = '', name}}: Pod): string => `${namespace}/${name}`;

/** Pods that are on their way out are only waited for: nothing is refused for them. */
export function choosePods(pods: readonly Pod[], flags: DrainFlags): Choice {
	const leave = pods.filter(isOfDaemonSet);
	const evict = pods.filter(pod => !isOfDaemonSet(pod));
	const asked = evict.filter(({metadata}) => metadata.deletionTimestamp === undefined);
	return {
		evict,
		leave,
		refusals: [
			...refusal(flags.force, 'no controller makes these pods anew (--force evicts them for good)', asked.filter(isBare)),
			...refusal(
				flags.deleteEmptyDirData,
				'these pods have data in an emptyDir volume (--delete-emptydir-data gives it up)',
				asked.filter(hasEmptyDir),
			),
			...refusal(flags.ignoreDaemonSets, 'these pods are of a DaemonSet (--ignore-daemonsets leaves them alone)', leave),
		],
	};
}

const refusal = (allowed: boolean, why: string, pods: readonly Pod[]): readonly string[] =>
	allowed || pods.length === 0 ? [] : [`${why}: ${pods.map(podName).join(', ')}`];
