// What is kept of objects that are gone, and how much.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {timestampOf, type ApiObject} from '../../../api/object.js';
import {Departed} from '../../../system/commit/departed.js';
import {ObjectIndex} from '../../../system/index/object-index.js';

const nowMs = 1_700_000_000_000;

const object = (name: string, more: Partial<ApiObject['metadata']> = {}, status: object = {}): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name,
		namespace: 'default',
		uid: `uid-${name}`,
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: timestampOf(nowMs),
		...more,
	},
	status,
});

/** An index whose changes are taken. */
function opened() {
	const index = new ObjectIndex();
	const departed = new Departed();
	const write = (name: string, made: ApiObject | undefined, atMs = nowMs): void =>
		departed.take(
			index.apply(`pods/default/${name}`, index.version + 1, made, () => JSON.stringify(made)),
			atMs,
		);
	return {departed, write, of: (name: string, atMs = nowMs) => departed.of(`pods/default/${name}`, atMs)};
}

test('an object is kept as it was when its deletion was asked for, until another one has its name', t => {
	const {write, of, departed} = opened();
	const owned = {ownerReferences: [{apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'owner'}]};
	write('a', object('a', owned, {phase: 'Running'}));
	t.is(of('a'), undefined);
	write('a', object('a', {...owned, deletionTimestamp: timestampOf(nowMs)}, {phase: 'Running'}));
	write('a', object('a', {...owned, deletionTimestamp: timestampOf(nowMs)}, {phase: 'Failed'}));
	t.is(of('a'), undefined);
	write('a', undefined, nowMs + 5);
	t.like(of('a'), {goneAtMs: nowMs + 5, askedVersion: 2});
	t.deepEqual(of('a')?.object, object('a', owned, {phase: 'Running'}));
	t.is([...departed.ownedBy('owner')].length, 1);
	t.is([...departed.ownedBy('another')].length, 0);
	write('a', object('a'));
	t.is(of('a'), undefined);
	write('a', undefined);
	t.deepEqual(of('a')?.object, object('a'), 'what was never marked is kept as it was last');
});

test('it is kept for an hour, and only of so many', t => {
	const {write, of} = opened();
	write('a', object('a'));
	write('a', undefined);
	t.truthy(of('a', nowMs + limits.journalTtlMs - 1));
	t.is(of('a', nowMs + limits.journalTtlMs), undefined);
	for (let i = 0; i <= limits.goneObjects; i++) {
		write(`p${i}`, object(`p${i}`));
		write(`p${i}`, undefined);
	}
	t.is(of('p0'), undefined);
	t.truthy(of('p1'));
});

test('what is large is kept by name alone, and all of it together is bounded', t => {
	const {write, of} = opened();
	write('huge', object('huge', {}, {text: 'x'.repeat(limits.goneObjectBytes)}));
	write('huge', undefined);
	t.is(of('huge')?.object.status, undefined);
	const text = 'x'.repeat(limits.goneObjectBytes - 1_000);
	const fitting = Math.floor(limits.goneBytes / (limits.goneObjectBytes - 500)) + 5;
	for (let i = 0; i < fitting + 10; i++) {
		write(`p${i}`, object(`p${i}`, {}, {text}));
		write(`p${i}`, undefined);
	}
	t.is(of('p0'), undefined);
	t.truthy(of(`p${fitting + 9}`)?.object.status);
});
