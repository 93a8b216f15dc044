// The messages every object's record and its collection understand. The gateway, other actors and node sync speak these.
//
// `create` goes to the kind's collection (`troupe://control/pods`), the others to the record itself
// (`troupe://control/pods/default.web-1`). The answer to a write is the object as committed.

import type {Draft} from '../../../api/object.js';
import type {Patch} from '../../../api/patch.js';
import type {ReplyTo} from '../../../system/kernel/behavior.js';

type WriteOptions = {
	/** Validate and default, answer with the result, keep nothing. */
	readonly dryRun?: boolean;
	/** Members of `spec` that the writer may not change. */
	readonly guarded?: readonly string[];
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

/**
 * Changes the committed object, its status, or the Scale that is made of it. metadata.resourceVersion and metadata.uid, where the patch sets
 * them, are preconditions.
 */
export type PatchObject = WriteOptions &
	Patch & {
		readonly type: 'patch';
		readonly subresource?: 'status' | 'scale';
	};

export type DeleteObject = WriteOptions & {
	readonly type: 'delete';
	readonly graceSeconds?: number | undefined;
	readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
	readonly uid?: string | undefined;
	readonly resourceVersion?: string | undefined;
};
