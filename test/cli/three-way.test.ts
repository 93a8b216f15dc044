import test from 'ava';
import type {JsonObject} from '../../api/object.js';
import {mergePatch} from '../../api/merge-patch.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {applyPatch, isRemembered, withLastApplied} from '../../cli/manifests/three-way.js';

/** What has a template or a strategy is a Deployment: lists are told apart by their kind's schema. */
const manifest = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
	kind: 'template' in spec || 'strategy' in spec ? 'Deployment' : 'Pod',
	metadata: {name: 'a', ...metadata},
	spec,
});

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

test('of a choice, what the server filled in stays until something else is chosen', t => {
	const filled = applied({strategy: {}}, {strategy: {type: 'RollingUpdate', rollingUpdate: {maxUnavailable: 1}}});
	t.deepEqual(changesOf(applyPatch(manifest({strategy: {type: 'Recreate'}}), filled)), {
		spec: {strategy: {type: 'Recreate', rollingUpdate: null}},
		hasLast: true,
	});
	const strategy = {rollingUpdate: {maxSurge: 1}};
	const live = applied({strategy}, {strategy: {type: 'RollingUpdate', rollingUpdate: {maxUnavailable: 1}}});
	t.is(applyPatch(manifest({strategy}), live), undefined);
	t.deepEqual(changesOf(applyPatch(manifest({strategy: {type: 'Recreate'}}), live)), {
		spec: {strategy: {type: 'Recreate', rollingUpdate: null}},
		hasLast: true,
	});
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

test('the last annotation that is gone from the manifest is removed, those of others stay', t => {
	const live = mergePatch(applied({}, {}, {annotations: {ours: '1'}}), {metadata: {annotations: {theirs: 'y'}}}) as JsonObject;
	t.deepEqual(changesOf(applyPatch(manifest({}), live)), {annotations: {ours: null}, hasLast: true});
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

const containers = (...list: readonly JsonObject[]): JsonObject => ({containers: list});
const main = (more: JsonObject = {}): JsonObject => ({name: 'main', image: 'x', ...more});

/** What is there after `manifest` was applied to `live`. */
const afterwards = (spec: JsonObject, live: JsonObject): unknown => {
	const {spec: result} = mergePatch(live, applyPatch(manifest(spec), live) ?? {}) as JsonObject;
	return result;
};

const merges: readonly (readonly [what: string, last: JsonObject, live: JsonObject, wanted: JsonObject, expected: JsonObject])[] = [
	[
		'a container of others stays where it is',
		containers(main()),
		containers({name: 'sidecar', image: 'y'}, main()),
		containers(main({image: 'z'})),
		containers({name: 'sidecar', image: 'y'}, main({image: 'z'})),
	],
	[
		'a container that the manifest had and has no more goes',
		containers(main(), {name: 'old', image: 'y'}),
		containers(main({imagePullPolicy: 'Always'}), {name: 'old', image: 'y'}, {name: 'theirs', image: 'z'}),
		containers(main()),
		containers(main({imagePullPolicy: 'Always'}), {name: 'theirs', image: 'z'}),
	],
	[
		'the order of the manifest counts',
		containers(main(), {name: 'b', image: 'y'}),
		containers(main(), {name: 'b', image: 'y'}),
		containers({name: 'b', image: 'y'}, main()),
		containers({name: 'b', image: 'y'}, main()),
	],
	[
		'environment by name, inside containers by name',
		containers(main({env: [{name: 'A', value: '1'}, {name: 'B', value: '2'}]})), // prettier-ignore
		containers(main({env: [{name: 'THEIRS', value: '0'}, {name: 'A', value: '1'}, {name: 'B', value: '2'}]})), // prettier-ignore
		containers(main({env: [{name: 'A', value: '3'}]})),
		containers(main({env: [{name: 'THEIRS', value: '0'}, {name: 'A', value: '3'}]})), // prettier-ignore
	],
	[
		'ports by number and protocol, mounts by path',
		containers(main({ports: [{containerPort: 53}], volumeMounts: [{mountPath: '/a', name: 'v'}]})),
		containers(
			main({
				ports: [{containerPort: 53, protocol: 'TCP'}, {containerPort: 53, protocol: 'UDP'}], // prettier-ignore
				volumeMounts: [{mountPath: '/a', name: 'v'}, {mountPath: '/b', name: 'w'}], // prettier-ignore
			}),
		),
		containers(main({ports: [{containerPort: 53, name: 'dns'}], volumeMounts: [{mountPath: '/a', name: 'u'}]})),
		containers(
			main({
				ports: [{containerPort: 53, protocol: 'TCP', name: 'dns'}, {containerPort: 53, protocol: 'UDP'}], // prettier-ignore
				volumeMounts: [{mountPath: '/a', name: 'u'}, {mountPath: '/b', name: 'w'}], // prettier-ignore
			}),
		),
	],
	[
		'a volume is of one sort, also when nobody knows what was applied last',
		{},
		{volumes: [{name: 'v', emptyDir: {}}, {name: 'theirs', emptyDir: {}}]}, // prettier-ignore
		{volumes: [{name: 'v', configMap: {name: 'c'}}]},
		{volumes: [{name: 'v', configMap: {name: 'c'}}, {name: 'theirs', emptyDir: {}}]}, // prettier-ignore
	],
	[
		'the same in a template',
		{template: {spec: containers(main({env: [{name: 'A', value: '1'}]}))}},
		{template: {spec: containers(main({env: [{name: 'A', value: '1'}, {name: 'B', value: '2'}]}))}}, // prettier-ignore
		{template: {spec: containers(main({env: []}))}},
		{template: {spec: containers(main({env: [{name: 'B', value: '2'}]}))}},
	],
	[
		'lists without identities are one value: words of a command, tolerations',
		{...containers(main({command: ['a', 'b']})), tolerations: [{key: 'a'}]},
		{...containers(main({command: ['a', 'b']})), tolerations: [{key: 'a'}, {key: 'theirs'}]}, // prettier-ignore
		{...containers(main({command: ['a', 'c']})), tolerations: [{key: 'b'}]},
		{...containers(main({command: ['a', 'c']})), tolerations: [{key: 'b'}]},
	],
	[
		'two items of one name are one value',
		containers(main({env: [{name: 'A', value: '1'}, {name: 'A', value: '2'}]})), // prettier-ignore
		containers(main({env: [{name: 'A', value: '1'}, {name: 'A', value: '2'}, {name: 'B', value: '3'}]})), // prettier-ignore
		containers(main({env: [{name: 'A', value: '4'}]})),
		containers(main({env: [{name: 'A', value: '4'}]})),
	],
];

for (const [what, last, live, wanted, expected] of merges) {
	test(`${what}, and a second time nothing is to do`, t => {
		const there = mergePatch(withLastApplied(manifest(last)), {spec: live}) as JsonObject;
		t.deepEqual(afterwards(wanted, there), expected as unknown);
		const settled = mergePatch(there, applyPatch(manifest(wanted), there) ?? {}) as JsonObject;
		t.is(applyPatch(manifest(wanted), settled), undefined);
	});
}

test('a label named constructor is a label', t => {
	t.deepEqual(changesOf(applyPatch(manifest({}, {labels: {constructor: 'x'}}), manifest({}))), {
		metadata: {labels: {constructor: 'x'}},
		hasLast: true,
	});
});

test('what no schema is known of has lists that are one value', t => {
	const other = (items: readonly JsonObject[]): JsonObject => ({kind: 'Other', metadata: {name: 'a'}, spec: {containers: items}});
	const live = mergePatch(withLastApplied(other([{name: 'a'}])), {spec: {containers: [{name: 'a'}, {name: 'b'}]}}) as JsonObject;
	t.deepEqual(changesOf(applyPatch(other([{name: 'c'}]), live)), {spec: {containers: [{name: 'c'}]}, hasLast: true});
});

test('ports of a Service are told apart by number and protocol, finalizers of anything by themselves', t => {
	const service = (ports: readonly JsonObject[], metadata: JsonObject = {}): JsonObject => ({
		kind: 'Service',
		metadata: {name: 'a', ...metadata},
		spec: {ports},
	});
	const dns = [{port: 53, protocol: 'UDP'}, {port: 53}];
	const live = mergePatch(withLastApplied(service(dns, {finalizers: ['x/ours']})), {
		metadata: {finalizers: ['x/theirs', 'x/ours']},
		spec: {ports: [...dns, {port: 80, protocol: 'TCP'}]},
	}) as JsonObject;
	t.deepEqual(changesOf(applyPatch(service([{port: 53, name: 'dns'}], {finalizers: ['x/new']}), live)), {
		metadata: {finalizers: ['x/new', 'x/theirs']},
		spec: {
			ports: [
				{port: 53, name: 'dns'},
				{port: 80, protocol: 'TCP'},
			],
		},
		hasLast: true,
	});
});
