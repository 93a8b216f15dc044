// The forms of a patch that a record takes, and what each makes of a document. Pure.

import {succeeded, type Outcome} from './errors.js';
import {applyJsonPatch, type JsonPatch} from './json-patch.js';
import {mergePatch} from './merge-patch.js';
import type {JsonObject, Json} from './object.js';
import {strategicMergePatch} from './strategic-patch.js';

/** `merge` is RFC 7386, what is meant without a word; `strategic` is Kubernetes' own, `json` is RFC 6902. */
export type Patch =
	{readonly patchType?: 'merge' | 'strategic'; readonly patch: JsonObject} | {readonly patchType: 'json'; readonly patch: JsonPatch};

/** The patched document, undefined where nothing is left of it; or why the patch does not apply. */
export function applyPatch(document: JsonObject, change: Patch): Outcome<Json | undefined> {
	if (change.patchType === 'json') return applyJsonPatch(document, change.patch);
	return change.patchType === 'strategic' ? strategicMergePatch(document, change.patch) : succeeded(mergePatch(document, change.patch));
}
