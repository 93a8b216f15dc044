// The store that several servers share: etcd. One transaction per batch, which compares nothing but `meta`, the fence.
//
// A call that ended without an answer has an unknown outcome. So has one that etcd refused for lack of space: it looks at its quota before
// it takes a batch and once more where it applies it.

import {metaStoreKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {checkedStore} from './checked-store.js';
import type {Clock} from '../time/clock.js';
import type {EtcdClient, EtcdPage} from './etcd-client.js';
import {EtcdFailure} from './etcd-client.js';
import {aboutMeta, formatMeta, noMeta, parseMeta, sameMeta} from './meta.js';
import type {Batch, CommitOutcome, LoadOutcome, Meta, MetaOutcome, Snapshot, StoreDriver, StoredRecord} from './store.js';

type State = {
	readonly client: EtcdClient;
	readonly clock: Clock;
	closed: boolean;
	/** A revision, and when it was the newest: what was overwritten before it is forgotten some time later. */
	compact: {readonly revision: string; readonly atMs: number} | undefined;
};

/** The client is the driver's from now on, and closed with it. */
export function createEtcdStore(client: EtcdClient, clock: Clock): StoreDriver {
	const state: State = {client, clock, closed: false, compact: undefined};
	return checkedStore({
		name: 'etcd',
		commit: (batch, done) => void commit(state, batch).then(done),
		readMeta: done => void readMeta(state).then(done),
		load: (prefix, done, read) => void load(state, prefix, read).then(done),
		snapshot: prefix => snapshot(state, prefix),
		close() {
			if (!state.closed) client.close();
			state.closed = true;
			return Promise.resolve();
		},
	});
}

const closedMessage = 'the store is closed';

async function commit(state: State, {writes, expected, next}: Batch): Promise<CommitOutcome> {
	if (state.closed) return {type: 'failed', message: closedMessage};
	const fence = {key: metaStoreKey, expected: sameMeta(expected, noMeta) ? undefined : formatMeta(expected)};
	const puts = [...writes.map(({key, body}) => ({key, value: body?.()})), {key: metaStoreKey, value: formatMeta(next)}];
	try {
		const outcome = await state.client.putIf(fence, puts);
		if (outcome.done) {
			compactNowAndThen(state, outcome.revision);
			return {type: 'committed'};
		}
		const found = parseMeta(outcome.found ?? '') ?? noMeta;
		return {type: 'fenced', message: `the store is at ${aboutMeta(found)}, the writer at ${aboutMeta(expected)}`};
	} catch (error) {
		return {type: error instanceof EtcdFailure && !error.mayBeTaken ? 'failed' : 'unknown', message: messageOf(error)};
	}
}

/** Old revisions are read by a load that is under way alone, and that is over long before. */
function compactNowAndThen(state: State, revision: string): void {
	const atMs = state.clock.monotonicMs();
	const {compact} = state;
	if (compact !== undefined && atMs - compact.atMs < limits.storeCompactMs) return;
	state.compact = {revision, atMs};
	// What another server has forgotten already is refused, and nothing is lost by it.
	if (compact !== undefined) state.client.compact(compact.revision).catch(() => undefined);
}

async function readMeta({client, closed}: State): Promise<MetaOutcome> {
	if (closed) return {ok: false, message: closedMessage};
	try {
		const {records} = await client.range({key: metaStoreKey});
		const text = records[0]?.value;
		const meta = text === undefined ? undefined : parseMeta(text);
		return text !== undefined && meta === undefined ? {ok: false, message: damaged, damaged: true} : {ok: true, meta};
	} catch (error) {
		return {ok: false, message: messageOf(error)};
	}
}

async function load(state: State, prefix: string, read = (record: StoredRecord): StoredRecord => record): Promise<LoadOutcome> {
	if (state.closed) return {ok: false, message: closedMessage};
	try {
		const {records} = await snapshot(state, prefix);
		const all: StoredRecord[] = [];
		for await (const portion of records) for (const record of portion) all.push(read(record));
		return {ok: true, records: all};
	} catch (error) {
		return {ok: false, message: messageOf(error)};
	}
}

/** Everything at the revision of the first question, which is the one for `meta`. */
async function snapshot(state: State, prefix: string): Promise<Snapshot> {
	if (state.closed) throw new Error(closedMessage);
	const {records, revision} = await state.client.range({key: metaStoreKey});
	const text = records[0]?.value;
	const meta: Meta | undefined = text === undefined ? undefined : parseMeta(text);
	if (text !== undefined && meta === undefined) throw new Error(damaged);
	return {meta, records: portions(state, prefix, revision)};
}

async function* portions(state: State, prefix: string, revision: string): AsyncIterable<readonly StoredRecord[]> {
	let limit: number = limits.storeReadRecords;
	let after: string | undefined;
	for (let more = true; more;) {
		if (state.closed) throw new Error(closedMessage);
		const page = await portion(state.client, prefix, {after, revision, limit}).catch(unlessTooLarge);
		if (page === undefined) {
			if (limit === 1) throw new Error(`a record after "${after ?? prefix}" is larger than ${limits.storeAnswerBytes} bytes`);
			limit = Math.ceil(limit / 2);
			continue;
		}
		({more} = page);
		after = page.records.at(-1)?.key;
		limit = Math.min(limits.storeReadRecords, limit * 2);
		yield page.records.filter(({key}) => key !== metaStoreKey).map(({key, value}) => ({key, body: value}));
	}
}

const portion = (
	client: EtcdClient,
	prefix: string,
	page: {readonly after: string | undefined; readonly revision: string; readonly limit: number},
): Promise<EtcdPage> => client.range({prefix}, page);

function unlessTooLarge(error: unknown): undefined {
	if (!(error instanceof EtcdFailure && error.tooLarge)) throw error;
}

const damaged = `"${metaStoreKey}" is damaged`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
