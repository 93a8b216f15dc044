// A connection to etcd as the store and the election need it: deadlines on every call, one member at a time with another one tried when
// it fails, a pause that grows while none can be reached, and errors that say whether the request can have been taken.
//
// Every key is below the prefix of the URL, so that several clusters (and tests) share one etcd.

import {Buffer} from 'node:buffer';
import {readFileSync} from 'node:fs';
import {
	Etcd3,
	EtcdPermissionDeniedError,
	GRPCDeadlineExceededError,
	GRPCFailedPreconditionError,
	GRPCInvalidArgumentError,
	GRPCResourceExhastedError,
	GRPCUnauthenticatedError,
	GRPCUnavailableError,
	type IOptions,
	type IRequestOp,
} from 'etcd3';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';
import {Members, type CallFailure} from './etcd-members.js';
import {parseEtcdUrl, type EtcdPlace} from './etcd-url.js';

export type EtcdRecord = {readonly key: string; readonly value: string};

export type EtcdPut = {readonly key: string; readonly value: string | undefined; readonly lease?: string};

/** All keys that begin so, or one key. */
export type EtcdKeys = {readonly prefix: string} | {readonly key: string};

export type EtcdPage = {
	readonly records: readonly EtcdRecord[];
	readonly more: boolean;
	/** The revision of etcd that was read. */
	readonly revision: string;
};

/** What a call failed with. */
export class EtcdFailure extends Error implements CallFailure {
	/** Whether the request may have been, or may yet be, taken. */
	readonly mayBeTaken: boolean;
	readonly isRefusal: boolean;
	/** The answer was larger than may be received at once. */
	readonly tooLarge: boolean;

	constructor(error: unknown) {
		super(wordsOf(error), {cause: error});
		this.mayBeTaken = !surelyRefused.some(kind => error instanceof kind) && !isNotSent(error);
		this.isRefusal = error instanceof GRPCResourceExhastedError || surelyRefused.some(kind => error instanceof kind);
		this.tooLarge = error instanceof GRPCResourceExhastedError && error.message.includes('larger than max');
	}
}

/** Promises of calls reject with an `EtcdFailure`. */
export type EtcdClient = {
	/** A portion of the keys in their order, those after `after`; at a revision, or now. */
	readonly range: (
		keys: EtcdKeys,
		page?: {readonly after?: string | undefined; readonly revision?: string | undefined; readonly limit?: number},
	) => Promise<EtcdPage>;
	/**
	 * Does all the puts (an undefined value removes) if the key holds what is expected, or is absent where `undefined` is; otherwise the
	 * answer is what it holds.
	 */
	readonly putIf: (
		fence: {readonly key: string; readonly expected: string | undefined},
		puts: readonly EtcdPut[],
	) => Promise<{readonly done: true; readonly revision: string} | {readonly done: false; readonly found: string | undefined}>;
	readonly put: (put: EtcdPut & {readonly value: string}) => Promise<void>;
	/** Forgets what was overwritten before a revision; without it etcd's space runs out. */
	readonly compact: (revision: string) => Promise<void>;
	/** A lease; etcd may make it longer than was asked for. */
	readonly grant: (ttlMs: number) => Promise<{readonly id: string; readonly ttlMs: number}>;
	/** Renews a lease; false when it is over. */
	readonly keepAlive: (lease: string, deadlineMs: number) => Promise<boolean>;
	readonly revoke: (lease: string) => Promise<void>;
	/** Tells that something changed below a prefix, and when the watch has broken. */
	readonly watch: (prefix: string, onChange: () => void, onEnd: () => void) => Cancel;
	readonly close: () => void;
};

/**
 * Opens a client for `etcd://host:port[,host:port...][/prefix]`. Connects when the first call is made.
 *
 * @throws AppError when the URL is none, or a file that it names cannot be read.
 */
export function connectEtcd(url: string, clock: Clock): EtcdClient {
	const place = parseEtcdUrl(url);
	const clients = place.hosts.map(host => new Etcd3(optionsOf(place, host)));
	return clientOf(new Members(clients, clock, error => new EtcdFailure(error)), place.prefix, clock);
}

function clientOf(members: Members<Etcd3>, prefix: string, clock: Clock): EtcdClient {
	const bytesOf = (key: string): Buffer => Buffer.from(prefix + key);
	const nameOf = (key: Buffer): string => key.toString('utf8').slice(prefix.length);
	const deadlineIn = (ms: number): {deadline: number} => ({deadline: clock.nowMs() + ms});
	const operation = ({key, value, lease}: EtcdPut): IRequestOp =>
		value === undefined
			? {request_delete_range: {key: bytesOf(key)}}
			: {request_put: {key: bytesOf(key), value: Buffer.from(value), ...(lease === undefined ? {} : {lease})}};

	return {
		async range(keys, {after, revision, limit} = {}) {
			const begin = 'prefix' in keys ? keys.prefix : keys.key;
			const request = {
				// The first key after `after` is that key and a zero byte.
				key: after === undefined ? bytesOf(begin) : Buffer.concat([bytesOf(after), Buffer.of(0)]),
				...('prefix' in keys ? {range_end: endOf(bytesOf(begin))} : {}),
				...(limit === undefined ? {} : {limit}),
				...(revision === undefined ? {} : {revision}),
			};
			const {kvs, more, header} = await members.read(({kv}) => kv.range(request, deadlineIn(limits.storeCallMs)));
			return {records: kvs.map(({key, value}) => ({key: nameOf(key), value: value.toString('utf8')})), more, revision: header.revision};
		},
		async putIf({key, expected}, puts) {
			const compare =
				expected === undefined
					? ({target: 'Create', result: 'Equal', key: bytesOf(key), create_revision: 0} as const)
					: ({target: 'Value', result: 'Equal', key: bytesOf(key), value: Buffer.from(expected)} as const);
			const request = {compare: [compare], success: puts.map(operation), failure: [{request_range: {key: bytesOf(key)}}]};
			const {succeeded, responses, header} = await members.write(({kv}) => kv.txn(request, deadlineIn(limits.storeCallMs)));
			return succeeded
				? {done: true, revision: header.revision}
				: {done: false, found: responses[0]?.response_range.kvs[0]?.value.toString('utf8')};
		},
		async put({key, value, lease}) {
			const request = {key: bytesOf(key), value: Buffer.from(value), ...(lease === undefined ? {} : {lease})};
			await members.write(({kv}) => kv.put(request, deadlineIn(limits.storeCallMs)));
		},
		async compact(revision) {
			await members.write(({kv}) => kv.compact({revision}, deadlineIn(limits.storeCallMs)));
		},
		async grant(ttlMs) {
			const request = {TTL: Math.ceil(ttlMs / 1_000)};
			const {ID, TTL} = await members.write(({leaseClient}) => leaseClient.leaseGrant(request, deadlineIn(limits.storeCallMs)));
			return {id: ID, ttlMs: Number(TTL) * 1_000};
		},
		keepAlive: (lease, deadlineMs) => members.urgent(({leaseClient}) => renewed(leaseClient, lease, deadlineIn(deadlineMs))),
		async revoke(lease) {
			await members.write(({leaseClient}) => leaseClient.leaseRevoke({ID: lease}, deadlineIn(limits.storeCallMs)));
		},
		watch: (below, onChange, onEnd) => watchIn(members, bytesOf(below), onChange, onEnd),
		close: () => members.close(),
	};
}

/** One question and one answer on a stream of its own, so that no stream is to be kept whole. */
async function renewed(client: Etcd3['leaseClient'], lease: string, options: {deadline: number}): Promise<boolean> {
	const stream = await client.leaseKeepAlive(options);
	return new Promise((resolve, reject) => {
		stream.on('error', reject);
		stream.on('end', () => reject(new Error('etcd ended the stream of the keep-alive')));
		stream.on('data', ({TTL}) => {
			stream.end();
			resolve(Number(TTL) > 0);
		});
		stream.write({ID: lease});
	});
}

function watchIn(members: Members<Etcd3>, key: Buffer, onChange: () => void, onEnd: () => void): Cancel {
	let over = false;
	let cancelStream: Cancel = () => undefined;
	const end = (): void => {
		if (over) return;
		over = true;
		cancelStream();
		onEnd();
	};
	members
		.urgent(({watchClient}) => watchClient.watch())
		.then(stream => {
			stream.on('error', end);
			stream.on('end', end);
			cancelStream = () => stream.cancel();
			if (over) return stream.cancel();
			stream.on('data', ({canceled, created, events}) => {
				if (canceled) end();
				else if (!over && (created || events.length > 0)) onChange();
			});
			stream.write({create_request: {key, range_end: endOf(key)}});
		})
		.catch(end);
	return () => {
		over = true;
		cancelStream();
	};
}

/** Lets every call through: etcd3's own circuit breaker would refuse calls for five seconds after etcd is back. */
const nothingInBetween: NonNullable<NonNullable<IOptions['faultHandling']>['global']> = {
	_altReturn: undefined as never,
	execute: async call => call({signal: new AbortController().signal}),
	onSuccess: () => ({dispose: () => undefined}),
	onFailure: () => ({dispose: () => undefined}),
};

function optionsOf({secure, files, user}: EtcdPlace, host: string): IOptions {
	return {
		hosts: `${secure ? 'https' : 'http'}://${host}`,
		...(secure && files.ca !== undefined
			? {
					credentials: {
						rootCertificate: contentsOf(files.ca),
						...(files.key === undefined ? {} : {privateKey: contentsOf(files.key)}),
						...(files.cert === undefined ? {} : {certChain: contentsOf(files.cert)}),
					},
				}
			: {}),
		...(user === undefined ? {} : {auth: {username: user.name, password: contentsOf(user.passwordFile).toString('utf8').trimEnd()}}),
		faultHandling: {host: () => nothingInBetween, global: nothingInBetween},
		grpcOptions: {
			// A connection each for transactions, leases and watches: a large batch holds up no keep-alive.
			'grpc.use_local_subchannel_pool': 1,
			'grpc.enable_retries': 0,
			'grpc.keepalive_time_ms': limits.storeKeepAliveMs,
			'grpc.keepalive_timeout_ms': limits.storeCallMs,
			'grpc.initial_reconnect_backoff_ms': limits.storeBackoffFirstMs,
			'grpc.max_reconnect_backoff_ms': limits.storeBackoffMaxMs,
			'grpc.max_receive_message_length': limits.storeAnswerBytes,
		},
	};
}

function contentsOf(file: string): Buffer {
	try {
		return readFileSync(file);
	} catch (error) {
		throw new AppError('ERR_USAGE', {message: `"${file}", which is for etcd, cannot be read: ${wordsOf(error)}`});
	}
}

/** Words of etcd that it says before it looks at what is asked. Not among them is "database space exceeded". */
const surelyRefused = [GRPCInvalidArgumentError, GRPCUnauthenticatedError, EtcdPermissionDeniedError, GRPCFailedPreconditionError];

/** grpc has no code for it, but words: no connection yet, or none to be had. Anything else counts as sent. */
const isNotSent = (error: unknown): boolean =>
	(error instanceof GRPCUnavailableError && error.message.includes('No connection established')) ||
	(error instanceof GRPCDeadlineExceededError && error.message.includes('Waiting for LB pick'));

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message.replace(/^\d+ [A-Z_]+: /, '') : String(error));

/** The first key after all those with the prefix. */
function endOf(prefix: Buffer): Buffer {
	const end = Buffer.from(prefix);
	const last = end.length - 1;
	// Prefixes are not empty and end in plain ASCII.
	end[last] = (end[last] ?? 0) + 1;
	return end;
}
