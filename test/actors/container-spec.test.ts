// From a manifest's container to what is started: expansion, environment, command line.

import test from 'ava';
import type {Container} from '../../api/kinds/pod.js';
import {containerSpecOf, environmentOf, expand} from '../../actors/node/container-spec.js';
import {aContainer} from './_objects.js';
import {anAssignment, sandbox} from './_agent.js';

const variables = new Map([
	['A', '1'],
	['B', '$(A)'],
	['EMPTY', ''],
]);

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
		t.is(expand(text, variables), result);
	});
}

const environment = (env: Container['env'], assignment = anAssignment()): Record<string, string> =>
	Object.fromEntries(environmentOf(aContainer(env === undefined ? {} : {env}), assignment, sandbox));

test('every container knows its host name, address, name and namespace', t => {
	t.deepEqual(environment(undefined), {HOSTNAME: 'web', POD_IP: '127.1.0.5', POD_NAME: 'web', POD_NAMESPACE: 'default'});
	t.is(environment(undefined, anAssignment({spec: {hostname: 'front'}}))['HOSTNAME'], 'front');
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

test('the command line is command and args, expanded word by word', t => {
	const wanted = aContainer({
		command: ['serve', '--host=$(POD_IP)'],
		args: ['$(NAME) $(NAME)', '$$(NAME)'],
		env: [{name: 'NAME', value: 'a b'}],
	});
	t.deepEqual(containerSpecOf(wanted, anAssignment(), sandbox, 0)?.argv, ['serve', '--host=127.1.0.5', 'a b a b', '$(NAME)']);
});

test('args alone are a command line, none is none', t => {
	const {command: _command, ...bare} = aContainer();
	t.deepEqual(containerSpecOf({...bare, args: ['true']}, anAssignment(), sandbox, 0)?.argv, ['true']);
	t.is(containerSpecOf(bare, anAssignment(), sandbox, 0), undefined);
});

test('users, limits and streams are handed on; a container’s user counts more than the pod’s', t => {
	const wanted = aContainer({
		tty: true,
		stdin: true,
		workingDir: '/srv',
		resources: {limits: {memory: '64Mi', cpu: '250m'}},
		securityContext: {runAsUser: 7},
	});
	const assignment = anAssignment({spec: {securityContext: {runAsUser: 1, runAsGroup: 2}}});
	t.like(containerSpecOf(wanted, assignment, sandbox, 3), {
		id: {uid: 'uid-of-web', container: 'main'},
		attempt: 3,
		tty: true,
		stdin: true,
		workingDir: '/srv',
		memoryLimitBytes: 67_108_864,
		cpuLimitMillis: 250,
		runAsUser: 7,
		runAsGroup: 2,
	});
	t.like(containerSpecOf(aContainer(), anAssignment(), sandbox, 0), {
		tty: false,
		stdin: false,
		memoryLimitBytes: undefined,
		runAsUser: undefined,
	});
});
