// What runs a Function, and the annotation of its instances: which combinations are refused, and in which words.

import test from 'ava';
import {functionAnnotation, functionInstanceOf} from '../../api/function-instance.js';
import {functionKind, isOfDocker, runtimeOf, type FunctionObject} from '../../api/kinds/function.js';
import {problemsOf} from './_objects.js';

const artifact = `sha256:${'a'.repeat(64)}`;
const problemsOfSpec = (spec: object): readonly string[] =>
	problemsOf({apiVersion: 'troupe.dev/v1', kind: 'Function', metadata: {name: 'add'}, spec});

test('a command takes the place of a runtime, and needs no folder', t => {
	t.deepEqual(problemsOfSpec({command: ['python3', '-m', 'http.server']}), []);
	t.deepEqual(problemsOfSpec({command: ['./serve'], userUploadFilePath: 'add', artifact}), []);
	t.deepEqual(problemsOfSpec({command: ['./serve'], image: 'debian:12'}), []);
	t.deepEqual(problemsOfSpec({command: ['./serve'], userUploadFilePath: 'add', runtime: 'python'}), [
		'spec.runtime: is of code that is loaded by a runner, and command names a program of its own: leave one of them out',
	]);
	t.deepEqual(problemsOfSpec({command: []}), ['spec.command: must name a program']);
	t.deepEqual(problemsOfSpec({command: ['']}), ['spec.command[0]: must name a program, and is empty']);
	t.deepEqual(problemsOfSpec({command: ['a\0b']}), ['spec.command[0]: must not contain a NUL character']);
	t.deepEqual(problemsOfSpec({image: 'debian:12'}), [
		'spec.userUploadFilePath: is required without a command: the folder of the code, which troupe apply uploads',
	]);
	t.deepEqual(problemsOfSpec({artifact}), ['spec.runtime: is required beside artifact: python or nodejs']);
});

test('an image makes instances of class docker, which have one by themselves only for a language', t => {
	const userUploadFilePath = 'add';
	t.deepEqual(problemsOfSpec({userUploadFilePath, image: 'python:3.12'}), []);
	t.deepEqual(problemsOfSpec({userUploadFilePath, runtimeClassName: 'docker'}), []);
	t.deepEqual(problemsOfSpec({userUploadFilePath, image: ''}), ['spec.image: is required']);
	t.deepEqual(problemsOfSpec({userUploadFilePath, image: 'python', runtimeClassName: 'process'}), [
		'spec.runtimeClassName: must be docker, or left out, beside an image: processes have the files of their node',
	]);
	t.deepEqual(problemsOfSpec({command: ['./serve'], runtimeClassName: 'docker'}), [
		'spec.image: is required for a command of class docker: the image that the program runs in',
	]);
	t.regex(
		problemsOfSpec({userUploadFilePath, runtimeClassName: 'vm'}).join(),
		/^spec\.runtimeClassName: must be one of process, docker, got "vm"/,
	);
	t.deepEqual(
		[{}, {image: 'a'}, {runtimeClassName: 'docker'}, {runtimeClassName: 'process'}].map(spec => isOfDocker(spec as never)),
		[false, true, true, false],
	);
	t.deepEqual([runtimeOf({}), runtimeOf({runtime: 'python'}), runtimeOf({command: ['a']})], [undefined, 'python', 'program']);
});

test('what is called a program is shown as its runtime', t => {
	const column = functionKind.columns.find(({name}) => name === 'Runtime');
	const fn: Partial<FunctionObject> = {spec: {command: ['./serve']}};
	t.is(column?.cell(fn as FunctionObject, 0), 'program');
});

const instance = {artifact, runtime: 'program', concurrency: 1, timeoutMs: 1_000};
const annotated = (said: object): Record<string, string> => ({[functionAnnotation]: JSON.stringify(said)});

test('only a program may be an instance without code', t => {
	const {artifact: _, ...bare} = instance;
	t.deepEqual(functionInstanceOf(annotated(instance)), instance as never);
	t.deepEqual(functionInstanceOf(annotated(bare)), bare as never);
	t.is(functionInstanceOf(annotated({...bare, runtime: 'python'})), undefined);
	t.is(functionInstanceOf(annotated({...bare, artifact: 'sha256:1'})), undefined);
	t.is(functionInstanceOf(annotated({...instance, runtime: 'perl'})), undefined);
	t.is(functionInstanceOf(annotated({...instance, command: ['a']})), undefined);
});

test('the container of an instance has a command just where a program takes its calls', t => {
	const problemsOfPod = (runtime: string, container: object): readonly string[] =>
		problemsOf({
			apiVersion: 'v1',
			kind: 'Pod',
			metadata: {name: 'a', annotations: annotated({...instance, runtime})},
			spec: {containers: [{name: 'function', image: 'a', ...container}]},
		});
	const path = 'metadata.annotations["troupe.dev/function"]';
	t.deepEqual(problemsOfPod('program', {command: ['./serve']}), []);
	t.deepEqual(problemsOfPod('python', {}), []);
	t.deepEqual(problemsOfPod('program', {}), [`${path}: with runtime program belongs to a container with a command`]);
	t.deepEqual(problemsOfPod('python', {command: ['./serve']}), [`${path}: with runtime python belongs to a container without a command`]);
	t.deepEqual(problemsOfPod('program', {command: ['./serve'], args: ['a']}), [
		`${path}: belongs to a pod of one container, "function", without args`,
	]);
	t.deepEqual(problemsOfPod('program', {name: 'other', command: ['./serve']}), [
		`${path}: belongs to a pod of one container, "function", without args`,
	]);
});
