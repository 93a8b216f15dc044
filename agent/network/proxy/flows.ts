// Datagrams of clients: those of one client to one place are a flow, led to one endpoint as long as that is used and something comes.

import {createSocket, type RemoteInfo, type Socket} from 'node:dgram';
import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {UdpListener} from '../listeners/listeners.js';
import {endpointsAt, placeText, type EndpointPlace, type ServedPlace} from '../services/served-port.js';
import type {Choice} from './choice.js';
import type {PortLook} from './connections.js';

export type Flows = {
	/** Answers leave by `listener`. */
	readonly accept: (key: string, place: ServedPlace, listener: UdpListener, data: Buffer, from: RemoteInfo) => void;
	/** Other endpoints: flows to those that are not used any more end. */
	readonly review: (key: string) => void;
	readonly open: () => number;
	readonly close: () => void;
};

type Flow = {
	readonly key: string;
	readonly place: ServedPlace;
	readonly endpoint: EndpointPlace;
	readonly socket: Socket;
	/** What came before the socket was ready; undefined since then. */
	waiting: Buffer[] | undefined;
	lastMs: number;
};

export function createFlows(look: PortLook, choice: Choice, clock: Clock): Flows {
	/** The one that was used least recently first. */
	const flows = new Map<string, Flow>();
	let cancel: Cancel | undefined;

	const end = (id: string, flow: Flow): void => {
		if (flows.get(id) !== flow) return;
		flows.delete(id);
		look.counters(flow.key).open -= 1;
		flow.socket.close();
	};
	const touch = (id: string, flow: Flow): void => {
		if (flows.get(id) !== flow) return;
		flow.lastMs = clock.monotonicMs();
		flows.delete(id);
		flows.set(id, flow);
	};
	const sweep = (): void => {
		cancel = undefined;
		for (const [id, flow] of flows) {
			const leftMs = flow.lastMs + limits.proxyFlowIdleMs - clock.monotonicMs();
			if (leftMs > 0) {
				cancel = clock.after(leftMs, sweep);
				return;
			}
			end(id, flow);
		}
	};
	const openFlow = (id: string, key: string, place: ServedPlace, listener: UdpListener, from: RemoteInfo): Flow | undefined => {
		const served = look.get(key);
		const counters = look.counters(key);
		const endpoint = served === undefined ? undefined : firstOf(choice.order(served, place, from.address));
		if (served === undefined || endpoint === undefined) {
			counters.refused += 1;
			return undefined;
		}
		choice.reached(served, from.address, endpoint);
		const socket = createSocket('udp4');
		const flow: Flow = {key, place, endpoint, socket, waiting: [], lastMs: clock.monotonicMs()};
		// Nobody listens there: the next datagram begins anew, with another endpoint.
		const fail = (): void => {
			if (flows.get(id) === flow) counters.failed += 1;
			end(id, flow);
		};
		socket.on('error', fail);
		socket.on('message', data => {
			counters.bytesOut += data.length;
			touch(id, flow);
			listener.send(data, from);
		});
		socket.connect(endpoint.port, endpoint.address, (error?: Error) => {
			if (error !== undefined) return fail();
			for (const data of flow.waiting ?? []) socket.send(data);
			flow.waiting = undefined;
		});
		flows.set(id, flow);
		counters.connections += 1;
		counters.open += 1;
		makeRoom();
		cancel ??= clock.after(limits.proxyFlowIdleMs, sweep);
		return flow;
	};
	const firstOf = (endpoints: Iterable<EndpointPlace>): EndpointPlace | undefined => {
		for (const endpoint of endpoints) if (!look.isOwn(endpoint)) return endpoint;
		return undefined;
	};
	const makeRoom = (): void => {
		const [oldest] = flows;
		if (flows.size > limits.proxyFlows && oldest !== undefined) end(...oldest);
	};
	return {
		accept(key, place, listener, data, from) {
			const id = `${key} ${placeText(listener.place)} ${from.address}:${from.port}`;
			const flow = flows.get(id) ?? openFlow(id, key, place, listener, from);
			if (flow === undefined) return;
			touch(id, flow);
			look.counters(key).bytesIn += data.length;
			if (flow.waiting === undefined) flow.socket.send(data);
			else if (flow.waiting.length < limits.proxyFlowPackets) flow.waiting.push(data);
		},
		review(key) {
			const served = look.get(key);
			for (const [id, flow] of flows) {
				if (flow.key !== key) continue;
				const used = served === undefined ? [] : endpointsAt(served, flow.place);
				if (!used.some(endpoint => placeText(endpoint) === placeText(flow.endpoint))) end(id, flow);
			}
		},
		open: () => flows.size,
		close() {
			cancel?.();
			for (const [id, flow] of flows) end(id, flow);
		},
	};
}
