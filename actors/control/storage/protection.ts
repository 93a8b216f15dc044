// What keeps claims and volumes that are in use: finalizers, as in Kubernetes.

import type {Draft} from '../../../api/object.js';

/** The draft of a new object, held by a finalizer. */
export function protectedBy(draft: Draft, finalizer: string): Draft {
	const finalizers = draft.metadata.finalizers ?? [];
	return finalizers.includes(finalizer) ? draft : {...draft, metadata: {...draft.metadata, finalizers: [...finalizers, finalizer]}};
}
