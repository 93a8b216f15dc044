// The end of an object: asked for, held by grace and finalizers, removed.

import {timestampOf, type ApiObject} from '../../../api/object.js';
import type {Context} from '../../../system/kernel/behavior.js';
import type {Controller} from './controller.js';
import {foregroundFinalizer, isAdopting, isDeleting, orphanFinalizer, remainingFinalizers} from './garbage.js';

export type DeletionRequest = {
	readonly graceSeconds?: number | undefined;
	readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
};

/** The object once its deletion is asked for: marked, or undefined when it can go at once. */
export function deleted(controller: Controller, object: ApiObject, request: DeletionRequest, context: Context): ApiObject | undefined {
	const graceSeconds = controller.graceSeconds?.(object, request.graceSeconds) ?? 0;
	const marked = isDeleting(object) ? shortened(object, graceSeconds, context.nowMs) : mark(object, graceSeconds, request, context);
	return settled(controller, marked, context);
}

/** The object while it is being deleted: with the finalizers that still hold, or undefined when nothing holds it any more. */
export function settled(controller: Controller, object: ApiObject, context: Pick<Context, 'known' | 'pending'>): ApiObject | undefined {
	const finalizers = remainingFinalizers(object, context);
	if (finalizers.length === 0 && (controller.isRemovable?.(object, context.known) ?? true)) return undefined;
	return finalizers.length === (object.metadata.finalizers ?? []).length ? object : {...object, metadata: {...object.metadata, finalizers}};
}

function mark(object: ApiObject, graceSeconds: number, {propagation}: DeletionRequest, context: Context): ApiObject {
	const present = object.metadata.finalizers ?? [];
	const finalizers = [...new Set([...present, ...ownFinalizers(object, propagation, context)])];
	return {
		...object,
		metadata: {
			...object.metadata,
			...(finalizers.length === 0 ? {} : {finalizers}),
			deletionTimestamp: timestampOf(context.nowMs + graceSeconds * 1000),
			deletionGracePeriodSeconds: graceSeconds,
		},
	};
}

function ownFinalizers(object: ApiObject, propagation: DeletionRequest['propagation'], {known, pending}: Context): string[] {
	const hasDependents = !known.byOwner(object.metadata.uid)[Symbol.iterator]().next().done;
	if (!hasDependents && !isAdopting(pending)) return [];
	if (propagation === 'Foreground') return [foregroundFinalizer];
	return propagation === 'Orphan' ? [orphanFinalizer] : [];
}

/** A second request can only shorten the grace. */
function shortened(object: ApiObject, graceSeconds: number, nowMs: number): ApiObject {
	const present = object.metadata.deletionGracePeriodSeconds ?? 0;
	if (graceSeconds >= present) return object;
	return {
		...object,
		metadata: {...object.metadata, deletionGracePeriodSeconds: graceSeconds, deletionTimestamp: timestampOf(nowMs + graceSeconds * 1000)},
	};
}
