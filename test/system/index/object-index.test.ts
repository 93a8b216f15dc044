import test from 'ava';
import type {ApiObject, Labels} from '../../../api/object.js';
import {matches, type LabelSelector} from '../../../api/selector.js';
import {ObjectIndex} from '../../../system/index/object-index.js';
import {seededRandom} from '../../../system/time/random.js';

type Shape = {
	readonly namespace?: string;
	readonly labels?: Labels;
	readonly owners?: readonly string[];
	readonly node?: string;
	readonly uid?: string;
};

function anObject(name: string, {namespace = 'default', labels, owners, node, uid = `uid-${namespace}-${name}`}: Shape = {}): ApiObject {
	return {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {
			name,
			namespace,
			uid,
			resourceVersion: '1',
			generation: 1,
			creationTimestamp: '',
			...(labels === undefined ? {} : {labels}),
			...(owners === undefined ? {} : {ownerReferences: owners.map(each => ({apiVersion: 'v1', kind: 'X', name: each, uid: each}))}),
		},
		spec: node === undefined ? {} : {nodeName: node},
	};
}

const termsOf = (plural: string, {spec}: ApiObject): readonly string[] => {
	const {nodeName} = spec as {nodeName?: string};
	return plural === 'pods' && nodeName !== undefined ? [`node=${nodeName}`] : [];
};

function anIndex() {
	const index = new ObjectIndex(termsOf);
	let version = 0;
	return {
		index,
		put: (name: string, shape: Shape = {}, plural = 'pods') =>
			index.apply(`${plural}/${shape.namespace ?? 'default'}/${name}`, ++version, anObject(name, shape), () => name),
		remove: (name: string, namespace = 'default') => index.apply(`pods/${namespace}/${name}`, ++version, undefined, () => ''),
	};
}

const namesOf = (objects: Iterable<ApiObject>): string[] => [...objects].map(({metadata}) => metadata.name).sort();

test('an object is found by key, uid, kind, namespace, owner and the terms of its kind', t => {
	const {index, put} = anIndex();
	put('a', {owners: ['set-1', 'set-2'], node: 'n1'});
	put('b', {owners: ['set-1'], node: 'n2'});
	put('c', {namespace: 'other', node: 'n1'});
	put('set', {}, 'replicasets');
	t.is(index.get('pods/default/a')?.metadata.name, 'a');
	t.is(index.byUid('uid-other-c')?.metadata.name, 'c');
	t.is(index.byUid('nobody'), undefined);
	t.deepEqual(namesOf(index.list('pods')), ['a', 'b', 'c']);
	t.deepEqual(namesOf(index.list('pods', 'default')), ['a', 'b']);
	t.deepEqual(namesOf(index.byOwner('set-1')), ['a', 'b']);
	t.deepEqual(namesOf(index.byOwner('set-2')), ['a']);
	t.deepEqual(namesOf(index.byTerm('pods', 'node=n1')), ['a', 'c']);
	t.is(index.countByTerm('pods', 'node=n1'), 2);
	t.is(index.countByTerm('replicasets', 'node=n1'), 0);
	t.is(index.countInNamespace('default'), 3);
	t.deepEqual([index.countOf('pods', 'default'), index.countOf('pods', 'other'), index.countOf('pods', 'none')], [2, 1, 0]);
	t.deepEqual(namesOf(index.inNamespace('default')), ['a', 'b', 'set']);
	t.is(index.size, 4);
});

test('a change files the object anew: it is not found by what it was', t => {
	const {index, put, remove} = anIndex();
	put('a', {labels: {app: 'web'}, owners: ['set-1'], node: 'n1', uid: 'first'});
	put('a', {labels: {app: 'db'}, owners: ['set-2'], node: 'n2', uid: 'second'});
	t.deepEqual(namesOf(index.byOwner('set-1')), []);
	t.deepEqual(namesOf(index.byTerm('pods', 'node=n1')), []);
	t.deepEqual(namesOf(index.select('pods', 'default', {matchLabels: {app: 'web'}})), []);
	t.is(index.byUid('first'), undefined);
	t.deepEqual(namesOf(index.byOwner('set-2')), ['a']);
	t.is(index.countByTerm('pods', 'node=n2'), 1);
	remove('a');
	t.is(index.size, 0);
	t.is(index.countInNamespace('default'), 0);
	t.is(index.byUid('second'), undefined);
	t.deepEqual([...index.byTerm('pods', 'node=n2')], []);
});

test('a cluster-scoped object is in no namespace', t => {
	const index = new ObjectIndex();
	const {namespace: _namespace, ...metadata} = anObject('n1').metadata;
	index.apply('nodes/_/n1', 1, {apiVersion: 'v1', kind: 'Node', metadata}, () => '');
	t.is(index.countInNamespace('_'), 0);
	t.deepEqual(namesOf(index.list('nodes')), ['n1']);
	t.deepEqual(namesOf(index.list('nodes', '_')), ['n1']);
});

test('selecting gives what a look at every object would give, whatever the selector', t => {
	const random = seededRandom(42);
	const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random.next() * values.length)] as Value;
	const {index, put, remove} = anIndex();
	for (let step = 0; step < 400; step++) {
		const [name, namespace] = [`p${step % 60}`, pick(['default', 'other'])];
		const isThere = index.get(`pods/${namespace}/${name}`) !== undefined;
		if (isThere && random.next() < 0.3) remove(name, namespace);
		else put(name, {namespace, labels: {app: pick(['a', 'b', 'c']), tier: pick(['x', 'y'])}});
	}
	const selectors: LabelSelector[] = [
		{},
		{matchLabels: {app: 'a'}},
		{matchLabels: {app: 'a', tier: 'x'}},
		{matchLabels: {app: 'none'}},
		{matchExpressions: [{key: 'app', operator: 'In', values: ['a', 'b']}]},
		{matchLabels: {tier: 'y'}, matchExpressions: [{key: 'app', operator: 'NotIn', values: ['c']}]},
		{matchExpressions: [{key: 'app', operator: 'DoesNotExist'}]},
		{matchExpressions: [{key: 'tier', operator: 'Exists'}]},
	];
	for (const selector of selectors) {
		const wanted = namesOf([...index.list('pods', 'default')].filter(({metadata}) => matches(selector, metadata.labels)));
		t.deepEqual(namesOf(index.select('pods', 'default', selector)), wanted, JSON.stringify(selector));
	}
});

test('a change tells what was before, what is, and the version before it in the same kind and namespace', t => {
	const {put, remove, index} = anIndex();
	const [first, second, elsewhere, otherKind, changed, removed] = [
		put('a'),
		put('b'),
		put('a', {namespace: 'other'}),
		put('set', {}, 'replicasets'),
		put('a', {labels: {x: 'y'}}),
		remove('b'),
	];
	t.deepEqual(
		[first, second, elsewhere, otherKind, changed, removed].map(({version, previous}) => [version, previous]),
		[
			[1, 0],
			[2, 1],
			[3, 0],
			[4, 0],
			[5, 2],
			[6, 5],
		],
	);
	t.is(changed.before?.object, first.after?.object);
	t.is(changed.after?.object.metadata.labels?.['x'], 'y');
	t.is(removed.after, undefined);
	t.is(removed.before?.version, 2);
	t.is(index.entry('pods/default/a')?.previous, 2);
	t.is(put('c').previous, 6, 'a removal counts in the chain');
});

test('what is loaded at start has no predecessor and is no change; the counter never goes back', t => {
	const index = new ObjectIndex(termsOf);
	const object = {...anObject('a', {node: 'n1'}), metadata: {...anObject('a').metadata, resourceVersion: '17'}};
	index.load('pods/default/a', object, () => 'the bytes');
	t.is(index.version, 17);
	t.is(index.entry('pods/default/a')?.json(), 'the bytes');
	t.is(index.entry('pods/default/a')?.previous, 0);
	t.is(index.countByTerm('pods', 'node=n1'), 1);
	index.advance(20);
	index.advance(5);
	t.is(index.version, 20);
	t.is(index.apply('pods/default/a', 21, undefined, () => '').previous, 0);
});

test('entries come in the order of their keys', t => {
	const {index, put} = anIndex();
	for (const name of ['c', 'a', 'b']) put(name);
	put('a', {namespace: 'other'});
	t.deepEqual(
		index.entries('pods').map(({key}) => key),
		['pods/default/a', 'pods/default/b', 'pods/default/c', 'pods/other/a'],
	);
	t.deepEqual(
		index.entries('pods', 'other').map(({key}) => key),
		['pods/other/a'],
	);
	t.deepEqual(index.entries('nothings'), []);
});

test('amounts are added up under their term, and follow each change', t => {
	const sized = new ObjectIndex((_plural, {spec}) => {
		const {size, node} = spec as {size: number; node: string};
		return [`node=${node}`, {term: `size=${node}`, amount: size}];
	});
	let version = 0;
	const put = (name: string, node: string, size: number): void =>
		void sized.apply(`pods/default/${name}`, ++version, {...anObject(name), spec: {size, node}}, () => name);
	put('a', 'n1', 3);
	put('b', 'n1', 4);
	put('c', 'n2', 5);
	t.is(sized.sumByTerm('pods', 'size=n1'), 7);
	put('a', 'n1', 1);
	put('b', 'n2', 4);
	t.deepEqual([sized.sumByTerm('pods', 'size=n1'), sized.sumByTerm('pods', 'size=n2')], [1, 9]);
	sized.apply('pods/default/a', ++version, undefined, () => '');
	t.is(sized.sumByTerm('pods', 'size=n1'), 0);
	t.is(sized.sumByTerm('replicasets', 'size=n2'), 0);
	// Beyond 2^53 a sum is rounded when it is read, and not for ever.
	const large = Array.from({length: 40}, (_, i) => 2 ** 50 - 1 - 7 * i);
	for (const [i, size] of large.entries()) put(`large-${i}`, 'n3', size);
	for (const i of large.keys()) sized.apply(`pods/default/large-${i}`, ++version, undefined, () => '');
	t.is(sized.sumByTerm('pods', 'size=n3'), 0);
});

test('what stays under a term keeps its place there', t => {
	const {index, put} = anIndex();
	for (const name of ['a', 'b', 'c']) put(name, {node: 'n1'});
	put('a', {node: 'n1'});
	t.deepEqual(
		[...index.byTerm('pods', 'node=n1')].map(({metadata}) => metadata.name),
		['a', 'b', 'c'],
	);
});
