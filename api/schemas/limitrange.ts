// The schema of a LimitRange.

import {objectWith} from './metadata.js';
import {about, list, mapOf, oneOf, optional, quantity, record} from './parts.js';

const amounts = () => mapOf(quantity());

export const item = () =>
	record({
		type: about('What it is about: Container, Pod or PersistentVolumeClaim.', oneOf(['Container', 'Pod', 'PersistentVolumeClaim'])),
		max: optional(about('What it may use at most, by resource.', amounts())),
		min: optional(about('What it has to ask for at least, by resource.', amounts())),
		default: optional(about('The limit of a container that names none, by resource.', amounts())),
		defaultRequest: optional(about('The request of a container that names none, by resource.', amounts())),
		maxLimitRequestRatio: optional(about('How many times its request a limit may be, by resource.', amounts())),
	});

export const spec = () => record({limits: about('One for each type.', list(item()))});

export const schema = () => objectWith(about('What new pods of its namespace may ask for, and what they get without asking.', spec()));
