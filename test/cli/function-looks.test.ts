// Functions of a cluster as `logs`, `describe` and `rollout` see them: by their versions and instances.

import test, {type ExecutionContext} from 'ava';
import {templateOf} from '../../actors/control/functions/function-template.js';
import {succeeded} from '../../api/errors.js';
import {functionLabel} from '../../api/function-instance.js';
import type {FunctionObject, FunctionSpec, FunctionStatus} from '../../api/kinds/function.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {objectKey} from '../../api/keys.js';
import {functionRollout} from '../../cli/rollout/function.js';
import {aFunction, digest} from '../actors/_functions.js';
import {aReadyPod, aReplicaSet, ownedBy} from '../actors/_objects.js';
import {openCluster} from './_rig.js';

const ofA: Partial<FunctionSpec> = {
	artifact: digest('a'),
	runtime: 'python',
	timeout: '5s',
	env: [
		{name: 'MODE', value: 'hidden-value'},
		{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'login', key: 'password'}}},
		{name: 'NODE', valueFrom: {fieldRef: {fieldPath: 'spec.nodeName'}}},
	],
	envFrom: [{configMapRef: {name: 'settings'}}],
	resources: {limits: {memory: '64Mi'}},
};
const ofB: Partial<FunctionSpec> = {artifact: digest('b'), runtime: 'nodejs', concurrency: 7};

function aVersion(fn: FunctionObject, revision: number, replicas: number): ReplicaSet {
	const template = templateOf(fn);
	if (template === undefined) throw new Error('it has no code');
	const labels = {...template.metadata?.labels, 'pod-template-hash': `v${revision}`};
	return aReplicaSet({
		name: `add-v${revision}`,
		metadata: {labels, ownerReferences: [ownedBy(fn)], annotations: {'deployment.kubernetes.io/revision': String(revision)}},
		spec: {replicas, selector: {matchLabels: labels}, template: {...template, metadata: {...template.metadata, labels}}},
	});
}

/** A function of version B, with version A before it, an instance, and a set that has its label and is not its own. */
async function open(t: ExecutionContext, status: FunctionStatus = {desired: 1, instances: 1, ready: 1, updated: 1, revision: 2}) {
	const rig = await openCluster(t);
	const {cluster} = rig;
	const fn = aFunction({...ofB, userUploadFilePath: 'add'}, {observedGeneration: 1, ...status});
	const [older, newer] = [aVersion(aFunction(ofA), 1, 0), aVersion(fn, 2, 1)];
	const foreign = aReplicaSet({name: 'foreign', metadata: {uid: 'foreign', labels: {[functionLabel]: 'add'}}});
	const pod = aReadyPod({
		name: 'add-v2-x',
		metadata: {labels: {[functionLabel]: 'add'}, ownerReferences: [ownedBy(newer)]},
		spec: {nodeName: 'node-a', containers: [{name: 'function', image: 'nodejs'}]},
		status: {containerStatuses: [{name: 'function', state: {running: {}}, ready: true, restartCount: 0, image: '', imageID: ''}]},
	});
	for (const object of [fn, older, newer, foreign, pod]) cluster.put(object);
	const read = (): FunctionObject => cluster.control.index.get(objectKey('functions', 'default', 'add')) as FunctionObject;
	return {...rig, fn, read};
}

test('the logs of a function are those of its instances, by every name of the kind', async t => {
	const {cluster, troupe} = await open(t);
	cluster.pod('add-other', {metadata: {labels: {[functionLabel]: 'add'}}});
	const text = Buffer.from('[1] hello\n');
	const asked: string[] = [];
	cluster.onReadLog((node, {id}) => {
		asked.push(`${node} ${id.container}`);
		return succeeded({data: text.toString('base64'), nextOffset: text.length, endOffset: text.length, end: true, attempt: 0});
	});
	for (const words of [['function/add'], ['fn/add'], ['functions', 'add'], ['fn', 'add', '--tail', '5']])
		t.deepEqual(await troupe(['logs', ...words]), {code: 0, out: '[1] hello\n', err: ''});
	t.deepEqual(
		asked,
		Array.from({length: 4}, () => 'node-a function'),
	);
	const missing = await troupe(['logs', 'fn/no-such']);
	t.deepEqual([missing.code, /functions\.troupe\.dev "no-such" not found/.test(missing.err)], [3, true], missing.err);
});

test('a function is described with its versions, its instances and how to call it, and no value of its environment', async t => {
	const {cluster, troupe} = await open(t);
	const {code, out, err} = await troupe(['describe', 'fn', 'add']);
	t.deepEqual([code, err], [0, '']);
	t.regex(
		out,
		/^Runtime: +nodejs\nSource Folder: +add\nArtifact: +sha256:b{64}\nConcurrency: +7 calls at an instance\nMax: +3 instances\n/m,
	);
	t.regex(out, /^Idle: +60s\nTimeout: +30s\nInstances: +1 desired \| 1 total \| 1 ready\nRevision: +2\n/m);
	t.regex(out, /^Call: +POST \/functions\/default\/add\n +troupe execute default\/add '\{\}'\n/m);
	t.regex(
		out,
		/^Versions:\n +REVISION +NAME +READY\n +2 +add-v2 +\d\/1\n +1 +add-v1 +\d\/0\nInstances:\n +NAME +READY +NODE\n +add-v2-x +yes +node-a\n/m,
	);
	t.notRegex(out, /foreign/);
	cluster.put(aFunction(ofA));
	const described = await troupe(['describe', 'function/add']);
	t.regex(described.out, /^Limits: +memory: 64Mi\n/m);
	t.regex(
		described.out,
		/^Environment From: +ConfigMap settings\nEnvironment: +MODE\n +PASSWORD: <set to the key 'password' in secret 'login'>\n/m,
	);
	t.notRegex(described.out, /hidden-value/);
	const long = 'a'.repeat(100);
	const {metadata, ...rest} = aFunction();
	cluster.put({...rest, metadata: {...metadata, name: long, uid: long}});
	t.regex((await troupe(['describe', 'fn', long])).out, /^Versions: +<none>\nInstances: +<none>\n/m, 'its name is no label');
});

test('undo takes what makes the version from its set, and leaves what is said of the function as a whole', async t => {
	const {troupe, read} = await open(t);
	t.is(
		(await troupe(['rollout', 'history', 'fn/add'])).out,
		'function.troupe.dev/add\nREVISION   CHANGE-CAUSE\n1          <none>\n2          <none>\n\n',
	);
	t.regex((await troupe(['rollout', 'history', 'fn/add', '--revision', '1'])).out, /"artifact":"sha256:a{64}"/);
	const skipped = await troupe(['rollout', 'undo', 'fn/add', '--to-revision', '2']);
	t.is(skipped.out, 'function.troupe.dev/add skipped rollback (current template already matches revision 2)\n');
	t.is((await troupe(['rollout', 'undo', 'fn/add', '--dry-run'])).out, 'function.troupe.dev/add rolled back (dry run)\n');
	t.is(read().spec?.artifact, digest('b'));
	t.is((await troupe(['rollout', 'undo', 'fn/add'])).out, 'function.troupe.dev/add rolled back\n');
	const back = read();
	t.like(back.spec, {...ofA, concurrency: 2, max: 3, idle: '60s', userUploadFilePath: 'add', env: back.spec?.env});
	t.deepEqual(
		back.spec?.env?.map(({name, value}) => [name, value]),
		[
			['MODE', 'hidden-value'],
			['PASSWORD', undefined],
			['NODE', undefined],
		],
	);
	t.regex((await troupe(['rollout', 'undo', 'fn/add', '--to-revision', '1'])).out, /skipped rollback/);
	// What was the last version is the one before now, whatever the numbers say until the sets are numbered anew.
	t.is((await troupe(['rollout', 'undo', 'fn/add'])).out, 'function.troupe.dev/add rolled back\n');
	const resources = {limits: {memory: '512Mi'}, requests: {memory: '32Mi'}};
	t.like(read().spec, {artifact: digest('b'), runtime: 'nodejs', concurrency: 7, env: undefined, envFrom: undefined, resources});
});

test('undo goes between a program without code, code of a language, and an image', async t => {
	const {cluster, troupe, read, fn} = await open(t);
	const {artifact: _, runtime: _runtime, userUploadFilePath: _folder, ...bare} = fn.spec ?? {};
	const program: FunctionObject = {...fn, spec: {...bare, command: ['./serve']}};
	const contained: FunctionObject = {...fn, spec: {...fn.spec, image: 'mine:1'}};
	cluster.put(aVersion(program, 1, 0));
	cluster.put(aVersion(contained, 3, 0));
	const undo = async (revision: number) => {
		t.is((await troupe(['rollout', 'undo', 'fn/add', '--to-revision', String(revision)])).out, 'function.troupe.dev/add rolled back\n');
		const {artifact, runtime, command, image, userUploadFilePath} = read().spec ?? {};
		return {artifact, runtime, command, image, userUploadFilePath};
	};
	const nothing = {artifact: undefined, runtime: undefined, command: undefined, image: undefined, userUploadFilePath: undefined};
	t.deepEqual(await undo(1), {...nothing, command: ['./serve']});
	t.regex((await troupe(['describe', 'fn', 'add'])).out, /^Runtime: +program\nCommand: +\.\/serve\n/m);
	t.deepEqual(await undo(3), {...nothing, artifact: digest('b'), runtime: 'nodejs', image: 'mine:1'});
	t.regex((await troupe(['describe', 'fn', 'add'])).out, /^Runtime: +nodejs\nClass: +docker\nImage: +mine:1\n/m);
	t.deepEqual(await undo(2), {...nothing, artifact: digest('b'), runtime: 'nodejs'});
});

test('a version that nobody has called is left for the last one that was', async t => {
	const {cluster, troupe, read, fn} = await open(t);
	cluster.put({...fn, spec: {...fn.spec, artifact: digest('c')}});
	t.is((await troupe(['rollout', 'undo', 'fn/add'])).out, 'function.troupe.dev/add rolled back\n');
	t.is(read().spec?.artifact, digest('b'));
});

test('what does not say what a version was made of changes nothing, and neither does what functions do not have', async t => {
	const {cluster, troupe, read, fn} = await open(t);
	cluster.put(
		aReplicaSet({
			name: 'add-v1',
			metadata: {labels: {[functionLabel]: 'add'}, ownerReferences: [ownedBy(fn)], annotations: {'deployment.kubernetes.io/revision': '1'}},
		}),
	);
	const before = read();
	for (const [words, message] of [
		[['undo', 'fn/add', '--to-revision', '1'], /revision 1 does not say what it was made of/],
		[['undo', 'fn/add', '--to-revision', '9'], /unable to find specified revision 9 in history; there are 1, 2/],
		[['pause', 'fn/add'], /functions\.troupe\.dev "add" pausing is not supported/],
		[['resume', 'fn/add'], /functions\.troupe\.dev "add" resuming is not supported/],
		[['restart', 'fn/add'], /"add" restarting is not supported; .*troupe delete pods -l troupe\.dev\/function=add/],
	] as const) {
		const {code, err} = await troupe(['rollout', ...words]);
		t.deepEqual([code, message.test(err)], [1, true], err);
	}
	t.is(read(), before);
});

test('how far a function is, is said until its newest version has as many ready instances as are wanted', async t => {
	const at = (status: FunctionStatus, revision = 0): string =>
		functionRollout.statusOf(aFunction({}, {observedGeneration: 1, ...status}), revision).text;
	t.is(at({observedGeneration: 0}), 'Waiting for function spec update to be observed...');
	t.is(at({}), 'function "add" is at rest: its newest version begins with the next call');
	const waiting = 'Waiting for function "add" rollout to finish:';
	t.is(at({desired: 2, instances: 2, ready: 2}), `${waiting} 0 of 2 instances of the newest version take calls...`);
	t.is(at({desired: 9, instances: 4, ready: 4, updated: 3}), `${waiting} 1 other instances are pending termination...`);
	t.is(at({desired: 2, instances: 2, ready: 2, updated: 2}), 'function "add" successfully rolled out');
	t.throws(() => at({desired: 1, revision: 2}, 3), {message: 'desired revision (3) is different from the running revision (2)'});
	const conditions = [
		{type: 'Callable', status: 'False', reason: 'NoCode', message: 'its code is not here', lastTransitionTime: ''},
	] as const;
	t.throws(() => at({conditions}), {message: 'function "add" cannot be called: its code is not here'});
	const {troupe} = await open(t);
	t.is((await troupe(['rollout', 'status', 'function/add'])).out, 'function "add" successfully rolled out\n');
});
