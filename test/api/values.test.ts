// Small pure values: quantities, durations, names, equality, patches, paths, suggestions.

import test from 'ava';
import {ageOf, ageSince} from '../../api/duration.js';
import {deepEqual, differences, keepReference} from '../../api/equal.js';
import {fieldValue, parseFieldPath} from '../../api/field-path.js';
import {mergePatch} from '../../api/merge-patch.js';
import {generateName} from '../../api/names.js';
import {parsePath, pathOfPointer} from '../../api/path.js';
import {cpuMillis, memoryBytes} from '../../api/quantity.js';
import {suggest} from '../../api/suggest.js';

test('CPU quantities become thousandths', t => {
	const cases: readonly [string | number, number | undefined][] = [
		['500m', 500],
		['0.1', 100],
		[0.1, 100],
		[2, 2000],
		['1.0005', 1001],
		['2e1', 20_000],
		[1_000_000_000, 1000],
		['250000000', 250],
		['1k', 1_000_000],
		['', undefined],
		['1 ', undefined],
		['m', undefined],
		[NaN, undefined],
	];
	for (const [quantity, millis] of cases) t.is(cpuMillis(quantity), millis, String(quantity));
});

test('memory quantities become bytes', t => {
	const cases: readonly [string | number, number | undefined][] = [
		['128Mi', 134_217_728],
		['1G', 1_000_000_000],
		['1.5Ki', 1536],
		[100_000_000, 100_000_000],
		['100000000', 100_000_000],
		['0.1', 1],
		['-5', -5],
		['128MB', undefined],
	];
	for (const [quantity, bytes] of cases) t.is(memoryBytes(quantity), bytes, String(quantity));
});

test('ages read as kubectl writes them', t => {
	const second = 1000;
	const hour = 3600 * second;
	const cases: readonly [number, string][] = [
		[-5, '0s'],
		[5 * second, '5s'],
		[119 * second, '119s'],
		[200 * second, '3m20s'],
		[180 * second, '3m'],
		[45 * 60 * second, '45m'],
		[3 * hour, '3h'],
		[3.5 * hour, '3h30m'],
		[30 * hour, '30h'],
		[4 * 24 * hour, '4d'],
		[4.5 * 24 * hour, '4d12h'],
		[3 * 365 * 24 * hour, '3y'],
	];
	for (const [ms, text] of cases) t.is(ageOf(ms), text);
	t.is(ageSince(undefined, 0), '<unknown>');
	t.is(ageSince('nonsense', 0), '<unknown>');
});

test('a generated name begins as wanted, is short enough and has no vowels', t => {
	t.is(
		generateName('web-', () => 0),
		'web-bbbbb',
	);
	t.is(
		generateName('web-', () => 0.999_999),
		'web-99999',
	);
	t.is(generateName('x'.repeat(80), () => 0).length, 63);
});

test('equality is by value; undefined members count as absent', t => {
	t.true(deepEqual({a: [1, {b: null}], c: undefined}, {a: [1, {b: null}]}));
	t.false(deepEqual({a: undefined}, {a: null}));
	t.false(deepEqual([1], {0: 1}));
	t.false(deepEqual({toString: 1}, {}));
	t.false(deepEqual(JSON.parse('{"__proto__": {}}'), {}), 'what every object has is no member of it');
});

test('an equal object keeps its reference, and a changed one the references of its equal parts', t => {
	const old = {a: {b: 1}, c: [1, {d: 2}]};
	t.is(keepReference(old, structuredClone(old)), old);
	const changed = keepReference(old, {a: {b: 1}, c: [1, {d: 3}]});
	t.is(changed.a, old.a);
	t.not(changed.c, old.c);
	t.deepEqual(keepReference<unknown>(old, {a: {b: 1}}), {a: {b: 1}});
});

test('differences are told by their smallest paths', t => {
	t.deepEqual(differences({a: [{b: 1}, 2], c: 1, d: [1]}, {a: [{b: 3}, 2], d: [1, 2], e: {}}, 'spec'), [
		'spec.a[0].b',
		'spec.c',
		'spec.d',
		'spec.e',
	]);
});

test('a merge patch changes, adds and removes; what it leaves alone keeps its reference', t => {
	const target = {a: {b: 1, c: 2}, d: {e: 1}};
	const patched = mergePatch(target, {a: {b: null, x: {y: null, z: 1}}}) as typeof target;
	t.deepEqual(patched as unknown, {a: {c: 2, x: {z: 1}}, d: {e: 1}});
	t.is(patched.d, target.d);
	t.is(mergePatch(target, {a: {b: 1}, d: {nothing: null}}), target);
});

test('a merge patch with a key __proto__ pollutes nothing', t => {
	const patched = mergePatch({a: 1}, JSON.parse('{"__proto__": {"polluted": true}}') as never);
	t.is(({} as {polluted?: boolean}).polluted, undefined);
	t.is(Object.getPrototypeOf(patched), Object.prototype);
	t.true(Object.hasOwn(patched as object, '__proto__'));
});

test('a merge patch nested without end is not followed', t => {
	const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as never;
	t.notThrows(() => mergePatch({a: {}}, deep));
});

test('paths are read and found from pointers', t => {
	t.deepEqual(parsePath('spec.containers[0].ports[1].containerPort'), ['spec', 'containers', 0, 'ports', 1, 'containerPort']);
	t.deepEqual(parsePath('metadata.labels["a.b/c"]'), ['metadata', 'labels', 'a.b/c']);
	t.is(parsePath('a..b'), undefined);
	t.is(pathOfPointer('/metadata/labels/a~1b', {metadata: {labels: {}}}), 'metadata.labels["a/b"]');
	t.is(pathOfPointer('/a/0/b', {a: [{b: 1}]}), 'a[0].b');
	t.is(pathOfPointer('/a/0', {a: {0: 1}}), 'a["0"]');
});

test('a suggestion is near, or there is none', t => {
	t.is(suggest('replcas', ['replicas', 'selector']), 'replicas');
	t.is(suggest('IMAGE', ['image', 'name']), 'image');
	t.is(suggest('gte', ['apply', 'get']), 'get', 'letters that changed places');
	t.is(suggest('zorro', ['replicas', 'selector']), undefined);
	t.is(suggest('x'.repeat(10_000), ['replicas']), undefined);
});

test('the fields of a pod that its containers may ask for have values', t => {
	const own = {name: 'web', namespace: 'default', uid: 'u-1', nodeName: 'n'};
	const fields = {...own, podIP: '127.0.0.9', hostIP: '10.0.0.1', labels: {'a/b': 'c'}, annotations: {}};
	const valueOf = (path: string): string | undefined => {
		const source = parseFieldPath(path);
		return source === undefined ? undefined : fieldValue(source, fields);
	};
	t.is(valueOf('metadata.name'), 'web');
	t.is(valueOf('metadata.namespace'), 'default');
	t.is(valueOf('metadata.uid'), 'u-1');
	t.is(valueOf('spec.nodeName'), 'n');
	t.is(valueOf('status.podIP'), '127.0.0.9');
	t.is(valueOf('status.hostIP'), '10.0.0.1');
	t.is(valueOf("metadata.labels['a/b']"), 'c');
	t.is(valueOf("metadata.annotations['constructor']"), '');
	t.is(valueOf('toString'), undefined);
});
