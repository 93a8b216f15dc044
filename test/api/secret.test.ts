// ConfigMaps and Secrets as the API takes them; that no message about a Secret has a value in it.

import test from 'ava';
import {admitUpdate} from '../../api/admission.js';
import {base64Of, isBase64} from '../../api/base64.js';
import {kindByPlural} from '../../api/catalogue.js';
import {secret, withStringData} from '../../api/kinds/secret.js';
import type {ApiObject} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {tableOf} from '../../api/table.js';
import {committed, problemsOf} from './_objects.js';

const sealed = 'troupe.sealed.v1.AAAA';
const other = 'troupe.sealed.v1.BBBB';
const aSecret = (fields: object = {}, metadata: object = {}) => ({
	apiVersion: 'v1',
	kind: 'Secret',
	metadata: {name: 'db', ...metadata},
	data: {password: sealed},
	...fields,
});
const aConfigMap = (fields: object = {}) => ({
	apiVersion: 'v1',
	kind: 'ConfigMap',
	metadata: {name: 'settings'},
	data: {colour: 'green'},
	...fields,
});

const updateProblems = (now: unknown, old: ApiObject): string[] => {
	const admitted = admitUpdate(now, old);
	return admitted.ok ? [] : admitted.error.message.split('\n');
};

test('a Secret has a type when it names none, and no member that is no content of it', t => {
	const object = committed(aSecret());
	t.like(object, {type: 'Opaque', data: {password: sealed}});
	t.false('spec' in object);
	t.deepEqual(problemsOf(aSecret({spec: {}})), ['spec: unknown field "spec"']);
});

test('behind the gateway a Secret with a plain value is refused, wherever the value stands, and the value is not told', t => {
	const plain = base64Of('s3cr3t');
	const last = {annotations: {[lastAppliedAnnotation]: '{"data":{"password":"s3cr3t"}}'}};
	const problem = (path: string): string => `${path}: is not sealed: Secrets are written through the API alone`;
	t.deepEqual(problemsOf(aSecret({data: {password: plain}})), [problem('data.password')]);
	t.deepEqual(problemsOf(aSecret({stringData: {pin: 's3cr3t'}})), [problem('data.pin')]);
	t.deepEqual(problemsOf(aSecret({}, last)), [problem(`metadata.annotations["${lastAppliedAnnotation}"]`)]);
});

const shapes: readonly [title: string, fields: object, problem: string][] = [
	['a number', {data: {pin: 4711}}, 'data.pin: must be a string, got a number; put it in quotes'],
	['a list', {data: ['s3cr3t']}, 'data: must be an object, got a list'],
	['a text', {data: 's3cr3t'}, 'data: must be an object, got a string'],
	['an object', {stringData: {a: {b: 's3cr3t'}}}, 'stringData.a: must be a string, got an object'],
	['a field that does not exist', {dta: {a: 's3cr3t'}}, 'dta: unknown field "dta"; did you mean "data"?'],
	[
		'a key that no file can have',
		{data: {'a b': sealed}},
		'data["a b"]: the key must be letters, digits, "-", "_" and ".", at most 253, neither "." nor beginning with "..", got "a b"',
	],
	[
		'a type without what it is for',
		{type: 'kubernetes.io/tls'},
		'data["tls.crt"]: tls.crt is required in a Secret of type kubernetes.io/tls',
	],
];
for (const [title, fields, problem] of shapes) {
	test(`of a Secret, ${title} is refused without being shown`, t => {
		const problems = problemsOf(aSecret(fields));
		t.is(problems[0], problem);
		t.notRegex(problems.join(), /s3cr3t|4711/);
	});
}

test('stringData becomes data, and counts more', t => {
	const object: object = {...aSecret(), stringData: {password: 'ü', user: ''}};
	t.deepEqual(withStringData(object), {...aSecret(), data: {password: 'w7w=', user: ''}});
	t.true(isBase64('w7w=') && isBase64('') && isBase64('YWJj\nZGVm') && !isBase64('w7w') && !isBase64('w7w==') && !isBase64('a-_='));
});

test('an immutable object keeps what it holds, and stays immutable', t => {
	const old = committed(aSecret({immutable: true}));
	t.deepEqual(updateProblems({...aSecret({data: {password: other}, immutable: true})}, old), [
		'data: cannot be changed: the object is immutable; delete it and create it again',
	]);
	t.deepEqual(updateProblems(aSecret(), old), ['immutable: cannot be taken back; delete the object and create it again']);
	t.deepEqual(updateProblems(aSecret({immutable: true}, {labels: {a: 'b'}}), old), []);
	const map = committed(aConfigMap({immutable: true}));
	t.deepEqual(updateProblems(aConfigMap({binaryData: {a: ''}, immutable: true}), map), [
		'binaryData: cannot be changed: the object is immutable; delete it and create it again',
	]);
});

test('the type of a Secret stays', t => {
	t.deepEqual(updateProblems(aSecret({type: 'example.com/other'}), committed(aSecret())), [
		'type: cannot be changed: it is "Opaque"; delete the Secret and create it again',
	]);
});

test('what a Secret shows in public are its keys', t => {
	const object = committed(aSecret({}, {annotations: {[lastAppliedAnnotation]: sealed, note: 'hi'}}));
	const shown = secret.withheld?.(object);
	t.deepEqual((shown as unknown as {data: unknown}).data, {password: null});
	t.deepEqual(shown?.metadata.annotations, {note: 'hi'});
	t.notRegex(JSON.stringify(shown), /sealed/);
	t.is(secret.withheld?.(committed(aSecret({}, {annotations: {[lastAppliedAnnotation]: sealed}})))?.metadata.annotations, undefined);
});

test('a ConfigMap takes texts, and bytes in base64 under other keys', t => {
	t.deepEqual(problemsOf(aConfigMap({binaryData: {logo: 'AAEC'}})), []);
	t.deepEqual(problemsOf(aConfigMap({data: undefined})), []);
	t.deepEqual(problemsOf(aConfigMap({binaryData: {colour: 'AAEC', bad: '%'}})), [
		'binaryData.colour: is an entry of data already',
		'binaryData.bad: must be base64',
	]);
	t.deepEqual(problemsOf(aConfigMap({data: {on: true}})), ['data.on: must be a string, got true; put it in quotes: "true"']);
});

test('their rows are those of kubectl', t => {
	const nowMs = Date.parse('2026-01-01T00:03:20Z');
	const row = (plural: string, manifest: unknown): unknown => {
		const kind = kindByPlural(plural);
		return kind === undefined ? undefined : tableOf(kind, [committed(manifest)], nowMs).rows[0]?.cells;
	};
	t.deepEqual(row('secrets', aSecret()), ['db', 'Opaque', 1, '3m20s']);
	t.deepEqual(row('configmaps', aConfigMap({binaryData: {logo: ''}})), ['settings', 2, '3m20s']);
});
