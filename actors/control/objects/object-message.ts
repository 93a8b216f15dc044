// The messages every object's record and its collection understand. The gateway, other actors and node sync speak these.
//
// `create` goes to the kind's collection (`troupe://control/pods`), the others to the record itself
// (`troupe://control/pods/default.web-1`). The answer to a write is the object as committed.

import type {Draft, JsonObject} from '../../../api/object.js';
import type {ReplyTo} from '../../../system/kernel/behavior.js';

type WriteOptions = {
	/** Validate and default, answer with the result, keep nothing. */
	readonly dryRun?: boolean;
	readonly replyTo?: ReplyTo | undefined;
};

export type CreateObject = WriteOptions & {
	readonly type: 'create';
	readonly object: Draft;
};

/** Replaces spec and metadata (or only status). A resourceVersion in the object is a precondition. */
export type ReplaceObject = WriteOptions & {
	readonly type: 'replace';
	readonly object: Draft;
	readonly subresource?: 'status';
};

/** RFC 7386 merge patch. metadata.resourceVersion or metadata.uid in it are preconditions. */
export type PatchObject = WriteOptions & {
	readonly type: 'patch';
	readonly patch: JsonObject;
	readonly subresource?: 'status';
};

export type DeleteObject = WriteOptions & {
	readonly type: 'delete';
	readonly graceSeconds?: number | undefined;
	readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
	readonly uid?: string | undefined;
	readonly resourceVersion?: string | undefined;
};
