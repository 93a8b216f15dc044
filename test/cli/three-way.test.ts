import test from 'ava';
import type {JsonObject} from '../../api/object.js';
import {mergePatch} from '../../api/merge-patch.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {applyPatch, isRemembered, withLastApplied} from '../../cli/three-way.js';

const manifest = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({kind: 'Pod', metadata: {name: 'a', ...metadata}, spec});

/** What the server has after a first apply: the manifest with its annotation, and defaults. */
const applied = (spec: JsonObject, defaults: JsonObject = {}, metadata: JsonObject = {}): JsonObject =>
	mergePatch(withLastApplied(manifest(spec, metadata)), {spec: defaults, metadata: {uid: 'u'}}) as JsonObject;

const changesOf = (patch: JsonObject | undefined): unknown => {
	const {metadata, ...rest} = patch ?? {};
	const {annotations, ...others} = (metadata ?? {}) as JsonObject;
	const {[lastAppliedAnnotation]: last, ...more} = (annotations ?? {}) as JsonObject;
	return {
		...rest,
		...(Object.keys(others).length === 0 ? {} : {metadata: others}),
		...(Object.keys(more).length === 0 ? {} : {annotations: more}),
		hasLast: typeof last === 'string',
	};
};

test('what is as the manifest says needs no patch, whatever the server filled in', t => {
	t.is(applyPatch(manifest({replicas: 1}), applied({replicas: 1}, {minReadySeconds: 0})), undefined);
	const containers = [{name: 'a', image: 'x'}];
	t.is(
		applyPatch(manifest({containers}), applied({containers}, {containers: [{name: 'a', image: 'x', imagePullPolicy: 'Always'}]})),
		undefined,
	);
});

test('a changed field is set, one that is gone from the manifest is removed, others stay', t => {
	const live = applied({a: 1, b: 2}, {c: 3});
	t.deepEqual(changesOf(applyPatch(manifest({a: 5}), live)), {spec: {a: 5, b: null}, hasLast: true});
});

test('what somebody else changed is set back', t => {
	t.deepEqual(changesOf(applyPatch(manifest({a: 1}), applied({a: 1}, {a: 9}))), {spec: {a: 1}, hasLast: true});
});

test('what was removed here and is gone there anyway needs no null', t => {
	const live = applied({a: 1, b: 2}, {b: null});
	t.deepEqual(changesOf(applyPatch(manifest({a: 1}), live)), {hasLast: true});
});

test('a list that was changed in the manifest is sent whole', t => {
	const live = applied({args: ['a', 'b']});
	t.deepEqual(changesOf(applyPatch(manifest({args: ['a']}), live)), {spec: {args: ['a']}, hasLast: true});
	const shorter = applied({containers: [{name: 'a', image: 'x', tty: true}]});
	const wanted = [{name: 'a', image: 'x'}];
	t.deepEqual(changesOf(applyPatch(manifest({containers: wanted}), shorter)), {spec: {containers: wanted}, hasLast: true});
});

test('labels and annotations of others are left alone', t => {
	const live = mergePatch(applied({}, {}, {labels: {a: '1'}}), {
		metadata: {labels: {theirs: 'x'}, annotations: {theirs: 'y'}},
	}) as JsonObject;
	t.deepEqual(changesOf(applyPatch(manifest({}, {labels: {b: '2'}}), live)), {metadata: {labels: {a: null, b: '2'}}, hasLast: true});
});

test('an object that was never applied gets the annotation and loses nothing', t => {
	const live: JsonObject = {kind: 'Pod', metadata: {name: 'a'}, spec: {a: 1, b: 2}};
	t.deepEqual(changesOf(applyPatch(manifest({a: 1}), live)), {hasLast: true});
});

test('an annotation that is no JSON counts as none', t => {
	const live: JsonObject = {kind: 'Pod', metadata: {name: 'a', annotations: {[lastAppliedAnnotation]: '{'}}, spec: {a: 1, b: 2}};
	t.deepEqual(changesOf(applyPatch(manifest({a: 1}), live)), {hasLast: true});
});

test('an annotation as kubectl writes it, with empty annotations inside, is the same', t => {
	const spec = {a: 1};
	const text = JSON.stringify({...manifest(spec), metadata: {name: 'a', annotations: {}}});
	t.is(applyPatch(manifest(spec), {...manifest(spec), metadata: {name: 'a', annotations: {[lastAppliedAnnotation]: text}}}), undefined);
});

test('the annotation says the manifest without itself', t => {
	const first = withLastApplied(manifest({a: 1}));
	const annotations = (first['metadata'] as JsonObject)['annotations'] as JsonObject;
	t.deepEqual(JSON.parse(annotations[lastAppliedAnnotation] as string), manifest({a: 1}));
	t.deepEqual(withLastApplied(first), first);
});

test('what is too large for an annotation is applied without one; an older memory still removes, and then goes', t => {
	const large = (data: JsonObject): JsonObject => ({kind: 'ConfigMap', metadata: {name: 'a'}, data: {...data, large: 'x'.repeat(300_000)}});
	t.false(isRemembered(large({})));
	t.deepEqual(withLastApplied(large({})), large({}));
	t.is(applyPatch(large({}), large({other: 'stays'})), undefined);
	const small = withLastApplied({kind: 'ConfigMap', metadata: {name: 'a'}, data: {gone: '1'}});
	t.deepEqual(mergePatch(small, applyPatch(large({}), small) ?? {}), {...large({}), metadata: {name: 'a', annotations: {}}});
	t.true(isRemembered({kind: 'ConfigMap', metadata: {name: 'a'}, data: {half: 'x'.repeat(180_000)}}));
});
