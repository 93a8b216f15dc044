// A gateway over a test cluster, and ways to call it.

import type {ExecutionContext} from 'ava';
import type {Identity} from '../../api/roles.js';
import type {ArtifactStore} from '../../server/artifact-store.js';
import type {FunctionCalls} from '../../server/functions/calls.js';
import {createGateway, type GatewayOptions} from '../../server/gateway.js';
import {sealsOf} from '../../server/seal.js';
import type {ConnectionBounds} from '../../server/listener.js';
import {systemClock} from '../../system/time/clock.js';
import type {Newcomers} from '../../system/broker/newcomers.js';
import {ask, type Ask} from './support.js';
import {testCluster, type TestCluster} from './cluster.js';

const identities: Readonly<Record<string, Identity>> = {
	admin: {name: 'root', role: 'admin'},
	viewer: {name: 'eve', role: 'view'},
	tool: {name: 'meter', role: 'tool'},
	scraper: {name: 'prometheus', role: 'metrics'},
	editor: {name: 'ed', role: 'edit'},
	'node-a': {name: 'node-a', role: 'node', node: 'node-a'},
	'node-b': {name: 'node-b', role: 'node', node: 'node-b'},
};

export type Called = {readonly status: number; readonly headers: Record<string, string | string[] | undefined>; readonly text: string};

/** A door on a free port of plain http, that is closed with the test; bugs of handlers are collected. */
export async function openDoor(
	t: ExecutionContext,
	cluster: TestCluster = testCluster(),
	bounds?: ConnectionBounds,
	newcomers?: Newcomers,
	artifacts?: ArtifactStore,
	calls?: FunctionCalls,
	measured: Pick<GatewayOptions, 'scrapes' | 'onAnswered'> = {},
) {
	const bugs: unknown[] = [];
	const gateway = createGateway({
		upstream: () => ({
			type: 'serving',
			control: cluster.control,
			inspection: cluster.inspection,
			authenticate: token => (token === undefined ? undefined : identities[token]),
			access: undefined,
			seals: sealsOf(new Uint8Array(32)),
			artifacts,
			calls,
		}),
		tls: undefined,
		version: '0.1.0',
		clock: systemClock,
		onBug: error => bugs.push(error),
		...measured,
		...(bounds === undefined ? {} : {bounds}),
		...(newcomers === undefined ? {} : {newcomers}),
	});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	const url = `http://127.0.0.1:${port}`;
	const authorization = 'Bearer admin';

	const call = (method: string, path: string, body?: unknown, headers: Ask['headers'] = {}) =>
		ask(url + path, {
			method,
			headers: {authorization, ...(body === undefined ? {} : {'content-type': 'application/json'}), ...headers},
			...(body === undefined ? {} : {body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)}),
		});

	return {
		cluster,
		gateway,
		bugs,
		port,
		url,
		authorization,
		call,
		/** The JSON of an answer with the status that is expected. */
		json: async <Body = Record<string, unknown>>(
			status: number,
			method: string,
			path: string,
			body?: unknown,
			headers?: Ask['headers'],
		): Promise<Body> => {
			const answer = await call(method, path, body, headers);
			t.is(answer.status, status, `${method} ${path}: ${answer.text}`);
			return JSON.parse(answer.text) as Body;
		},
	};
}

export type Door = Awaited<ReturnType<typeof openDoor>>;

/** JSON patches. */
export const jsonPatchType = {'content-type': 'application/json-patch+json'};

/** Merge patches. */
export const mergeType = {'content-type': 'application/merge-patch+json'};

export const tableAccept = {
	accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
};

export type StatusBody = {
	readonly kind: string;
	readonly message: string;
	readonly reason: string;
	readonly status: string;
	readonly details?: {
		readonly name?: string;
		readonly group?: string;
		readonly kind?: string;
		readonly uid?: string;
		readonly causes?: readonly {readonly field: string; readonly message: string; readonly reason: string}[];
	};
	readonly code: number;
};

export type ObjectBody = {
	readonly kind: string;
	readonly apiVersion: string;
	readonly metadata: {
		readonly name: string;
		readonly namespace?: string;
		readonly uid: string;
		readonly resourceVersion: string;
		readonly deletionTimestamp?: string;
		readonly labels?: Record<string, string>;
	};
	readonly spec?: Record<string, unknown>;
	readonly status?: Record<string, unknown>;
};

export type ListBody = {
	readonly kind: string;
	readonly apiVersion: string;
	readonly metadata: {readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number};
	readonly items: readonly ObjectBody[];
};
