// Stores under runs of workflows: LevelDB in a folder, or an etcd that runs.

import {connectEtcd} from '../../../system/store/etcd-client.js';
import {createEtcdStore} from '../../../system/store/etcd-store.js';
import {openLevelStore} from '../../../system/store/level-store.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {systemClock} from '../../../system/time/clock.js';

/** A folder that is made if need be, or `etcd://…/PREFIX`. */
export type StoreAt = {readonly level: string} | {readonly etcd: string};

export const openStore = async (at: StoreAt): Promise<StoreDriver> =>
	'level' in at ? openLevelStore(at.level) : createEtcdStore(connectEtcd(at.etcd, systemClock), systemClock);
