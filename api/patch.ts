// The forms of a patch that a record takes, and what each makes of a document. Pure.

import {succeeded, type Outcome} from './errors.js';
import {applyJsonPatch, type JsonPatch} from './json-patch.js';
import {mergePatch} from './merge-patch.js';
import type {Json, JsonObject} from './object.js';

/** `merge` is RFC 7386, what is meant without a word; `json` is RFC 6902. */
export type Patch = {readonly patchType?: 'merge'; readonly patch: JsonObject} | {readonly patchType: 'json'; readonly patch: JsonPatch};

/** The patched document, undefined where nothing is left of it; or why the patch does not apply. */
export function applyPatch(document: Json, change: Patch): Outcome<Json | undefined> {
	return change.patchType === 'json' ? applyJsonPatch(document, change.patch) : succeeded(mergePatch(document, change.patch));
}
