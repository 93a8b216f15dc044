// The schema of a ControllerRevision.

import {objectOf} from './metadata.js';
import {about, anyObject, optional, record, whole} from './parts.js';

export const content = () =>
	record({
		data: optional(about('What its owner was: of a set the patch that makes it that again, of a Workflow its definition.', anyObject())),
		revision: about('Its number: the highest is the newest.', whole(0, Number.MAX_SAFE_INTEGER)),
	});

export const schema = () => objectOf(content());
