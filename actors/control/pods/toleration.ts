// For how long a pod puts up with a taint of its node.

import type {Taint} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {tolerates} from '../scheduling/taints.js';

/** The shortest time that it names, in milliseconds; infinite where it names none, undefined where it does not tolerate the taint. */
export function toleratedMs({spec}: Pod, taint: Taint): number | undefined {
	const tolerations = (spec?.tolerations ?? []).filter(toleration => tolerates(toleration, taint));
	if (tolerations.length === 0) return undefined;
	const seconds = tolerations.flatMap(({tolerationSeconds}) => tolerationSeconds ?? []);
	return seconds.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.min(...seconds)) * 1000;
}
