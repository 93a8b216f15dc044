import test from 'ava';
import type {ApiObject} from '../../api/object.js';
import {fitting, stillShown, withDeleted, withList, withObject, type LiveRows} from '../../cli/get/live.js';

const anObject = (name: string, version = 1): ApiObject =>
	({apiVersion: 'v1', kind: 'Pod', metadata: {name, uid: name, resourceVersion: String(version)}}) as unknown as ApiObject;

const shown = (rows: LiveRows) =>
	[...rows.values()].map(({object, deletedMs}) => `${object.metadata.name}${deletedMs === undefined ? '' : ' deleted'}`);

const three = withList(
	new Map(),
	['a', 'b', 'c'].map(name => anObject(name)),
	0,
);

test('rows stay in their places as they change, new ones come last, deleted ones say so for a moment', t => {
	const changed = withObject(withObject(three, anObject('b', 2), 10), anObject('d'), 20);
	t.deepEqual(shown(changed), ['a', 'b', 'c', 'd']);
	const deleted = withDeleted(changed, anObject('a', 3), 30);
	t.deepEqual(shown(deleted), ['a deleted', 'b', 'c', 'd']);
	t.deepEqual(shown(stillShown(deleted, 4_029)), ['a deleted', 'b', 'c', 'd']);
	t.deepEqual(shown(stillShown(deleted, 4_030)), ['b', 'c', 'd']);
});

test('a new list tells what was deleted while nobody watched', t => {
	t.deepEqual(shown(withList(three, [anObject('a'), anObject('c', 5), anObject('e')], 10)), ['a', 'b deleted', 'c', 'e']);
	t.is(withList(three, [anObject('a')], 10).get('a'), three.get('a'), 'what did not change keeps its time');
});

test('of more rows than fit those are shown that changed last, in their order', t => {
	const rows = withObject(withObject(three, anObject('c', 2), 20), anObject('a', 2), 30);
	const names = (count: number) => fitting(rows, count).map(({object}) => object.metadata.name);
	t.deepEqual([names(9), names(3), names(2), names(1), names(0)], [['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'c'], ['a'], []]);
});
