// What a namespace may hold: counted from the index and from what is on its way, and refused in the words of Kubernetes.

import test from 'ava';
import {kindByPlural} from '../../api/catalogue.js';
import type {Container, Pod, PodSpec} from '../../api/kinds/pod.js';
import type {ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus} from '../../api/kinds/resourcequota.js';
import type {ApiObject, Draft} from '../../api/object.js';
import {watchesOf} from '../../actors/control/kinds.js';
import {collectionBehavior} from '../../actors/control/objects/collection.js';
import type {Context, Effect} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {playFrom} from '../../system/kernel/play.js';
import {aContainer, aNamespace, aPod, aQuota, aReadyPod, aReplicaSet, contextWith, drop, indexOf, put} from './_objects.js';
import {commit, tellRecord} from './_records.js';
import {claimDraft} from './_storage.js';

const asking = (requests: object = {}, limits: object = {}, name = 'main'): Container =>
	aContainer({name, resources: {requests, limits}} as never);

const podOf = (name: string, spec: Partial<PodSpec> = {}, status: object = {}): Pod =>
	aReadyPod({name, metadata: {uid: name}, spec, status: {phase: 'Running', ...status}} as never);

const draftOf = (name: string, spec: Partial<PodSpec> = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, namespace: 'default'},
	spec: {containers: [aContainer()], ...spec},
});

/** The collection of a kind, with the records that it has started and that are not over. */
function collectionOf(plural: string, index: ObjectIndex) {
	const kind = kindByPlural(plural);
	if (kind === undefined) throw new Error(plural);
	const behavior = collectionBehavior(kind);
	const children = new Set<string>();
	let state = behavior.init(null, contextWith(index)).state;
	const create = (object: Draft, more: object = {}): string => {
		const context: Context = {...contextWith(index), hasChild: name => children.has(name)};
		const message = {type: 'create', object, replyTo: {to: 'troupe://control/edge', as: 'edge', id: '1'}, ...more} as const;
		const played = playFrom(behavior, state, [message], context);
		state = played.state;
		const [effect] = played.effects as readonly [Effect];
		if (effect.type === 'reply' && !effect.outcome.ok) return effect.outcome.error.message.replace(/^\S+ "\S+" is forbidden: /, '');
		if (effect.type !== 'spawn') return effect.type;
		if (!effect.name.startsWith('dry-run.')) children.add(effect.name);
		return 'taken';
	};
	return {create, end: (child: string) => children.delete(child), known: () => state};
}

const usedBy = (quota: ResourceQuota, ...objects: readonly ApiObject[]): ResourceQuotaStatus['used'] => {
	const after = tellRecord(quota, [{type: 'wake'}], contextWith(indexOf(quota, ...objects))).object as ResourceQuota;
	return after.status?.used;
};

test('a quota shows what is used of what it bounds: pods that are not over, their requests and limits, and objects', t => {
	const hard = {
		pods: '10',
		'requests.cpu': '4',
		memory: '1Gi',
		'limits.memory': '2Gi',
		'count/pods': '9',
		'count/replicasets.apps': '3',
		secrets: '5',
	};
	const big = {containers: [asking({cpu: '500m', memory: '100Mi'}, {memory: '200Mi'}), asking({cpu: '250m'}, {}, 'b')]};
	t.deepEqual(
		usedBy(
			aQuota('q', hard),
			podOf('a', big),
			podOf('b', big),
			podOf('over', big, {phase: 'Succeeded'}),
			aReplicaSet(),
			aPod({name: 'elsewhere', metadata: {namespace: 'shop'}, spec: big}),
		),
		{
			pods: '2',
			'requests.cpu': '1500m',
			memory: '200Mi',
			'limits.memory': '400Mi',
			'count/pods': '3',
			'count/replicasets.apps': '1',
			secrets: '0',
		},
	);
});

test('the status follows the index, and a second look writes nothing', t => {
	const quota = aQuota('q', {pods: '2'});
	const index = indexOf(quota, podOf('a'));
	const first = commit(index, quota, {type: 'wake'}) as ResourceQuota;
	t.deepEqual(first.status, {hard: {pods: '2'}, used: {pods: '1'}});
	t.is(commit(index, first, {type: 'wake'}), first);
	put(index, podOf('a', {}, {phase: 'Failed'}));
	t.deepEqual((commit(index, first, {type: 'wake'}) as ResourceQuota).status?.used, {pods: '0'});
	drop(index, podOf('a', {}, {phase: 'Failed'}));
	t.deepEqual((commit(index, first, {type: 'wake'}) as ResourceQuota).status?.used, {pods: '0'});
});

test('scopes say which pods count: by their deadline, by whether they ask for anything, and by their class', t => {
	const pods = [
		podOf('plain'),
		podOf('asks', {containers: [asking({cpu: '1'})]}),
		podOf('timed', {activeDeadlineSeconds: 10}),
		podOf('high', {priorityClassName: 'high'}),
		podOf('low', {priorityClassName: 'low', activeDeadlineSeconds: 10}),
	];
	const counted = (more: ResourceQuotaSpec): unknown => usedBy(aQuota('q', {pods: '9'}, more), ...pods)?.['pods'];
	const byClass = (...expressions: readonly (readonly [string, ...string[]])[]): ResourceQuotaSpec => ({
		scopeSelector: {
			matchExpressions: expressions.map(([operator, ...values]) => ({scopeName: 'PriorityClass', operator, values}) as never),
		},
	});
	t.is(counted({}), '5');
	t.is(counted({scopes: ['Terminating']}), '2');
	t.is(counted({scopes: ['NotTerminating']}), '3');
	t.is(counted({scopes: ['BestEffort']}), '4');
	t.is(counted({scopes: ['NotBestEffort']}), '1');
	t.is(counted({scopes: ['Terminating', 'BestEffort']}), '2');
	t.is(counted({scopes: ['PriorityClass']}), '2');
	t.is(counted(byClass(['In', 'high', 'none'])), '1');
	t.is(counted(byClass(['NotIn', 'high'])), '4');
	t.is(counted(byClass(['DoesNotExist'])), '3');
	t.is(counted(byClass(['Exists'], ['NotIn', 'high'])), '1');
	t.is(counted(byClass(['In', 'high', 'low'], ['NotIn', 'low'])), '1');
	t.is(counted(byClass(['In', 'high'], ['DoesNotExist'])), '0');
	t.is(counted({scopes: ['Terminating'], ...byClass(['Exists'])}), '1');
});

test('what is exceeded is said with what is asked for, used and allowed, of each quota that it does not fit into first', t => {
	const {create} = collectionOf('pods', indexOf(aQuota('b', {pods: '0'}), aQuota('a', {pods: '1', 'count/pods': '1'}), podOf('there')));
	t.is(
		create(draftOf('web')),
		'exceeded quota: a, requested: count/pods=1,pods=1, used: count/pods=1,pods=1, limited: count/pods=1,pods=1',
	);
	const sized = collectionOf(
		'pods',
		indexOf(aQuota('a', {'requests.memory': '300Mi'}), podOf('there', {containers: [asking({memory: '200Mi'})]})),
	);
	t.is(
		sized.create(draftOf('web', {containers: [asking({memory: '150Mi'})]})),
		'exceeded quota: a, requested: requests.memory=150Mi, used: requests.memory=200Mi, limited: requests.memory=300Mi',
	);
	t.is(sized.create(draftOf('web', {containers: [asking({memory: '100Mi'})]})), 'taken');
});

test('where cpu or memory is bounded each container says how much of it it takes; a limit is its request', t => {
	const {create} = collectionOf('pods', indexOf(aQuota('a', {'limits.cpu': '4', memory: '4Gi', pods: '9'})));
	const two = [asking({memory: '1Mi'}, {}, 'c2'), asking({}, {}, 'c1')];
	t.is(create(draftOf('web', {containers: two})), 'failed quota: a: must specify limits.cpu for: c1,c2; memory for: c1');
	t.is(create(draftOf('web', {containers: [asking({}, {cpu: '1', memory: '1Mi'})]})), 'taken');
});

test('of creates on their way one gets the last place; what is refused after all, or crashed, gives its place back', t => {
	const index = indexOf(aQuota('a', {pods: '2'}), podOf('there'));
	const {create, end, known} = collectionOf('pods', index);
	t.is(create(draftOf('one')), 'taken');
	const full = 'exceeded quota: a, requested: pods=1, used: pods=2, limited: pods=2';
	t.is(create(draftOf('two')), full);
	// Its record ended without an object.
	end('default.one');
	t.is(create(draftOf('two')), 'taken');
	put(index, podOf('two'));
	t.is(create(draftOf('three')), full);
	end('default.two');
	drop(index, podOf('two'));
	t.is(create(draftOf('three')), 'taken');
	// Nothing is kept of what is over.
	t.is(known().coming.length, 1);
});

test('a trial is refused like a create and takes nothing; what admission will refuse takes nothing either', t => {
	const {create} = collectionOf('pods', indexOf(aQuota('a', {pods: '1'}), aNamespace('shop')));
	t.is(create(draftOf('one'), {dryRun: true}), 'taken');
	t.is(create({...draftOf('broken'), spec: {containers: 'none'}}), 'taken');
	t.is(create(draftOf('one')), 'taken');
	t.is(create(draftOf('two'), {dryRun: true}), 'exceeded quota: a, requested: pods=1, used: pods=1, limited: pods=1');
	t.is(create({...draftOf('elsewhere'), metadata: {name: 'elsewhere', namespace: 'shop'}}), 'taken');
});

test('objects of any kind are counted, and a scoped quota is about pods alone', t => {
	const map = (name: string): Draft => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, namespace: 'default'}});
	const maps = collectionOf(
		'configmaps',
		indexOf(aQuota('a', {configmaps: '1', 'count/configmaps': '5'}), aQuota('s', {pods: '0'}, {scopes: ['BestEffort']})),
	);
	t.is(maps.create(map('one')), 'taken');
	t.is(maps.create(map('two')), 'exceeded quota: a, requested: configmaps=1, used: configmaps=1, limited: configmaps=1');
	const sets = collectionOf('replicasets', indexOf(aQuota('a', {'count/replicasets.apps': '0', 'count/replicasets': '9'})));
	const {metadata, status: _status, ...set} = aReplicaSet();
	t.is(
		sets.create({...set, metadata: {name: metadata.name, namespace: 'default'}}),
		'exceeded quota: a, requested: count/replicasets.apps=1, used: count/replicasets.apps=0, limited: count/replicasets.apps=0',
	);
	const scoped = collectionOf('pods', indexOf(aQuota('a', {pods: '0'}, {scopes: ['Terminating']})));
	t.is(scoped.create(draftOf('stays')), 'taken');
	t.regex(scoped.create(draftOf('timed', {activeDeadlineSeconds: 5})), /^exceeded quota: a/);
});

const claimOf = (name: string, storage: string, storageClassName = 'local'): ApiObject => ({
	...aPod({name, metadata: {uid: name}}),
	kind: 'PersistentVolumeClaim',
	...{spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage}}, storageClassName}, status: {phase: 'Pending'}},
});

test('claims count by number and by what they request, all and those of one class', t => {
	const hard = {
		persistentvolumeclaims: '9',
		'requests.storage': '10Gi',
		'local.storageclass.storage.k8s.io/requests.storage': '5Gi',
		'local.storageclass.storage.k8s.io/persistentvolumeclaims': '3',
		'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '3',
	};
	const there = [claimOf('a', '1Gi'), claimOf('b', '512Mi'), claimOf('c', '2Gi', '')];
	t.deepEqual(usedBy(aQuota('q', hard), ...there), {
		persistentvolumeclaims: '3',
		'requests.storage': '3584Mi',
		'local.storageclass.storage.k8s.io/requests.storage': '1536Mi',
		'local.storageclass.storage.k8s.io/persistentvolumeclaims': '2',
		'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '0',
	});
	const index = indexOf(...there);
	const used = (): number => index.sumByTerm('persistentvolumeclaims', 'used=storage/default');
	t.is(used(), 3584 * 2 ** 20);
	for (const claim of there) drop(index, claim);
	t.is(used(), 0);
});

test('a claim that asks for more than is left is refused, by what is committed and what is on its way; one of another class may come', t => {
	const ofLocal = 'local.storageclass.storage.k8s.io';
	const claimsWith = (hard: Readonly<Record<string, string>>) =>
		collectionOf('persistentvolumeclaims', indexOf(aQuota('a', hard), claimOf('there', '1Gi')));
	const sized = claimsWith({'requests.storage': '3Gi'});
	const asks = (storage: string): object => ({resources: {requests: {storage}}});
	const refusal = (requested: string, used: string): string =>
		`exceeded quota: a, requested: requests.storage=${requested}, used: requests.storage=${used}, limited: requests.storage=3Gi`;
	t.is(sized.create(claimDraft('large', asks('2049Mi'))), refusal('2049Mi', '1Gi'));
	t.is(sized.create(claimDraft('one', asks('1.5Gi'))), 'taken');
	t.is(sized.create(claimDraft('two', asks('1Gi'))), refusal('1Gi', '2560Mi'));
	sized.end('default.one');
	t.is(sized.create(claimDraft('two', asks('1Gi'))), 'taken');
	const classed = claimsWith({[`${ofLocal}/persistentvolumeclaims`]: '1', [`${ofLocal}/requests.storage`]: '9Gi'});
	t.is(
		classed.create(claimDraft('local')),
		`exceeded quota: a, requested: ${ofLocal}/persistentvolumeclaims=1, used: ${ofLocal}/persistentvolumeclaims=1, ` +
			`limited: ${ofLocal}/persistentvolumeclaims=1`,
	);
	t.is(classed.create(claimDraft('other', {storageClassName: 'fast'})), 'taken');
});

test('a quota on objects that there are not is told, once', t => {
	const quota = aQuota('a', {'count/deployment.apps': '1', pods: '1'});
	const index = indexOf(quota);
	const {effects} = tellRecord(quota, [{type: 'wake'}], contextWith(index));
	t.like(effects, [
		{type: 'event', reason: 'UnknownResource', message: 'this version has no objects that count/deployment.apps could count'},
	]);
	const after = commit(index, quota, {type: 'wake'}) as ResourceQuota;
	t.deepEqual(tellRecord(after, [{type: 'wake'}], contextWith(index)).effects, []);
});

test('only what comes, goes, or is over wakes the quotas of its namespace', t => {
	const index = indexOf(aQuota('a', {pods: '1'}));
	const woken = (plural: string, before: ApiObject | undefined, after: ApiObject | undefined): number =>
		watchesOf(plural)
			.flatMap(watch => [...watch({before, after}, index)])
			.filter(({kind}) => kind === 'ResourceQuota').length;
	const pod = podOf('a');
	t.is(woken('pods', undefined, pod), 1);
	t.is(woken('pods', pod, {...pod, status: {phase: 'Running', podIP: '127.0.0.9'}}), 0);
	t.is(woken('pods', pod, {...pod, status: {phase: 'Failed'}}), 1);
	t.is(woken('pods', pod, undefined), 1);
	t.is(woken('replicasets', aReplicaSet(), aReplicaSet({spec: {replicas: 7}})), 0);
	t.is(woken('replicasets', aReplicaSet(), undefined), 1);
	t.is(woken('pods', undefined, aPod({metadata: {namespace: 'shop'}})), 0);
});
