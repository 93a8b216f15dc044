// The password of a SlurmJob does not get past the door.

import test from 'ava';
import {slurmJob} from '../../../api/kinds/slurmjob.js';
import type {Draft} from '../../../api/object.js';
import {lastAppliedAnnotation} from '../../../api/sealed.js';
import {draftWithoutPassword, patchWithoutPassword} from '../../../server/http/inline-password.js';

const target = {kind: slurmJob, namespace: 'default', name: 'matrix', subresource: undefined};
const password = 'hunter2';
const annotations = {[lastAppliedAnnotation]: JSON.stringify({spec: {password, runCommands: ['a']}}), other: 'b'};
const draft = (spec: object): Draft => ({apiVersion: 'troupe.dev/v1', kind: 'SlurmJob', metadata: {name: 'matrix', annotations}, spec});

test('it is taken out of a manifest and of what apply remembers of it, and its Secret is named', t => {
	const {value, password: found} = draftWithoutPassword(target, draft({password, runCommands: ['a']}));
	t.is(found, password);
	t.deepEqual(value.spec, {runCommands: ['a'], secretName: 'matrix-ssh'});
	t.deepEqual(value.metadata.annotations, {[lastAppliedAnnotation]: '{"spec":{"runCommands":["a"]}}', other: 'b'});
	t.is(draftWithoutPassword(target, draft({runCommands: ['a']})).password, undefined);
	t.notRegex(JSON.stringify(draftWithoutPassword(target, draft({runCommands: ['a']})).value), /hunter2/);
});

test('it is taken out of a merge patch, and an operation of a JSON patch that has one is refused', t => {
	const {value, password: found} = patchWithoutPassword(target, {patch: {metadata: {annotations}, spec: {password}}});
	t.is(found, password);
	t.notRegex(JSON.stringify(value), /hunter2/);
	for (const operation of [
		{op: 'add', path: '/spec/password', value: password},
		{op: 'replace', path: '/spec', value: {password}},
		{op: 'replace', path: '', value: {spec: {password}}},
		{op: 'add', path: '/metadata/annotations', value: annotations},
	] as const)
		t.throws(() => patchWithoutPassword(target, {patchType: 'json', patch: [operation]}), {
			message: /^(?!.*hunter2).*is not taken by a JSON patch/,
		});
	for (const [path, value] of [
		['/spec/hostKey', 'SHA256:a'],
		['/spec/secretName', 'password'],
	] as const)
		t.notThrows(() => patchWithoutPassword(target, {patchType: 'json', patch: [{op: 'add', path, value}]}));
});

test('what is written to a status makes no Secret', t => {
	const ofStatus = {...target, subresource: 'status'} as const;
	const {value, password: found} = patchWithoutPassword(ofStatus, {patch: {spec: {password}}});
	t.is(found, undefined);
	t.notRegex(JSON.stringify(value), /hunter2/);
	t.is(draftWithoutPassword(ofStatus, draft({password, runCommands: ['a']})).password, undefined);
});

test('one that is no text, or stands beside another Secret, is refused without being shown', t => {
	for (const spec of [{password: 4711}, {password: [password]}, {password, secretName: 'other'}])
		t.throws(() => draftWithoutPassword(target, draft(spec)), {message: /^(?!.*(4711|hunter2))spec\.password/});
});
