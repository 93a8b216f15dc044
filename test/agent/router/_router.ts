// A router with services behind it, all in this process.

import {createDial} from '../../../agent/relay/dial.js';
import {mkdtempSync, rmSync} from 'node:fs';
import {createServer, request as httpRequest, type IncomingHttpHeaders, type RequestListener, type Server} from 'node:http';
import {connect, type AddressInfo, type Server as NetServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';
import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {createNetworkIndex, type NetworkIndex} from '../../../agent/network/index/network-index.js';
import {openListeners} from '../../../agent/network/listeners/open-listeners.js';
import {openRouter, type Router} from '../../../agent/network/router/router.js';
import type {DnsSpec} from '../../../api/kinds/dns.js';
import type {IngressSpec} from '../../../api/kinds/ingress.js';
import {objectKey} from '../../../api/keys.js';
import {systemClock} from '../../../system/time/clock.js';
import {seededRandom} from '../../../system/time/random.js';

export const dnsObject = (name: string, spec: DnsSpec, createdAt = '2026-01-01T00:00:00Z'): NetworkObject => ({
	type: 'dns',
	namespace: 'default',
	name,
	createdAt,
	spec,
});

export const ingressObject = (name: string, spec: IngressSpec, createdAt = '2026-01-01T00:00:00Z'): NetworkObject => ({
	type: 'ingress',
	namespace: 'default',
	name,
	createdAt,
	spec,
});

const plurals = {
	dns: 'dnses',
	ingress: 'ingresses',
	service: 'services',
	endpoints: 'endpointslices',
	node: 'nodes',
	certificate: 'certificates',
	policy: 'networkpolicies',
} as const;

function keyOf(object: NetworkObject): string {
	if (object.type === 'servers' || object.type === 'instances') return object.name;
	return objectKey(plurals[object.type], object.type === 'node' ? undefined : object.namespace, object.name);
}

export type World = {
	readonly index: NetworkIndex;
	readonly router: Router;
	readonly problems: Map<string, string>;
	readonly accessLog: string;
	readonly port: number;
	/** Where it listens for TLS; 0 while it does not. */
	readonly tlsPort: () => number;
	/** Resolves when the router serves by it. */
	readonly put: (...objects: readonly NetworkObject[]) => Promise<void>;
	readonly remove: (object: NetworkObject) => Promise<void>;
	/** Such a service has these endpoints and no others. */
	readonly serve: (service: string, ...ports: readonly number[]) => Promise<void>;
};

/** Routes every path of `a.test` to the service `web` until told otherwise. */
export async function routerWorld(t: ExecutionContext, objects: readonly NetworkObject[] = [siteOf('web')]): Promise<World> {
	const folder = mkdtempSync(path.join(tmpdir(), 'router-'));
	const index = createNetworkIndex();
	const problems = new Map<string, string>();
	const onProblem = (key: string, problem: string | undefined): void => {
		if (problem === undefined) problems.delete(key);
		else problems.set(key, problem);
	};
	const accessLog = path.join(folder, 'access.log');
	const listeners = openListeners({clock: systemClock, held: [], onProblem});
	const router = openRouter({
		index,
		listeners,
		clock: systemClock,
		random: seededRandom(1),
		node: 'vm',
		// Where no agent is.
		dial: createDial(folder, systemClock),
		place: {host: '127.0.0.1', port: 0},
		tlsPlace: {host: '127.0.0.1', port: 0},
		accessLog,
		onProblem,
	});
	t.teardown(() => {
		router.close();
		rmSync(folder, {recursive: true, force: true});
	});
	const put = async (...all: readonly NetworkObject[]): Promise<void> => {
		index.change(all.map(object => ({key: keyOf(object), object})));
		await router.settled();
	};
	await put(...objects);
	return {
		index,
		router,
		problems,
		accessLog,
		port: router.place()?.port ?? 0,
		tlsPort: () => router.tlsPlace()?.port ?? 0,
		put,
		remove: async object => {
			index.change([{key: keyOf(object), object: undefined}]);
			await router.settled();
		},
		serve: (service, ...ports) =>
			put(
				{type: 'service', namespace: 'default', name: service, spec: {ports: [{port: 80}]}},
				// Each in a slice of its own, since a slice has one port for all.
				...Array.from({length: 8}, (_, i): NetworkObject => sliceOf(service, i, ports[i])),
			),
	};
}

const sliceOf = (service: string, number: number, port: number | undefined): NetworkObject => ({
	type: 'endpoints',
	namespace: 'default',
	name: `${service}-${number}`,
	service,
	addressType: 'IPv4',
	endpoints: port === undefined ? [] : [{addresses: ['127.0.0.1'], conditions: {ready: true}, nodeName: 'vm'}],
	ports: port === undefined ? [] : [{name: '', port, protocol: 'TCP'}],
});

export const siteOf = (svcName: string, host = 'a.test'): NetworkObject =>
	dnsObject(`site-${host.replace('*', 'any')}`, {host, paths: [{subPath: '/', svcName, svcPort: 80}]});

/** An endpoint, by its port. */
export async function endpoint(t: ExecutionContext, listener: RequestListener): Promise<{readonly port: number; readonly server: Server}> {
	const server = createServer(listener);
	return {port: await listen(t, server), server};
}

export async function listen(t: ExecutionContext, server: NetServer): Promise<number> {
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.close();
		if ('closeAllConnections' in server) (server as Server).closeAllConnections();
	});
	return (server.address() as AddressInfo).port;
}

export const answering =
	(words: string): RequestListener =>
	(_request, response) =>
		void response.end(words);

export type Answer = {readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string};
type Asked = {
	readonly path?: string;
	readonly method?: string;
	readonly host?: string;
	readonly headers?: Record<string, string>;
	readonly body?: string;
};

export async function ask(
	port: number,
	{path: target = '/', method = 'GET', host = 'a.test', headers = {}, body}: Asked = {},
): Promise<Answer> {
	return await new Promise((resolve, reject) => {
		const request = httpRequest(
			{host: '127.0.0.1', port, path: target, method, headers: {Host: host, ...headers}, agent: false},
			response => {
				text(response).then(words => resolve({status: response.statusCode ?? 0, headers: response.headers, body: words}), reject);
			},
		);
		request.on('error', reject);
		request.end(body);
	});
}

/** All that comes back for these bytes until the router closes the connection, or until the text that was waited for is there. */
export async function askRaw(port: number, bytes: string | Buffer, until?: RegExp): Promise<string> {
	return await new Promise((resolve, reject) => {
		const socket = connect(port, '127.0.0.1');
		let all = '';
		const end = (): void => {
			socket.destroy();
			resolve(all);
		};
		socket.setTimeout(20_000, () => reject(new Error(`nothing came any more; so far ${JSON.stringify(all)}`)));
		socket.on('data', chunk => {
			all += chunk.toString('latin1');
			if (until?.test(all) === true) end();
		});
		socket.on('error', end).on('close', end);
		socket.write(bytes);
	});
}
