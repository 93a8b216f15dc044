// The router of a node: hosts and paths of Dnses and Ingresses, and the services that answer there. It listens once there is a route, and for TLS once
// there is a certificate; what it is made of is imported then.

import type {Socket} from 'node:net';
import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import type {HostPort} from '../../../api/host-port.js';
import type {Dial} from '../../relay/dial.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import type {NetworkDifference, NetworkIndex} from '../index/network-index.js';
import type {Listeners} from '../listeners/listeners.js';
import type {AccessLog} from './access-log.js';
import type {Certificates} from './certificates.js';
import {openEntrance} from './entrance.js';
import type {Arrival, RouterServer} from './router-server.js';
import type {RoutingTable} from './routing-table.js';
import type {ReadPattern} from './matching.js';
import type {CallFunction} from './function-exchange.js';
import {hasPattern, leadsToFunction} from './has-pattern.js';
import type {TlsDoor} from './tls-door.js';

export type RouterOptions = {
	readonly index: NetworkIndex;
	readonly listeners: Listeners;
	readonly clock: Clock;
	readonly random: Random;
	/** The name of the node. */
	readonly node: string;
	/** Where it listens; undefined: nowhere. */
	readonly place: HostPort | undefined;
	/** The same for TLS. */
	readonly tlsPlace?: HostPort | undefined;
	/** To endpoints that are reached by the agents. */
	readonly dial: Dial;
	/** The file of the access log. */
	readonly accessLog: string;
	/** A text for people, by its key; undefined: it is over. */
	readonly onProblem: (key: string, problem: string | undefined) => void;
};

export type Router = {
	/** Where it listens; undefined while it does not. */
	readonly place: () => HostPort | undefined;
	readonly tlsPlace: () => HostPort | undefined;
	/** Resolves when all that was in the index before is served. */
	readonly settled: () => Promise<void>;
	/** Takes nothing new; what is under way may finish. */
	readonly close: () => void;
};

type Opened = {readonly table: RoutingTable; readonly server: RouterServer; readonly log: AccessLog};
type Tls = {readonly certificates: Certificates; readonly door: TlsDoor};

export function openRouter(options: RouterOptions): Router {
	const {index, place, tlsPlace, onProblem} = options;
	let opened: Opened | undefined;
	let tls: Tls | undefined;
	let isClosed = false;
	let read: ReadPattern = () => undefined;
	let hasRead = false;
	let callFunction: CallFunction | undefined;

	const serve = (socket: Socket, protocol: Arrival['protocol'], {port}: HostPort): void =>
		opened?.server.take(socket, plainAddress(socket.remoteAddress ?? ''), {protocol, port});
	const plain = openEntrance({...options, flag: 'router', onConnection: (socket, at) => serve(socket, 'http', at)});
	const secure = openEntrance({
		...options,
		flag: 'router-tls',
		place: tlsPlace,
		onConnection: (socket, at) => tls?.door.take(socket, secured => serve(secured, 'https', at)),
	});
	/** In order: what comes while something is imported waits for that. */
	let turn: Promise<void> = Promise.resolve();
	const take = async (changed: readonly NetworkDifference[]): Promise<void> => {
		if (isClosed || (place === undefined && tlsPlace === undefined)) return;
		await takeRoutes(changed.filter(({before, after}) => isRoute(before) || isRoute(after)));
		if (tlsPlace !== undefined) await takeTls(changed.filter(({before, after}) => isOfTls(before) || isOfTls(after)));
	};
	const takeRoutes = async (routes: readonly NetworkDifference[]): Promise<void> => {
		if (routes.length === 0) return;
		if (!hasRead && routes.some(({after}) => hasPattern(after))) {
			const {readRoutePattern} = await import('../../../api/route-pattern.js');
			hasRead = true;
			read = text => {
				const pattern = readRoutePattern(text);
				return pattern.ok ? pattern.value : undefined;
			};
		}
		if (callFunction === undefined && routes.some(({after}) => leadsToFunction(after)))
			callFunction = (await import('./function-exchange.js')).createFunctionCalls(index, options.clock);
		// A table with a route to a function is set after that.
		opened ??= await open(options, (exchange, isClosing) => callFunction?.(exchange, isClosing));
		for (const {key, after} of routes) opened.table.set(key, isRoute(after) ? after : undefined, read);
		await plain.listen();
	};
	const takeTls = async (changed: readonly NetworkDifference[]): Promise<void> => {
		if (changed.length === 0) return;
		tls ??= await openTls(options);
		for (const {key, after} of changed) tls.certificates.set(key, after);
		tls.certificates.update();
		if (tls.certificates.size() > 0) await secure.listen();
	};
	const enqueue = (changed: readonly NetworkDifference[]): void => {
		turn = turn.then(() => take(changed)).catch((error: unknown) => onProblem('router', `the router cannot serve: ${String(error)}`));
	};
	index.onChange(enqueue);
	enqueue(index.keys().map(key => ({key, before: undefined, after: index.get(key)})));

	return {
		place: plain.place,
		tlsPlace: secure.place,
		settled: () => turn,
		close() {
			isClosed = true;
			plain.close();
			secure.close();
			tls?.certificates.close();
			opened?.server.close();
			opened?.log.close();
		},
	};
}

/** The parts, none of which is needed where there are no routes. */
async function open({index, node, clock, dial, random, accessLog, onProblem}: RouterOptions, callFunction: CallFunction): Promise<Opened> {
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
	return {table, log, server: createRouterServer({table, endpoints, clock, dial, random, callFunction, log, onProblem: onServerProblem})};
}

/** What TLS takes, where an Ingress asks for it. */
async function openTls({clock, onProblem}: RouterOptions): Promise<Tls> {
	const [{createCertificates}, {createTlsDoor}] = await Promise.all([import('./certificates.js'), import('./tls-door.js')]);
	const certificates = createCertificates({clock, onProblem});
	return {certificates, door: createTlsDoor({certificates, clock, onProblem: problem => onProblem('router handshakes', problem)})};
}

type RouteObject = Extract<NetworkObject, {type: 'dns' | 'ingress'}>;

const isRoute = (object: NetworkObject | undefined): object is RouteObject => object?.type === 'dns' || object?.type === 'ingress';

const isOfTls = (object: NetworkObject | undefined): boolean =>
	object?.type === 'certificate' || (object?.type === 'ingress' && object.spec.tls !== undefined);

/** An IPv4 address that came in over an IPv6 socket. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');
