import test from 'ava';
import {createMemoryStore, emptyMemoryStore} from '../../../system/store/memory-store.js';
import {noMeta} from '../../../system/store/meta.js';
import {batchOf, commitTo, loadFrom, storeContract} from './store-contract.js';

const defer = (callback: () => void): void => void setImmediate(callback);

storeContract(test, 'memory-store', () => {
	const data = emptyMemoryStore();
	const reopen = () => Promise.resolve(createMemoryStore(defer, data));
	return Promise.resolve({driver: createMemoryStore(defer, data), reopen});
});

test('nothing is serialised until it is loaded', async t => {
	const driver = createMemoryStore(defer);
	let made = 0;
	const body = (): string => `body ${++made}`;
	await commitTo(driver, batchOf(noMeta, {key: '/troupe/registry/a', body}));
	t.is(made, 0);
	t.deepEqual(await loadFrom(driver, '/troupe/'), [{key: '/troupe/registry/a', body: 'body 1'}]);
});
