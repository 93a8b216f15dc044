// Messages that are about one object and no other of its name.

import type {ApiObject} from '../../../api/object.js';

/** Why a message with that uid is not for this object; undefined: it is. */
export function notMeant({metadata}: ApiObject, uid: string | undefined, what: string): string | undefined {
	if (uid === metadata.uid) return undefined;
	return uid === undefined
		? `the message must name the uid of the ${what} that it means (this one has ${metadata.uid})`
		: `it is another ${what} of that name (uid ${metadata.uid})`;
}
