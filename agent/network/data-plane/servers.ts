// What a data plane serves: each takes what it needs of the index, listens where it has to, and closes with the process.

import path from 'node:path';
import {isLoopback} from '../../../api/loopback.js';
import type {Clock} from '../../../system/time/clock.js';
import {createDial} from '../../relay/dial.js';
import {systemRandom} from '../../../system/time/random.js';
import {openDns} from '../dns/dns.js';
import type {DataPlaneSettings} from '../feed/settings.js';
import type {NetworkIndex} from '../index/network-index.js';
import type {Listeners} from '../listeners/listeners.js';
import {openProxy} from '../proxy/proxy.js';
import {openRouter} from '../router/router.js';
import {isRelayedAt, type EndpointPlace, type ServedPlace, type ServedPort} from '../services/served-port.js';
import {createServiceTable} from '../services/service-table.js';

export type ServerParts = {
	readonly index: NetworkIndex;
	readonly listeners: Listeners;
	readonly clock: Clock;
	/** Of the node. */
	readonly node: string;
	readonly settings: DataPlaneSettings;
	/** A text for people, by its key; undefined: it is over. */
	readonly onProblem: (key: string, problem: string | undefined) => void;
};

export type OpenServer = {
	/** Takes nothing new; what is under way may finish. */
	readonly close: () => void;
};

/** Called before the index is filled. Throws an Error where it cannot serve at all: what lacks a port says so by `onProblem`. */
export type OpenServers = (parts: ServerParts) => readonly OpenServer[];

/** What the kernel does not lead anywhere. */
const isLeft = ({address}: EndpointPlace, served: ServedPort, place: ServedPlace): boolean =>
	isLoopback(address) || isRelayedAt(served, place);

export const openServers: OpenServers = ({index, listeners, clock, node, settings, onProblem}) => {
	const table = createServiceTable(index, node);
	const {nodePortAddresses = ['127.0.0.1'], isKernelLed = false, router, routerTls, dns, gateway, folder} = settings;
	const random = systemRandom;
	const dial = createDial(folder, clock);
	const accessLog = path.join(folder, 'router-access.log');
	return [
		openProxy({table, listeners, clock, random, dial, nodePortAddresses, ...(isKernelLed ? {serves: isLeft} : {}), onProblem}),
		openRouter({index, listeners, clock, random, node, dial, place: router, tlsPlace: routerTls, accessLog, onProblem}),
		...(dns === undefined ? [] : [openDns({index, listeners, clock, random, node, place: dns, router, gateway, onProblem})]),
	];
};
