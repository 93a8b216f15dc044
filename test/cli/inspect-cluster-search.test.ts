// Where the inspector finds its cluster again when the connection was lost, and which cluster it does not go to.

import test from 'ava';
import {ClusterSearch, type FoundCluster} from '../../cli/inspect/cluster-search.js';

const cluster = (more: Partial<FoundCluster['broker']> = {}): FoundCluster => ({
	broker: {urls: ['mqtts://127.0.0.1:1'], login: 'ann', role: 'admin', password: 'token', ca: 'authority', trustAnyone: false, ...more},
	aboutOf: url => url,
});

/** A search that finds `next()`, with what it has told. */
function searching(next: () => FoundCluster) {
	const told: string[] = [];
	const search = new ClusterSearch(cluster(), {
		// eslint-disable-next-line @typescript-eslint/require-await -- What it throws rejects.
		findAgain: async () => next(),
		onMoved: () => told.push('moved'),
		onOther: () => told.push('other'),
	});
	return {search, told};
}

test('a cluster that began anew on other ports is gone to', async t => {
	const moved = cluster({urls: ['mqtts://127.0.0.1:2']});
	const {search, told} = searching(() => moved);
	await search.lookAgain();
	await search.lookAgain();
	t.deepEqual(told, ['moved']);
	t.is(search.found, moved);
});

for (const [what, other] of [
	['another authority', {ca: 'another'}],
	['another token', {password: 'another'}],
] as const)
	test(`a cluster with ${what} is another one: it is not gone to, and that is told once for each loss`, async t => {
		const {search, told} = searching(() => cluster({urls: ['mqtts://127.0.0.1:2'], ...other}));
		await search.lookAgain();
		await search.lookAgain();
		t.deepEqual(told, ['other']);
		t.deepEqual(search.found.broker.urls, ['mqtts://127.0.0.1:1']);
		search.connected();
		await search.lookAgain();
		t.deepEqual(told, ['other', 'other']);
	});

test('nothing is told where nothing is found, or the connection came back meanwhile', async t => {
	const absent = searching(() => {
		throw new Error('no cluster');
	});
	await absent.search.lookAgain();
	const back = searching(() => cluster({ca: 'another'}));
	const looking = back.search.lookAgain();
	back.search.connected();
	await looking;
	t.deepEqual([...absent.told, ...back.told], []);
});
