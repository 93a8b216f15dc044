// The schema of a PriorityClass.

import {objectOf} from './metadata.js';
import {about, flag, maxInt32, oneOf, optional, record, text, whole} from './parts.js';

export const content = () =>
	record({
		value: about('How important its pods are; higher ones go first.', whole(-maxInt32, maxInt32)),
		globalDefault: optional(about('Whether pods that name no class belong to it.', flag())),
		preemptionPolicy: optional(about('Whether its pods may take the place of lower ones.', oneOf(['PreemptLowerPriority', 'Never']))),
		description: optional(about('What it is for.', text())),
	});

export const schema = () => objectOf(content());
