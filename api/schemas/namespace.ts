// The schema of a Namespace.

import {objectWithOptional} from './metadata.js';
import {about, conditions, list, oneOf, optional, record, text} from './parts.js';

export const spec = () => record({finalizers: optional(about('What must be done before it goes.', list(text())))});

export const status = () =>
	record({
		phase: about('Active or Terminating.', oneOf(['Active', 'Terminating'])),
		conditions: optional(about('What is left in it.', conditions())),
	});

export const schema = () => objectWithOptional(about('What must be done before it goes.', spec()));
