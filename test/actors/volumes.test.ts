// What a manifest's volumes become, and what they wait for.

import test from 'ava';
import {objectKey} from '../../api/keys.js';
import type {Volume} from '../../api/kinds/pod.js';
import {contentVersion, volumesOf} from '../../actors/node/pods/volumes.js';
import {configKeysOf} from '../../actors/config-references.js';
import {anAssignment} from './_agent.js';
import {cacheOf, configMapOf, dbKey, secretCopy, settingsKey} from './_config.js';
import {aContainer} from './_objects.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const known = cacheOf({
	[settingsKey]: {...configMapOf({'app.conf': 'a=1', other: 'é'}), binaryData: {icon: 'AAEC'}} as never,
	[dbKey]: secretCopy,
});
const made = (volume: Omit<Volume, 'name'>) => volumesOf(anAssignment({spec: {volumes: [{name: 'v', ...volume}]}}), known);
const sourceOf = (volume: Omit<Volume, 'name'>): unknown => {
	const outcome = made(volume);
	return outcome.ok ? outcome.value[0]?.source : outcome.problem;
};

test('hostPath, nfs and emptyDir are passed on, with sizes in bytes', t => {
	t.deepEqual(sourceOf({hostPath: {path: '/srv', type: 'Directory'}}), {type: 'hostPath', path: '/srv', check: 'Directory'});
	t.deepEqual(sourceOf({hostPath: {path: '/srv'}}), {type: 'hostPath', path: '/srv', check: ''});
	t.deepEqual(sourceOf({nfs: {server: 'files', path: '/srv'}}), {type: 'nfs', server: 'files', path: '/srv', readOnly: false});
	t.deepEqual(sourceOf({emptyDir: {}}), {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined});
	t.deepEqual(sourceOf({emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}}), {type: 'emptyDir', inMemory: true, sizeLimitBytes: 1_048_576});
	t.deepEqual(sourceOf({}), {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined});
});

test('a ConfigMap is a file for each entry, or those that are chosen', t => {
	t.deepEqual(sourceOf({configMap: {name: 'settings'}}), {
		type: 'files',
		files: [
			{path: 'app.conf', mode: 0o644, data: base64('a=1')},
			{path: 'other', mode: 0o644, data: base64('é')},
			{path: 'icon', mode: 0o644, data: 'AAEC'},
		],
	});
	const items = [
		{key: 'app.conf', path: 'etc/app.conf', mode: 0o600},
		{key: 'other', path: 'x'},
	];
	t.deepEqual(sourceOf({configMap: {name: 'settings', items, defaultMode: 0o400}}), {
		type: 'files',
		files: [
			{path: 'etc/app.conf', mode: 0o600, data: base64('a=1')},
			{path: 'x', mode: 0o400, data: base64('é')},
		],
	});
});

test('a Secret is named, and opened by nobody here', t => {
	const ref = {secret: 'db', version: 'v1', optional: false};
	t.deepEqual(sourceOf({secret: {secretName: 'db'}}), {type: 'secret', ref, items: undefined, mode: 0o644});
	t.deepEqual(sourceOf({secret: {secretName: 'db', items: [{key: 'k', path: 'p'}], defaultMode: 0o400, optional: true}}), {
		type: 'secret',
		ref: {...ref, optional: true},
		items: [{key: 'k', path: 'p', mode: 0o400}],
		mode: 0o400,
	});
});

test('what is not there is waited for by name, unless it is optional', t => {
	t.is(sourceOf({configMap: {name: 'none'}}), 'configmap "none" not found');
	t.is(sourceOf({secret: {secretName: 'none'}}), 'secret "none" not found');
	const items = [{key: 'nothing', path: 'p'}];
	t.is(sourceOf({configMap: {name: 'settings', items}}), "couldn't find key nothing in ConfigMap default/settings");
	const empty = {type: 'files', files: []};
	t.deepEqual(sourceOf({configMap: {name: 'none', optional: true}}), empty);
	t.deepEqual(sourceOf({secret: {secretName: 'none', optional: true}}), empty);
	t.deepEqual(sourceOf({configMap: {name: 'settings', items, optional: true}}), empty);
	t.is(
		sourceOf({configMap: {name: 'settings', items: [{key: 'constructor', path: 'p'}]}}),
		"couldn't find key constructor in ConfigMap default/settings",
	);
});

test('a node is sent what volumes name, the optional too', t => {
	const volumes: Volume[] = [
		{name: 'a', configMap: {name: 'settings', optional: true}},
		{name: 'b', secret: {secretName: 'db'}},
		{name: 'c', configMap: {name: 'settings'}},
		{name: 'd', emptyDir: {}},
	];
	t.deepEqual(configKeysOf({containers: [aContainer()], volumes}, 'default'), [settingsKey, dbKey]);
});

test('their content has another version when anything named has', t => {
	const assignment = anAssignment({
		spec: {
			volumes: [
				{name: 'a', configMap: {name: 'settings'}},
				{name: 'b', secret: {secretName: 'later'}},
			],
		},
	});
	const before = contentVersion(assignment, known);
	t.is(contentVersion(assignment, known), before);
	t.not(
		contentVersion(assignment, cacheOf({[settingsKey]: configMapOf({}), [objectKey('secrets', 'default', 'later')]: secretCopy})),
		before,
	);
});

test('a claim is its volume, once it has one that can be used here', t => {
	const key = objectKey('persistentvolumeclaims', 'default', 'data');
	const spec = {volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}]};
	t.deepEqual(configKeysOf({...anAssignment({spec}).spec}, 'default'), [key]);
	const source = {type: 'local', volume: 'pvc-1', path: '/srv/volumes/pvc-1'} as const;
	const withCopies = (named: Parameters<typeof cacheOf>[0]) => volumesOf(anAssignment({spec}), cacheOf(named));
	t.deepEqual(withCopies({[key]: {type: 'claim', source}}), {ok: true, value: [{name: 'v', source}]});
	t.deepEqual(withCopies({}), {ok: false, problem: 'persistentvolumeclaim "data" not found, or not bound yet'});
	t.deepEqual(withCopies({[key]: {type: 'claim', source: {type: 'elsewhere', why: 'not here'}}}), {ok: false, problem: 'not here'});
});
