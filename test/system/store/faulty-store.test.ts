import test from 'ava';
import {systemClock} from '../../../system/time/clock.js';
import {faultyStore} from '../../../system/store/faulty-store.js';
import {createMemoryStore, emptyMemoryStore} from '../../../system/store/memory-store.js';
import {noMeta} from '../../../system/store/meta.js';
import {seededRandom} from '../../../system/time/random.js';
import type {CommitOutcome} from '../../../system/store/store.js';
import {batchOf, commitTo, metaOf, storeContract, writing} from './store-contract.js';

const defer = (callback: () => void): void => void setImmediate(callback);
const kind = {random: seededRandom(1), clock: systemClock, failRate: 0, unknownRate: 0};

storeContract(test, 'faulty-store', () => {
	const data = emptyMemoryStore();
	const open = () => faultyStore(createMemoryStore(defer, data), kind);
	return Promise.resolve({driver: open(), reopen: () => Promise.resolve(open())});
});

test('what it reports as failed did not happen, and what it reports as unknown either did or did not', async t => {
	const driver = faultyStore(createMemoryStore(defer), {...kind, failRate: 0.3, unknownRate: 0.3});
	const seen = new Set<CommitOutcome['type']>();
	let meta = noMeta;
	for (let at = 0; at < 200; at++) {
		const batch = batchOf(meta, writing(`/troupe/registry/${at}`, 'x'));
		const {type} = await commitTo(driver, batch);
		seen.add(type);
		const found = await metaOf(driver);
		const now = found.ok ? (found.meta ?? noMeta) : t.fail('it answers questions');
		if (typeof now === 'boolean') return;
		if (type === 'committed') t.deepEqual(now, batch.next);
		else if (type === 'failed') t.deepEqual(now, meta);
		else t.true(now.version === meta.version || now.version === batch.next.version);
		meta = now;
	}
	t.deepEqual([...seen].sort(), ['committed', 'failed', 'unknown']);
});
