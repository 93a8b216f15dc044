// Which taints a pod tolerates. After Kubernetes' v1 Toleration.

import type {Taint} from '../../../api/kinds/node.js';
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
