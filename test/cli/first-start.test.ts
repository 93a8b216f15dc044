// When an empty store is a first start, and when it is the place of one that was lost.

import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {keepLineage, lineageIn, refuseLostStore, refuseMissingStore} from '../../cli/serving/control/first-start.js';
import {homeOf, type Home} from '../../cli/files/home.js';
import {createMemoryStore} from '../../system/store/memory-store.js';
import {noMeta} from '../../system/store/meta.js';
import {batchOf, commitTo} from '../system/store/store-contract.js';
import {folder} from './_rig.js';

const empty = () => createMemoryStore(queueMicrotask);
const level = {store: 'level', isNew: false};
const etcd = {store: 'etcd://127.0.0.1:2379/a', isNew: false};

const traces: {readonly [what: string]: {readonly leave: (home: Home) => void; readonly ofEtcd: boolean}} = {
	'the lineage it served': {leave: home => writeFileSync(home.lineage, 'ours\n'), ofEtcd: true},
	"an admin's token": {leave: home => writeFileSync(home.adminToken, 'x'), ofEtcd: true},
	// Copied to every server of a cluster before its first start.
	"a cluster's key": {leave: home => writeFileSync(home.clusterKey, 'x'), ofEtcd: false},
	"a node's cache": {leave: home => mkdirSync(path.join(home.data, 'node', 'level'), {recursive: true}), ofEtcd: false},
};

for (const [what, {leave, ofEtcd}] of Object.entries(traces)) {
	test(`beside ${what} an empty store is no first start`, async t => {
		const home = homeOf(await folder(t));
		mkdirSync(home.data);
		await t.notThrowsAsync(refuseLostStore(empty(), home, level), 'a home that is new');
		leave(home);
		await t.throwsAsync(refuseLostStore(empty(), home, level), {
			message: /is empty, and .* says that this home has served a cluster.*--new/,
		});
		if (ofEtcd) await t.throwsAsync(refuseLostStore(empty(), home, etcd), {message: /the store etcd:\/\/127.0.0.1:2379\/a is empty/});
		else await t.notThrowsAsync(refuseLostStore(empty(), home, etcd));
		await t.notThrowsAsync(refuseLostStore(empty(), home, {...level, isNew: true}));
		await t.notThrowsAsync(refuseLostStore(empty(), home, {...level, store: 'memory'}));
		const filled = empty();
		await commitTo(filled, batchOf(noMeta));
		await t.notThrowsAsync(refuseLostStore(filled, home, level));
	});
}

for (const [what, {leave}] of Object.entries(traces)) {
	test(`beside ${what} a store that is missing is refused before one is made`, async t => {
		const home = homeOf(await folder(t));
		mkdirSync(home.data);
		t.notThrows(() => refuseMissingStore(home, level), 'a home that is new');
		leave(home);
		t.throws(() => refuseMissingStore(home, level), {message: /is empty, and .* says that this home has served a cluster.*--new/});
		t.notThrows(() => refuseMissingStore(home, {...level, isNew: true}));
		t.notThrows(() => refuseMissingStore(home, {...level, store: 'memory'}));
		t.notThrows(() => refuseMissingStore(home, etcd), 'it is elsewhere');
		mkdirSync(path.join(home.data, 'control', 'level'), {recursive: true});
		t.notThrows(() => refuseMissingStore(home, level), 'it is there');
	});
}

test('the lineage that was served last is remembered', async t => {
	const home = homeOf(await folder(t));
	mkdirSync(home.data);
	t.is(lineageIn(home), undefined);
	for (const lineage of ['a', 'a', 'b']) {
		await keepLineage(home, lineage);
		t.is(lineageIn(home), lineage);
	}
});
