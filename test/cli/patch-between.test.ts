// The patches by which objects are changed: a merge patch where it can say it, a JSON patch where a member is to be null.

import test from 'ava';
import fc from 'fast-check';
import {deepEqual} from '../../api/equal.js';
import {applyPatch} from '../../api/patch.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import type {PatchBody} from '../../cli/cluster/changes.js';
import {patchPart} from '../../cli/cluster/changes.js';
import {patchBetween, sentPatch, wholePatch} from '../../cli/manifests/patch-between.js';
import {patchToApply, withLastApplied} from '../../cli/manifests/three-way.js';

const isMerge = (patch: PatchBody): patch is JsonObject => isObject(patch);

/** What a record makes of an object. */
function patched(object: JsonObject, patch: PatchBody): Json | undefined {
	const done = applyPatch(object, isMerge(patch) ? {patch} : {patchType: 'json', patch});
	if (!done.ok) throw new Error(done.error.message);
	return done.value;
}

const keys = fc.constantFrom('a', 'b', '~/c', '');
const {json} = fc.letrec<{json: Json}>(tie => ({
	json: fc.oneof(
		{depthSize: 'small', withCrossShrink: true},
		fc.constantFrom<Json>(null, 0, 'x'),
		fc.array(tie('json'), {maxLength: 2}),
		fc.dictionary(keys, tie('json'), {maxKeys: 4}),
	),
}));
const objects = fc.dictionary(keys, json, {maxKeys: 4});

test('from any object to any other leads a patch, and the same object needs none', t => {
	fc.assert(
		fc.property(objects, objects, (from, to) => {
			const patch = wholePatch(from, to);
			return patch === undefined ? deepEqual(from, to) : deepEqual(patched(from, patch), to);
		}),
		{numRuns: 2_000},
	);
	t.is(wholePatch({a: {b: null}}, {a: {b: null}}), undefined);
});

test('a merge patch is sent wherever it will do', t => {
	t.deepEqual(wholePatch({a: 1, b: null}, {b: null, c: {d: [null, {e: null}]}}), {a: null, c: {d: [null, {e: null}]}});
	t.deepEqual(wholePatch({a: {b: 1}}, {a: {b: null, 'c/d': null}}), [
		{op: 'add', path: '/a/b', value: null},
		{op: 'add', path: '/a/c~1d', value: null},
	]);
	t.deepEqual(wholePatch({a: 1, b: 2}, {a: null}), [
		{op: 'add', path: '/a', value: null},
		{op: 'remove', path: '/b'},
	]);
});

test('what others wrote meanwhile, or what was not shown, stays', t => {
	const original = {metadata: {name: 'f'}, spec: {a: 1}};
	const edited = {metadata: {name: 'f', annotations: {mine: 'x'}}, spec: {a: null}};
	const live = {metadata: {name: 'f', annotations: {theirs: 'y'}}, spec: {a: 1, b: 2}};
	const patch = sentPatch(live, patchBetween(original, edited) ?? {}, {from: original, to: edited});
	t.deepEqual(patched(live, patch), {metadata: {name: 'f', annotations: {theirs: 'y', mine: 'x'}}, spec: {a: null, b: 2}});
});

test('a manifest with nulls is applied as it is, and a second time nothing is to do', t => {
	const manifest = (spec: JsonObject): JsonObject => ({apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'flow'}, spec});
	const state = (more: JsonObject): JsonObject => ({definition: {StartAt: 'A', States: {A: {Type: 'Pass', End: true, ...more}}}});
	const live = {...withLastApplied(manifest(state({Comment: 'x'}))), status: {revision: 1}};
	const wanted = manifest(state({ResultPath: null}));
	const patch = patchToApply(wanted, live) ?? {};
	t.false(isMerge(patch));
	const after = patched(live, patch) as JsonObject;
	t.deepEqual(after['spec'], wanted['spec']);
	t.deepEqual(after['status'], {revision: 1});
	t.deepEqual(
		JSON.parse(((after['metadata'] as JsonObject)['annotations'] as {readonly [key: string]: string})[lastAppliedAnnotation] ?? ''),
		wanted,
	);
	t.is(patchToApply(wanted, after), undefined);
	t.deepEqual((patched(after, patchToApply(manifest(state({})), after) ?? {}) as JsonObject)['spec'], state({}));
});

test('a patch of either form is for one version of the object, if one is given', t => {
	t.deepEqual(patchPart({spec: {a: 1}, metadata: {labels: {b: 'c'}}}, '7'), {
		contentType: 'application/merge-patch+json',
		body: {spec: {a: 1}, metadata: {labels: {b: 'c'}, resourceVersion: '7'}},
	});
	const remove = {op: 'remove', path: '/spec/a'} as const;
	t.deepEqual(patchPart([remove], '7'), {
		contentType: 'application/json-patch+json',
		body: [{op: 'add', path: '/metadata/resourceVersion', value: '7'}, remove],
	});
	t.deepEqual(patchPart([remove], undefined).body, [remove]);
	t.deepEqual(patchPart({spec: null}, undefined).body, {spec: null});
});
