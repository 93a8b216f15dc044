// A node's cache in Redis: two keys below a prefix, one for `meta` and one hash with the records; a batch is one script. Only this file
// imports ioredis.
//
// As durable as that Redis is set to be, and never waited for: what it does not take at once has failed, what it does not answer in time
// is unknown.

import {Redis} from 'ioredis';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {checkedStore} from './checked-store.js';
import {aboutMeta, formatMeta, noMeta, parseMeta, sameMeta} from './meta.js';
import type {Batch, CommitOutcome, LoadOutcome, MetaOutcome, Snapshot, StoreDriver, StoredRecord} from './store.js';
import {exponentialBackoffMs} from '../kernel/restart-policy.js';

type State = {readonly redis: Redis; readonly metaKey: string; readonly recordsKey: string; closed: boolean};

/**
 * Connects to `redis://[user:password@]host[:port]/prefix` (`rediss://` with TLS). Once it is connected, `onTrouble` hears of each
 * connection that is lost or fails, also while nothing is written.
 *
 * @throws AppError when the URL is none, or no Redis answers there.
 */
export async function openRedisStore(url: string, onTrouble: (message: string) => void = () => undefined): Promise<StoreDriver> {
	const state = await openState(url, onTrouble);
	return checkedStore(driverOf(state), {whereIs: () => undefined});
}

/** Empties the place: what is there gets other names, in place of what was set aside before. Returns those names. */
export async function setRedisAside(url: string): Promise<string> {
	const {redis, metaKey, recordsKey} = await openState(url);
	const aside = `${placeOf(url).prefix}:damaged`;
	try {
		await redis.eval(asideScript, 4, metaKey, recordsKey, `${aside}:meta`, `${aside}:records`);
		return `${aside}:*`;
	} finally {
		redis.disconnect();
	}
}

async function openState(url: string, onTrouble: (message: string) => void = () => undefined): Promise<State> {
	const place = placeOf(url);
	const redis = new Redis({
		...place.server,
		lazyConnect: true,
		enableOfflineQueue: false,
		maxRetriesPerRequest: 0,
		connectTimeout: limits.storeCallMs,
		commandTimeout: limits.storeCallMs,
		retryStrategy: times => exponentialBackoffMs(times, limits.storeBackoffFirstMs, limits.storeBackoffMaxMs),
	});
	const state: State = {redis, metaKey: `${place.prefix}:meta`, recordsKey: `${place.prefix}:records`, closed: false};
	let opened = false;
	const trouble = (message: string): void => {
		if (opened && !state.closed) onTrouble(message);
	};
	// What fails is told by each call as well; without a listener it would end the process.
	let last: Error | undefined;
	redis.on('error', (error: Error) => {
		last = error;
		trouble(messageOf(error));
	});
	redis.on('close', () => trouble(`the connection to ${place.shown} is lost`));
	try {
		await redis.connect();
		await redis.exists(state.metaKey);
		opened = true;
		return state;
	} catch (error) {
		redis.disconnect();
		throw new AppError('ERR_NOT_REACHABLE', {message: `the cache at ${place.shown} cannot be used: ${messageOf(last ?? error)}`}, error);
	}
}

type Place = {
	readonly server: {
		readonly host: string;
		readonly port: number;
		readonly username?: string;
		readonly password?: string;
		readonly tls?: Record<string, never>;
	};
	readonly prefix: string;
	/** Without the password. */
	readonly shown: string;
};

function placeOf(text: string): Place {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const prefix = url?.pathname.slice(1) ?? '';
	if (url === undefined || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '' || !/^[\w.-]{1,63}$/.test(prefix))
		throw new AppError('ERR_USAGE', {message: 'a cache in Redis must be redis://[user:password@]host[:port]/prefix'});
	const port = url.port === '' ? 6379 : Number(url.port);
	return {
		server: {
			host: url.hostname.replace(/^\[|\]$/g, ''),
			port,
			...(url.username === '' ? {} : {username: decodeURIComponent(url.username)}),
			...(url.password === '' ? {} : {password: decodeURIComponent(url.password)}),
			...(url.protocol === 'rediss:' ? {tls: {}} : {}),
		},
		prefix,
		shown: `${url.hostname}:${port}`,
	};
}

function driverOf(state: State): StoreDriver {
	return {
		name: 'redis',
		commit: (batch, done) => void commit(state, batch).then(done),
		readMeta: done => void readMeta(state).then(done),
		load: (prefix, done) => void load(state, prefix).then(done),
		snapshot: prefix => snapshot(state, prefix),
		close() {
			state.closed = true;
			state.redis.disconnect();
			return Promise.resolve();
		},
	};
}

/** Arguments: expected meta, next meta, then the keys, values and whether each is there; a script runs whole or not at all. */
const commitScript = `
local found = redis.call('GET', KEYS[1])
if (found or '') ~= ARGV[1] then return {0, found or ''} end
for at = 3, #ARGV, 3 do
	if ARGV[at + 2] == '1' then redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) else redis.call('HDEL', KEYS[2], ARGV[at]) end
end
redis.call('SET', KEYS[1], ARGV[2])
return {1, ''}`;

/** One of the two may be missing. */
const asideScript = `
for at = 1, 2 do
	if redis.call('EXISTS', KEYS[at]) == 1 then redis.call('RENAME', KEYS[at], KEYS[at + 2]) else redis.call('DEL', KEYS[at + 2]) end
end`;

async function commit({redis, metaKey, recordsKey, closed}: State, {writes, expected, next}: Batch): Promise<CommitOutcome> {
	if (closed) return {type: 'failed', message: closedMessage};
	const fence = sameMeta(expected, noMeta) ? '' : formatMeta(expected);
	const values = writes.flatMap(({key, body}) => [key, body?.() ?? '', body === undefined ? '0' : '1']);
	try {
		const answer = await redis.eval(commitScript, 2, metaKey, recordsKey, fence, formatMeta(next), ...values);
		const [taken, found] = answer as [number, string];
		if (taken === 1) return {type: 'committed'};
		const other = parseMeta(found) ?? noMeta;
		return {type: 'fenced', message: `the store is at ${aboutMeta(other)}, the writer at ${aboutMeta(expected)}`};
	} catch (error) {
		return {type: isRefused(error) ? 'failed' : 'unknown', message: messageOf(error)};
	}
}

async function readMeta(state: State): Promise<MetaOutcome> {
	if (state.closed) return {ok: false, message: closedMessage};
	try {
		const text = await state.redis.get(state.metaKey);
		const meta = text === null ? undefined : parseMeta(text);
		return text !== null && meta === undefined ? {ok: false, message: damaged(state), damaged: true} : {ok: true, meta};
	} catch (error) {
		return {ok: false, message: messageOf(error)};
	}
}

async function load(state: State, prefix: string): Promise<LoadOutcome> {
	try {
		const {records} = await readAll(state, prefix);
		return {ok: true, records};
	} catch (error) {
		return {ok: false, message: messageOf(error)};
	}
}

async function snapshot(state: State, prefix: string): Promise<Snapshot> {
	const {meta, records} = await readAll(state, prefix);
	return {meta, records: inOnePortion(records)};
}

async function* inOnePortion(records: readonly StoredRecord[]): AsyncIterable<readonly StoredRecord[]> {
	yield await Promise.resolve(records);
}

/** At once: the cache of one node is small. */
async function readAll(
	state: State,
	prefix: string,
): Promise<{readonly meta: Snapshot['meta']; readonly records: readonly StoredRecord[]}> {
	if (state.closed) throw new Error(closedMessage);
	const answers = (await state.redis.multi().get(state.metaKey).hgetall(state.recordsKey).exec()) ?? [];
	const values = answers.map(([error, value]) => {
		if (error !== null) throw error;
		return value;
	});
	const [text, bodies] = values as [string | null, Record<string, string>];
	const meta = text === null ? undefined : parseMeta(text);
	if (text !== null && meta === undefined) throw new Error(damaged(state));
	const records = Object.entries(bodies)
		.filter(([key]) => key.startsWith(prefix))
		.map(([key, body]) => ({key, body}))
		.sort((a, b) => (a.key < b.key ? -1 : 1));
	return {meta, records};
}

const closedMessage = 'the store is closed';
const damaged = ({metaKey}: State): string => `"${metaKey}" is damaged`;

/** Refused by Redis before the script began, or never sent. */
const isRefused = (error: unknown): boolean =>
	error instanceof Error && (error.name === 'ReplyError' || error.message.startsWith("Stream isn't writeable"));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
