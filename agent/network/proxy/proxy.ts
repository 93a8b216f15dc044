// Leads clients of Services to their endpoints without leave of anybody: it listens where a port is served, takes connections and datagrams, and
// passes them on. Other endpoints are no other listening socket.

import type {Dial} from '../../relay/dial.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import {localAddressOf} from '../../../actors/node/network/local-address.js';
import type {Listeners, UdpListener} from '../listeners/listeners.js';
import {
	nameOfServed,
	placeText,
	type EndpointPlace,
	type ServedDifference,
	type ServedPlace,
	type ServedPort,
} from '../services/served-port.js';
import type {ServiceTable} from '../services/service-table.js';
import {createAffinity} from './affinity.js';
import {createChoice} from './choice.js';
import {createConnections, type PortLook} from './connections.js';
import {noCounts, type Counters} from './counters.js';
import {createDoors} from './doors.js';
import {createFlows} from './flows.js';
import {listenProblem} from './listen-problem.js';

export type ProxyOptions = {
	readonly table: ServiceTable;
	readonly listeners: Listeners;
	readonly clock: Clock;
	readonly random: Random;
	/** To endpoints that are reached by the agents. */
	readonly dial: Dial;
	/** Addresses of this host where node ports are served. */
	readonly nodePortAddresses: readonly string[];
	/** Which places are served here; undefined: all. The others are somebody else's. */
	readonly serves?: (at: EndpointPlace, served: ServedPort, place: ServedPlace) => boolean;
	/** For people; undefined: it is over. */
	readonly onProblem: (key: string, text: string | undefined) => void;
};

export type Proxy = {
	/** Undefined: nothing has come to that port yet. */
	readonly counters: (key: string) => Counters | undefined;
	/** Connections and flows that are there. */
	readonly open: () => number;
	/** Takes no more clients; connections that are there go on until they end. */
	readonly close: () => void;
	/** Those end, too. */
	readonly cut: () => void;
};

export function openProxy({table, listeners, clock, random, dial, nodePortAddresses, serves = () => true, onProblem}: ProxyOptions): Proxy {
	const counts = new Map<string, Counters>();
	const doors = createDoors(clock);
	const look: PortLook = {
		get: key => table.get(key),
		counters(key) {
			const found = counts.get(key) ?? noCounts();
			counts.set(key, found);
			return found;
		},
		isOwn: endpoint => doors.isOpen(endpoint),
	};
	const choice = createChoice(random, createAffinity(clock));
	const connections = createConnections(look, choice, clock, dial);
	const flows = createFlows(look, choice, clock);

	/** Where this host is listened on for a port, by the names of doors. */
	const spotsOf = (served: ServedPort): ReadonlyMap<string, {readonly at: EndpointPlace; readonly place: ServedPlace}> => {
		const spots = served.places.flatMap(place =>
			addressesOf(place, nodePortAddresses).map(address => ({at: {address, port: place.port}, place})),
		);
		return new Map(spots.filter(({at, place}) => serves(at, served, place)).map(spot => [`${served.key} ${placeText(spot.at)}`, spot]));
	};
	const openDoor = ({key, protocol}: ServedPort, at: EndpointPlace, place: ServedPlace): Promise<{readonly close: () => void}> => {
		if (protocol === 'TCP') return listeners.tcp(at, client => connections.accept(key, place, client));
		let listener: UdpListener | undefined;
		const opened = listeners.udp(at, (data, from) => {
			if (listener !== undefined) flows.accept(key, place, listener, data, from);
		});
		return opened.then(udp => (listener = udp));
	};
	const showTaken = (served: ServedPort, isGone: boolean): void => {
		for (const {place, by} of served.taken) {
			const key = `proxy/${served.key} ${place.address ?? '*'}:${place.port}`;
			onProblem(
				key,
				isGone ? undefined : `${place.address ?? 'node port'}:${place.port} of Service ${nameOfServed(served)} is that of Service ${by}`,
			);
		}
	};
	const close = ({before, after}: ServedDifference): void => {
		if (before === undefined) return;
		showTaken(before, true);
		const wanted = after === undefined ? undefined : spotsOf(after);
		for (const id of spotsOf(before).keys()) if (wanted?.has(id) !== true) doors.remove(id);
	};
	const open = ({before, after}: ServedDifference): void => {
		if (after === undefined) return;
		showTaken(after, false);
		const there = before === undefined ? undefined : spotsOf(before);
		const wanted = spotsOf(after);
		for (const [id, {at, place}] of wanted) {
			if (there?.has(id) === true) continue;
			doors.add({
				id,
				at,
				open: () => openDoor(after, at, place),
				onProblem: error => onProblem(`proxy/${id}`, error === undefined ? undefined : listenProblem(after, at, place, error)),
			});
		}
		doors.retry(wanted.keys());
	};
	const take = (changed: readonly ServedDifference[]): void => {
		// What one lets go another may take in the same change.
		changed.forEach(close);
		changed.forEach(open);
		for (const {key, before, after} of changed) {
			if (before?.known !== after?.known) connections.review(key);
			if (before !== undefined && before.protocol === 'UDP') flows.review(key);
			if (after !== undefined) continue;
			choice.forget(key);
			counts.delete(key);
		}
	};
	let closed = false;
	table.onChange(changed => {
		if (!closed) take(changed);
	});
	take([...table.all()].map(after => ({key: after.key, before: undefined, after})));
	return {
		counters: key => counts.get(key),
		open: () => connections.open() + flows.open(),
		close() {
			closed = true;
			doors.close();
		},
		cut() {
			connections.cutAll();
			flows.close();
		},
	};
}

function addressesOf({kind, address}: ServedPlace, nodePortAddresses: readonly string[]): readonly string[] {
	if (address === undefined) return nodePortAddresses;
	const local = kind === 'cluster' ? localAddressOf(address) : address;
	return local === undefined ? [] : [local];
}
