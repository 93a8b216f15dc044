// The router of a node: hosts and paths of Dnses and Ingresses, and the services that answer there. It listens once there is a route, and what it is
// made of is imported then.

import {limits} from '../../../api/limits.js';
import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {formatHostPort, type HostPort} from '../../../api/host-port.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import {hasCode} from '../../../system/files/errno.js';
import type {NetworkDifference, NetworkIndex} from '../index/network-index.js';
import type {Listeners, TcpListener} from '../listeners/listeners.js';
import type {AccessLog} from './access-log.js';
import type {RouterServer} from './router-server.js';
import type {RoutingTable} from './routing-table.js';
import type {ReadPattern} from './matching.js';
import {hasPattern} from './has-pattern.js';

export type RouterOptions = {
	readonly index: NetworkIndex;
	readonly listeners: Listeners;
	readonly clock: Clock;
	readonly random: Random;
	/** The name of the node. */
	readonly node: string;
	readonly place: HostPort;
	/** The file of the access log. */
	readonly accessLog: string;
	/** A text for people, by its key; undefined: it is over. */
	readonly onProblem: (key: string, problem: string | undefined) => void;
};

export type Router = {
	/** Where it listens; undefined while it does not. */
	readonly place: () => HostPort | undefined;
	/** Resolves when all that was in the index before is served. */
	readonly settled: () => Promise<void>;
	/** Takes nothing new; what is under way may finish. */
	readonly close: () => void;
};

type Opened = {readonly table: RoutingTable; readonly server: RouterServer; readonly log: AccessLog};

export function openRouter(options: RouterOptions): Router {
	const {index, onProblem} = options;
	let opened: Opened | undefined;
	let listener: TcpListener | undefined;
	let cancel: (() => void) | undefined;
	let isClosed = false;
	let read: ReadPattern = () => undefined;
	let hasRead = false;

	const listen = async (its: Opened): Promise<void> => {
		const {host: address, port} = options.place;
		cancel = undefined;
		try {
			listener = await options.listeners.tcp({address, port}, socket => {
				const client = plainAddress(socket.remoteAddress ?? '');
				its.server.take(socket, client, {protocol: 'http', port: listener?.place.port ?? port});
			});
			onProblem('router', undefined);
			if (isClosed) listener.close();
		} catch (error) {
			onProblem('router', portProblem(error, options.place));
			if (!isClosed) cancel = options.clock.after(limits.routerPortMs, () => void listen(its));
		}
	};
	/** In order: what comes while something is imported waits for that. */
	let turn: Promise<void> = Promise.resolve();
	const take = async (changed: readonly NetworkDifference[]): Promise<void> => {
		const routes = changed.filter(({before, after}) => isRoute(before) || isRoute(after));
		if (routes.length === 0 || isClosed) return;
		if (!hasRead && routes.some(({after}) => hasPattern(after))) {
			const {readRoutePattern} = await import('../../../api/route-pattern.js');
			hasRead = true;
			read = text => {
				const pattern = readRoutePattern(text);
				return pattern.ok ? pattern.value : undefined;
			};
		}
		const isFirst = opened === undefined;
		opened ??= await open(options);
		for (const {key, after} of routes) opened.table.set(key, isRoute(after) ? after : undefined, read);
		if (isFirst) await listen(opened);
	};
	const enqueue = (changed: readonly NetworkDifference[]): void => {
		turn = turn.then(() => take(changed)).catch((error: unknown) => onProblem('router', `the router cannot serve: ${String(error)}`));
	};
	index.onChange(enqueue);
	enqueue([...index.all('dns'), ...index.all('ingress')].map(after => ({key: keyOf(after), before: undefined, after})));

	return {
		place: () => (listener === undefined ? undefined : {host: listener.place.address, port: listener.place.port}),
		settled: () => turn,
		close() {
			isClosed = true;
			cancel?.();
			listener?.close();
			opened?.server.close();
			opened?.log.close();
		},
	};
}

/** The parts, none of which is needed where there are no routes. */
async function open({index, node, clock, random, accessLog, onProblem}: RouterOptions): Promise<Opened> {
	const [{createRoutingTable}, {createEndpoints}, {openAccessLog}, {createRouterServer}] = await Promise.all([
		import('./routing-table.js'),
		import('./endpoints.js'),
		import('./access-log.js'),
		import('./router-server.js'),
	]);
	const table = createRoutingTable();
	const log = openAccessLog({file: accessLog, clock, onProblem: problem => onProblem('router access log', problem)});
	const endpoints = createEndpoints(index, node);
	const onServerProblem = (problem: string | undefined): void => onProblem('router connections', problem);
	return {table, log, server: createRouterServer({table, endpoints, clock, random, log, onProblem: onServerProblem})};
}

type RouteObject = Extract<NetworkObject, {type: 'dns' | 'ingress'}>;

const isRoute = (object: NetworkObject | undefined): object is RouteObject => object?.type === 'dns' || object?.type === 'ingress';

const keyOf = ({type, namespace, name}: RouteObject): ObjectKey => objectKey(type === 'dns' ? 'dnses' : 'ingresses', namespace, name);

/** An IPv4 address that came in over an IPv6 socket. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

function portProblem(error: unknown, place: HostPort): string {
	const where = formatHostPort(place);
	if (hasCode(error, 'EADDRINUSE'))
		return `the router cannot listen on ${where}: another program does; free it, or choose another with --router HOST:PORT`;
	if (hasCode(error, 'EACCES')) return `the router may not listen on ${where}; choose a port above 1023 with --router HOST:PORT`;
	return `the router cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
