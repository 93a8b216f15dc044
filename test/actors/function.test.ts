// A Function and the ReplicaSets of its versions: which there are, and how large.

import test from 'ava';
import type {FunctionObject} from '../../api/kinds/function.js';
import {functionInstanceOf} from '../../api/function-instance.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject, Draft} from '../../api/object.js';
import {templateOf} from '../../actors/control/functions/function-template.js';
import type {Effect, Message} from '../../system/kernel/behavior.js';
import {aFunction, digest, version, writes} from './_functions.js';
import {contextWith, indexOf, openWrites} from './_objects.js';
import {tellRecord} from './_records.js';

const wake: Message = {type: 'wake'};
const told = (fn: FunctionObject, others: readonly ApiObject[] = [], messages: readonly Message[] = [wake]) =>
	tellRecord(fn, messages, contextWith(indexOf(fn, ...others)));

test('a function that was never called has no set, and no activator is asked for', t => {
	const {effects, object} = told(aFunction());
	t.deepEqual(writes(effects), []);
	t.false(effects.some(({type}) => type === 'tell'));
	t.like(object?.status, {observedGeneration: 1, instances: 0, ready: 0, conditions: [{type: 'Callable', status: 'True'}]});
});

test('its first call makes a set of instances, of which the node hears what to run', t => {
	const {effects} = told(aFunction({}, {desired: 2}));
	t.deepEqual(writes(effects), ['create add- 2']);
	const [created] = effects.filter(effect => effect.type === 'create');
	const draft = created?.object as Draft & {readonly spec: ReplicaSet['spec']};
	t.like(draft.metadata, {labels: {'troupe.dev/function': 'add'}, annotations: {'deployment.kubernetes.io/revision': '1'}});
	const {metadata, spec} = draft.spec?.template ?? {};
	t.deepEqual(functionInstanceOf(metadata?.annotations), {
		artifact: digest('a'),
		runtime: 'python',
		concurrency: 2,
		timeoutMs: 30_000,
	});
	t.like(spec, {runtimeClassName: 'process', terminationGracePeriodSeconds: 31, containers: [{name: 'function'}]});
});

test('an instance has the command, the image and the class of its function', t => {
	const podOf = (spec: Partial<FunctionObject['spec']>) => {
		const {metadata, spec: pod} = templateOf(aFunction(spec)) ?? {};
		return {
			instance: functionInstanceOf(metadata?.annotations),
			className: pod?.runtimeClassName,
			...pod?.containers.map(({image, command, imagePullPolicy}) => ({image, command, imagePullPolicy}))[0],
		};
	};
	t.like(podOf({}), {className: 'process', image: 'python', command: undefined});
	t.like(podOf({runtimeClassName: 'docker'}), {className: 'docker', image: 'python:3-slim', instance: {runtime: 'python'}});
	t.like(podOf({runtimeClassName: 'docker', runtime: 'nodejs'}), {image: 'node:22-slim'});
	t.like(podOf({image: 'mine'}), {
		className: 'docker',
		image: 'mine',
		imagePullPolicy: 'IfNotPresent',
		instance: {runtime: 'python', artifact: digest('a')},
	});
	const {artifact: _, runtime: _runtime, ...bare} = aFunction().spec ?? {};
	const program = templateOf({...aFunction(), spec: {...bare, command: ['./serve', '-v']}});
	t.deepEqual(functionInstanceOf(program?.metadata?.annotations), {runtime: 'program', concurrency: 2, timeoutMs: 30_000});
	t.like(program?.spec, {runtimeClassName: 'process', containers: [{image: 'program', command: ['./serve', '-v']}]});
	t.is(
		templateOf({...aFunction(), spec: {...bare, command: ['./serve'], userUploadFilePath: 'add'}}),
		undefined,
		'its folder is not uploaded',
	);
});

test('what is told by its activator is kept, and asked for in the step after', t => {
	const {object, effects} = told(aFunction(), [], [{type: 'demand', desired: 2} as Message]);
	t.is((object as FunctionObject).status?.desired, 2);
	t.deepEqual(
		effects.filter(({type}) => type === 'tell').map(effect => (effect as Extract<Effect, {type: 'tell'}>).message.type),
		['wake'],
	);
});

test('a set is as large as its calls need, and no larger than it may be', t => {
	const fn = aFunction({}, {desired: 2});
	t.deepEqual(writes(told(fn, version(fn, 1, 1)).effects), ['add-1 to 2']);
	const many = aFunction({}, {desired: 7});
	t.deepEqual(writes(told(many, version(many, 1, 1)).effects), ['add-1 to 3']);
	const none = aFunction({}, {desired: 0});
	t.deepEqual(writes(told(none, version(none, 1, 2)).effects), ['add-1 to 0']);
	t.deepEqual(writes(told(fn, version(fn, 1, 2)).effects), []);
});

test('its status tells instances of the newest version from those of others', t => {
	const old = aFunction({artifact: digest('b')}, {desired: 2});
	const fn = aFunction({}, {desired: 2});
	t.like(told(fn, version(old, 1, 2)).object?.status, {instances: 2, ready: 2, updated: 0});
	t.like(told(fn, [...version(old, 1, 2), ...version(fn, 2, 1)]).object?.status, {instances: 3, ready: 3, updated: 1, revision: 2});
});

test('a second look while its writes are under way asks for nothing', t => {
	const fn = aFunction({}, {desired: 2});
	const context = contextWith(indexOf(fn));
	const first = tellRecord(fn, [wake], context);
	t.deepEqual(writes(tellRecord(fn, [wake], {...context, pending: openWrites(first.effects)}).effects), []);
});

test('an old version keeps as many instances as the new one has not ready yet', t => {
	const old = aFunction({artifact: digest('b')}, {desired: 3});
	const fn = aFunction({}, {desired: 3});
	const before = version(old, 1, 3);
	t.deepEqual(writes(told(fn, before).effects), ['create add- 3']);
	t.deepEqual(writes(told(fn, [...before, ...version(fn, 2, 3, 0)]).effects), []);
	t.deepEqual(writes(told(fn, [...before, ...version(fn, 2, 3, 2)]).effects), ['add-1 to 1']);
	t.deepEqual(writes(told(fn, [...before, ...version(fn, 2, 3, 3)]).effects), ['add-1 to 0']);
});

test('a version that comes back gets the next number, and its set', t => {
	const other = aFunction({artifact: digest('b')}, {desired: 1});
	const fn = aFunction({}, {desired: 1});
	const {effects} = told(fn, [...version(fn, 1, 0), ...version(other, 2, 1)]);
	const [update] = effects.filter(effect => effect.type === 'update');
	t.like(update?.message, {patch: {metadata: {annotations: {'deployment.kubernetes.io/revision': '3'}}, spec: {replicas: 1}}});
});

test('versions beyond its history go, the oldest first', t => {
	const fn = aFunction({revisionHistoryLimit: 1}, {desired: 1});
	const old = ['b', 'c', 'd'].flatMap((letter, i) => version(aFunction({artifact: digest(letter)}), i + 1, 0));
	t.deepEqual(writes(told(fn, [...old, ...version(fn, 4, 1)]).effects), ['delete add-1', 'delete add-2']);
});

test('a function whose code nobody has uploaded says so, and has no instances', t => {
	const {artifact: _, ...spec} = aFunction().spec ?? {};
	const {effects, object} = told({...aFunction({}, {desired: 1}), spec: {...spec, userUploadFilePath: 'add'}});
	t.deepEqual(writes(effects), []);
	t.like((object as FunctionObject).status?.conditions, [{type: 'Callable', status: 'False', reason: 'NoCode'}]);
});

test('versions that traffic names are as large as their own calls need, and others go', t => {
	const old = aFunction({artifact: digest('b')});
	const older = aFunction({artifact: digest('c')});
	const fn = aFunction({traffic: [{revision: 1, weight: 90}, {weight: 10}]}, {desired: 1, demands: [{revision: 1, desired: 2}]});
	const {effects, object} = told(fn, [...version(old, 1, 1), ...version(older, 2, 1), ...version(fn, 3, 0)]);
	t.deepEqual(writes(effects).toSorted(), ['add-1 to 2', 'add-2 to 0', 'add-3 to 1']);
	const asked = effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'activate' ? [effect.message] : []));
	t.deepEqual(asked, [
		{type: 'activate', function: 'functions/default/add'},
		{type: 'activate', function: 'functions/default/add', revision: 1},
	] as unknown as typeof asked);
	t.deepEqual((object as FunctionObject).status?.demands, [{revision: 1, desired: 2}]);
});

test('where the newest version is also named by its number, its set is for both', t => {
	const fn = aFunction({traffic: [{revision: 1}, {weight: 1}]}, {desired: 1, demands: [{revision: 1, desired: 1}]});
	t.deepEqual(writes(told(fn, version(fn, 1, 1)).effects), ['add-1 to 2']);
});

test('what traffic does not name any more is forgotten, and its version is one of the old ones', t => {
	const fn = aFunction({}, {desired: 1, demands: [{revision: 1, desired: 2}]});
	const {effects, object} = told(fn, [...version(aFunction({artifact: digest('b')}), 1, 2), ...version(fn, 2, 1)]);
	t.deepEqual(writes(effects), ['add-1 to 0']);
	t.is((object as FunctionObject).status?.demands, undefined);
});

test('a version that traffic names is kept beyond its history, and one that there is not is told', t => {
	const fn = aFunction({revisionHistoryLimit: 0, traffic: [{revision: 1, weight: 1}, {revision: 7}, {}]}, {desired: 1});
	const {effects, object} = told(fn, [
		...version(aFunction({artifact: digest('b')}), 1, 0),
		...version(aFunction({artifact: digest('c')}), 2, 0),
		...version(fn, 3, 1),
	]);
	t.deepEqual(writes(effects), ['delete add-2']);
	const condition = (object as FunctionObject).status?.conditions?.find(({type}) => type === 'TrafficKnown');
	t.regex(condition?.message ?? '', /names revision 7, which there is not/);
});

test('the need of a version is kept beside that of all', t => {
	const fn = aFunction({traffic: [{revision: 1}]}, {desired: 1});
	const {object} = told(fn, [], [{type: 'demand', desired: 2, revision: 1} as Message]);
	t.like(object?.status, {desired: 1, demands: [{revision: 1, desired: 2}]});
});

test('a version that traffic begins to name keeps its instances until its own calls need fewer', t => {
	const old = aFunction({artifact: digest('b')});
	const fn = aFunction({traffic: [{revision: 1, weight: 95}, {weight: 5}]}, {desired: 3, observedGeneration: 0});
	const {effects, object} = told(fn, version(old, 1, 3));
	t.deepEqual(writes(effects), ['create add- 3']);
	t.deepEqual((object as FunctionObject).status?.demands, [{revision: 1, desired: 3}]);
});
