// The schema of a ControllerRevision.

import {objectOf} from './metadata.js';
import {about, anyObject, optional, record, whole} from './parts.js';

export const content = () =>
	record({
		data: optional(about('The patch that makes its owner what it was.', anyObject())),
		revision: about('Its number: the highest is the newest.', whole(0, Number.MAX_SAFE_INTEGER)),
	});

export const schema = () => objectOf(content());
