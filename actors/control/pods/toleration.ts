// Which taints of its node a pod tolerates, and for how long. After Kubernetes' v1 Toleration.

import type {Taint} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Toleration} from '../../../api/shapes/pod.js';

/** An empty key with `Exists` tolerates everything, an empty effect every effect. */
export const tolerates = ({key = '', operator = 'Equal', value = '', effect}: Toleration, taint: Taint): boolean =>
	(effect === undefined || effect === taint.effect) &&
	(key === '' ? operator === 'Exists' : key === taint.key && (operator === 'Exists' || value === (taint.value ?? '')));

export const isTolerated = (taint: Taint, tolerations: readonly Toleration[] = []): boolean =>
	tolerations.some(toleration => tolerates(toleration, taint));

/** `dedicated=db:NoSchedule`. */
export const taintText = ({key, value, effect}: Taint): string =>
	`${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`;

/** The shortest time that it names, in milliseconds; infinite where it names none, undefined where it does not tolerate the taint. */
export function toleratedMs({spec}: Pod, taint: Taint): number | undefined {
	const tolerations = (spec?.tolerations ?? []).filter(toleration => tolerates(toleration, taint));
	if (tolerations.length === 0) return undefined;
	const seconds = tolerations.flatMap(({tolerationSeconds}) => tolerationSeconds ?? []);
	return seconds.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.min(...seconds)) * 1000;
}
