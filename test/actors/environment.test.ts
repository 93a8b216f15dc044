// The environment of a container: expansion, fields of the pod, ConfigMaps, and Secrets by name alone.

import test from 'ava';
import type {Container} from '../../api/kinds/pod.js';
import {containerSpecOf} from '../../actors/node/containers/container-spec.js';
import {environmentOf, expand, type EnvironmentInput, type Value} from '../../actors/node/containers/environment.js';
import type {EnvSource} from '../../actors/node/runtime/runtime-port.js';
import {aContainer} from './_objects.js';
import {cacheOf, configMapOf, secretCopy} from './_config.js';
import {anAssignment, sandbox} from './_agent.js';

const variables = new Map([
	['A', ['1']],
	['B', ['$(A)']],
	['EMPTY', ['']],
] satisfies [string, Value][]);

const expansions: readonly (readonly [string, string])[] = [
	['$(A)', '1'],
	['x$(A)y$(A)', 'x1y1'],
	['$(B)', '$(A)'],
	['$(EMPTY)', ''],
	['$(MISSING)', '$(MISSING)'],
	['$$(A)', '$(A)'],
	['$$$(A)', '$1'],
	['$$$$', '$$'],
	['$A ${A} $', '$A ${A} $'],
	['$(A', '$(A'],
	['$()', '$()'],
	['$(A$(A))', '$(A$(A))'],
];
for (const [text, result] of expansions) {
	test(`expands ${text} to ${JSON.stringify(result)}`, t => {
		t.deepEqual(expand(text, variables), [result]);
	});
}

type Copies = Parameters<typeof cacheOf>[0];

const around = (copies: Copies = {}, assignment = anAssignment()): EnvironmentInput => ({assignment, sandbox, known: cacheOf(copies)});

function environment(env: Container['env'], assignment = anAssignment()): Record<string, string> {
	const outcome = environmentOf(aContainer(env === undefined ? {} : {env}), around({}, assignment));
	const sources = outcome.ok ? outcome.value.sources : [];
	return Object.fromEntries(sources.flatMap(source => ('value' in source ? [[source.name, source.value]] : [])));
}

test('every container knows its host name, address, name and namespace', t => {
	t.deepEqual(environment(undefined), {HOSTNAME: 'web', POD_IP: '127.1.0.5', POD_NAME: 'web', POD_NAMESPACE: 'default'});
	t.is(environment(undefined, anAssignment({spec: {hostname: 'front'}}))['HOSTNAME'], 'front');
});

test('a container may be told what it asks for and may use, its own or that of another', t => {
	const refOf = (resource: string, containerName?: string, divisor?: string) => ({
		valueFrom: {
			resourceFieldRef: {resource, ...(containerName === undefined ? {} : {containerName}), ...(divisor === undefined ? {} : {divisor})},
		},
	});
	const other = aContainer({name: 'other', resources: {limits: {memory: '64Mi'}}});
	const own = aContainer({
		resources: {requests: {cpu: '250m'}, limits: {cpu: '1500m'}},
		env: [
			{name: 'CPUS', ...refOf('limits.cpu')},
			{name: 'MILLIS', ...refOf('requests.cpu', '', '1m')},
			{name: 'MEMORY', ...refOf('limits.memory', 'other', '1Mi')},
			{name: 'ALL', value: '$(CPUS)/$(MEMORY)'},
		],
	});
	const outcome = environmentOf(own, around({}, anAssignment({spec: {containers: [own, other]}})));
	const sources = outcome.ok ? outcome.value.sources : [];
	const values = Object.fromEntries(sources.flatMap(source => ('value' in source ? [[source.name, source.value]] : [])));
	t.like(values, {CPUS: '2', MILLIS: '250', MEMORY: '64', ALL: '2/64'});
});

test('a variable uses those before it, never those after, and the last of a name counts', t => {
	const {FIRST, SECOND, THIRD, POD_IP} = environment([
		{name: 'FIRST', value: '$(SECOND)'},
		{name: 'SECOND', value: 'a-$(POD_NAME)'},
		{name: 'THIRD', value: '$(SECOND)!'},
		{name: 'POD_IP', value: 'mine'},
		{name: 'SECOND', value: 'b'},
	]);
	t.deepEqual([FIRST, SECOND, THIRD, POD_IP], ['$(SECOND)', 'b', 'a-web!', 'mine']);
});

test('fields of the pod come by their paths', t => {
	const assignment = anAssignment({labels: {'app.example/part': 'front'}, annotations: {note: 'hi'}});
	const field = (fieldPath: string): string | undefined => environment([{name: 'X', valueFrom: {fieldRef: {fieldPath}}}], assignment)['X'];
	const fields = {
		'metadata.name': 'web',
		'metadata.namespace': 'default',
		'metadata.uid': 'uid-of-web',
		"metadata.labels['app.example/part']": 'front',
		"metadata.annotations['note']": 'hi',
		"metadata.labels['missing']": '',
		"metadata.labels['constructor']": '',
		'spec.nodeName': 'node-a',
		'status.podIP': '127.1.0.5',
		'status.hostIP': '127.0.0.1',
	};
	for (const [path, value] of Object.entries(fields)) t.is(field(path), value, path);
});

const settings = configMapOf({COLOUR: 'green', size: 'XL', constructor: 'c'});

/** The sources beyond the four standard variables, or what is missing. */
function sourcesOf(fields: Pick<Container, 'env' | 'envFrom'>, copies: Copies): readonly EnvSource[] | string {
	const outcome = environmentOf(aContainer(fields), around(copies));
	return outcome.ok ? outcome.value.sources.slice(4) : outcome.problem;
}

const fromConfig = (key: string, optional?: boolean): Container =>
	aContainer({
		env: [{name: 'X', valueFrom: {configMapKeyRef: {name: 'settings', key, ...(optional === undefined ? {} : {optional})}}}],
	});
const fromSecret = (key: string, optional?: boolean) =>
	({name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'db', key, ...(optional === undefined ? {} : {optional})}}}) as const;
const entry = {secret: 'db', version: 'v1', key: 'password', optional: false, otherwise: undefined};

test('values of ConfigMaps are taken from the node’s cache', t => {
	t.deepEqual(sourcesOf(fromConfig('COLOUR'), {'configmaps/default/settings': settings}), [{name: 'X', value: 'green'}]);
	t.deepEqual(sourcesOf(fromConfig('constructor'), {'configmaps/default/settings': settings}), [{name: 'X', value: 'c'}]);
});

test('a ConfigMap or key that is not there is named, unless it is optional: then the variable is not set', t => {
	t.is(sourcesOf(fromConfig('COLOUR'), {}), 'configmap "settings" not found');
	t.is(sourcesOf(fromConfig('COLOUR'), {'configmaps/other/settings': settings}), 'configmap "settings" not found');
	t.is(
		sourcesOf(fromConfig('toString'), {'configmaps/default/settings': settings}),
		"couldn't find key toString in ConfigMap default/settings",
	);
	t.deepEqual(sourcesOf(fromConfig('COLOUR', true), {}), []);
	t.deepEqual(sourcesOf(fromConfig('toString', true), {'configmaps/default/settings': settings}), []);
});

test('a Secret is named with the version that is known, never more; one that is not there is missing unless it is optional', t => {
	t.deepEqual(sourcesOf({env: [fromSecret('password')]}, {'secrets/default/db': secretCopy}), [{name: 'PASSWORD', parts: [entry]}]);
	t.is(sourcesOf({env: [fromSecret('password')]}, {}), 'secret "db" not found');
	t.deepEqual(sourcesOf({env: [fromSecret('password', true)]}, {}), []);
});

test('a text around a secret variable keeps its place open, and what stands there without the entry', t => {
	const env = [fromSecret('password'), {name: 'URL', value: 'db://$(PASSWORD)@$(POD_NAME)'}, {name: 'AGAIN', value: '<$(URL)>'}];
	const open = {...entry, otherwise: '$(PASSWORD)'};
	t.deepEqual(sourcesOf({env}, {'secrets/default/db': secretCopy}), [
		{name: 'PASSWORD', parts: [entry]},
		{name: 'URL', parts: ['db://', open, '@web']},
		{name: 'AGAIN', parts: ['<db://', open, '@web>']},
	]);
});

test('envFrom comes before env, with its prefix; env cannot use it, the command line can', t => {
	const fields = {
		envFrom: [{prefix: 'C_', configMapRef: {name: 'settings'}}, {secretRef: {name: 'db'}}],
		env: [{name: 'C_size', value: '[$(C_COLOUR)]'}],
	};
	const copies = {'configmaps/default/settings': settings, 'secrets/default/db': secretCopy};
	t.deepEqual(sourcesOf(fields, copies), [
		{name: 'C_COLOUR', value: 'green'},
		{name: 'C_size', value: 'XL'},
		{name: 'C_constructor', value: 'c'},
		{entriesOf: {secret: 'db', version: 'v1', optional: false}, prefix: ''},
		{name: 'C_size', value: '[$(C_COLOUR)]'},
	]);
	const spec = containerSpecOf(aContainer({...fields, command: ['node'], args: ['$(C_COLOUR)', '$(C_size)']}), around(copies), 0);
	t.deepEqual(spec.ok && spec.value.argv, ['node', 'green', '[$(C_COLOUR)]']);
	t.is(sourcesOf({envFrom: [{secretRef: {name: 'db'}}]}, {}), 'secret "db" not found');
	t.is(sourcesOf({envFrom: [{configMapRef: {name: 'db'}}]}, {}), 'configmap "db" not found');
	t.deepEqual(sourcesOf({envFrom: [{secretRef: {name: 'db', optional: true}}, {configMapRef: {name: 'db', optional: true}}]}, {}), []);
});

test('a secret variable is not put into a command line, which all users of a node can read', t => {
	const wanted = aContainer({env: [fromSecret('password'), {name: 'URL', value: 'x$(PASSWORD)'}], args: ['--url=$(URL)']});
	const outcome = containerSpecOf(wanted, around({'secrets/default/db': secretCopy}), 0);
	t.like(outcome, {ok: false, reason: 'CreateContainerConfigError'});
	t.regex(outcome.ok ? '' : outcome.message, /command lines/);
});

test('variables that use one another end at the longest environment there is, and the container waits', t => {
	const doubling = (first: string): Container['env'] => [
		{name: 'V0', value: first},
		...Array.from({length: 40}, (_, i) => ({name: `V${i + 1}`, value: `$(V${i})$(V${i})`})),
	];
	const tooLong = 'the environment is longer than 2097152 characters';
	t.is(sourcesOf({env: doubling('0123456789') ?? []}, {}), tooLong);
	const env = [fromSecret('password'), ...(doubling('$(PASSWORD)') ?? [])];
	t.is(sourcesOf({env}, {'secrets/default/db': secretCopy}), tooLong);
	const word = aContainer({env: [{name: 'X', value: 'x'.repeat(1_000)}], command: ['$(X)'.repeat(3_000)]});
	t.deepEqual(containerSpecOf(word, around(), 0), {
		ok: false,
		reason: 'CreateContainerConfigError',
		message: `command and args of container "${word.name}" are longer than 2097152 characters`,
	});
});
