// Which store a server keeps its objects in, and what decides who leads over it. Only what is asked for is loaded.

import path from 'node:path';
import type {Election} from '../../../system/leadership/election.js';
import {createMemoryStore} from '../../../system/store/memory-store.js';
import {createSoleElection} from '../../../system/leadership/sole-election.js';
import type {StoreDriver} from '../../../system/store/store.js';
import type {ServeContext} from '../process/serve.js';
import type {StoreChoice} from '../serving-options.js';

export type Stores = {
	/** Whether other servers may have it too. */
	readonly shared: boolean;
	/** A driver of its own for each term. */
	readonly open: () => Promise<StoreDriver>;
	readonly election: Election;
};

export const isShared = (store: StoreChoice): boolean => /^etcds?:/.test(store);

export async function storesOf(store: StoreChoice, {home, processParts, log}: ServeContext): Promise<Stores> {
	const {clock, random, executor} = processParts;
	if (store === 'memory') return sole(() => Promise.resolve(createMemoryStore(executor.defer)));
	if (!isShared(store))
		return sole(async () => (await import('../../../system/store/level-store.js')).openLevelStore(path.join(home.data, 'control')));
	const [{connectEtcd}, {createEtcdStore}, {createEtcdElection}] = await Promise.all([
		import('../../../system/store/etcd-client.js'),
		import('../../../system/store/etcd-store.js'),
		import('../../../system/leadership/etcd-election.js'),
	]);
	return {
		shared: true,
		open: () => Promise.resolve(createEtcdStore(connectEtcd(store, clock), clock)),
		election: createEtcdElection({client: connectEtcd(store, clock), clock, random, onWarning: message => log.warn(message)}),
	};
}

const sole = (open: () => Promise<StoreDriver>): Stores => ({shared: false, open, election: createSoleElection()});
