// Whether an empty store is a first start, or the place of one that was lost. A control plane that begins empty beside a home that has
// served before would stop every program of its nodes.

import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {writeFileAtomic} from '../../../system/files/atomic-file.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {metaFrom} from '../../../system/store/store-calls.js';
import {homeFlag} from '../../files/home-flag.js';
import type {Home} from '../../files/home.js';
import {isShared} from './stores.js';
import type {StoreChoice} from '../serving-options.js';
import {failedError} from '../../command.js';

/** @throws AppError when the store is empty and the home has served one, unless a new cluster is asked for. */
export async function refuseLostStore(
	driver: StoreDriver,
	home: Home,
	{store, isNew}: {store: StoreChoice; isNew: boolean},
): Promise<void> {
	if (isNew || store === 'memory') return;
	const read = await metaFrom(driver);
	// What cannot be read is told when it is loaded.
	if (!read.ok || read.meta !== undefined) return;
	refuse(home, store);
}

/** The same before an embedded store is opened, which would make one that is not there: what is refused leaves nothing behind. */
export function refuseMissingStore(home: Home, {store, isNew}: {store: StoreChoice; isNew: boolean}): void {
	if (isNew || store === 'memory' || isShared(store) || existsSync(path.join(home.data, 'control', 'level'))) return;
	refuse(home, store);
}

function refuse(home: Home, store: StoreChoice): void {
	const trace = traceIn(home, store);
	if (trace === undefined) return;
	const where = isShared(store) ? store : path.join(home.data, 'control');
	throw failedError(
		`the store ${where} is empty, and ${trace} says that this home has served a cluster: nothing was started, since an empty cluster would stop the programs of its nodes. Bring the store back (mount its volume, or check --store), or restore a backup (troupe restore FILE${homeFlag(home.root)}); --new begins a new, empty cluster here`,
	);
}

/** What only a home has that has served; the key of a cluster with several servers is copied before the first start. */
function traceIn(home: Home, store: StoreChoice): string | undefined {
	const ofAny = [home.lineage, home.adminToken];
	const ofOne = [home.clusterKey, path.join(home.data, 'node', 'level')];
	return [...ofAny, ...(isShared(store) ? [] : ofOne)].find(file => existsSync(file));
}

/** Undefined: none was served from this home, or by a version that did not write it down. */
export function lineageIn(home: Home): string | undefined {
	if (!existsSync(home.lineage)) return undefined;
	const text = readFileSync(home.lineage, 'utf8').trim();
	return text === '' ? undefined : text;
}

export async function keepLineage(home: Home, lineage: string): Promise<void> {
	if (lineageIn(home) !== lineage) await writeFileAtomic(home.lineage, `${lineage}\n`, 0o600);
}
