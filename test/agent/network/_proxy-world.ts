// A proxy in this process, on addresses of loopback that no other test has.

import {createNetworkIndex} from '../../../agent/network/index/network-index.js';
import {localAddressOf} from '../../../actors/node/network/local-address.js';
import type {Listeners} from '../../../agent/network/listeners/listeners.js';
import {createDial} from '../../../agent/relay/dial.js';
import {openProxy} from '../../../agent/network/proxy/proxy.js';
import {createServiceTable} from '../../../agent/network/services/service-table.js';
import {createSpot} from '../../../bench/rigs/services/spot.js';
import {systemClock, type Clock} from '../../../system/time/clock.js';
import {systemRandom} from '../../../system/time/random.js';
import {plainListeners} from './_plain-listeners.js';
import type {ServiceRig} from './service-contract.js';

type Clean = (release: () => void | Promise<void>) => void;

const chance = (below: number): number => Math.floor(systemRandom.next() * below);

/** All tests of this machine share loopback: each takes a part of it by chance. */
const someAddress = (second: number, spread: number): (() => string) => {
	const [a, b] = [second + chance(spread), chance(256)];
	let last = chance(256);
	return () => {
		last += 1;
		return `127.${a}.${(b + (last >> 8)) % 256}.${last % 256}`;
	};
};

export function proxyWorld(clean: Clean, clock: Clock = systemClock) {
	const index = createNetworkIndex();
	const table = createServiceTable(index, 'here');
	const plain = plainListeners();
	const opening = new Set<Promise<unknown>>();
	const noted = <Value>(promise: Promise<Value>): Promise<Value> => {
		const settled: Promise<unknown> = promise.then(
			() => opening.delete(settled),
			() => opening.delete(settled),
		);
		opening.add(settled);
		return promise;
	};
	let opened = 0;
	const listeners: Listeners = {
		tcp: (...words) => {
			opened += 1;
			return noted(plain.tcp(...words));
		},
		udp: (...words) => {
			opened += 1;
			return noted(plain.udp(...words));
		},
	};
	const problems = new Map<string, string>();
	const proxy = openProxy({
		table,
		listeners,
		clock,
		random: systemRandom,
		// Where no agent is.
		dial: createDial('/nowhere', clock),
		nodePortAddresses: ['127.0.0.1'],
		onProblem: (key, text) => void (text === undefined ? problems.delete(key) : problems.set(key, text)),
	});
	clean(() => {
		proxy.close();
		proxy.cut();
	});
	const spot = createSpot();
	const podAddress = someAddress(64, 60);
	const serviceAddress = someAddress(96, 16);
	const pods = Array.from({length: 3}, podAddress).map(address => ({spot, address, from: address}));
	const host = {spot, address: '127.0.0.1'};
	let port = 8_000;
	let nodePort = 30_000 + chance(2_000);
	const rig: ServiceRig = {
		async apply(changes) {
			index.change(changes);
			await Promise.all(opening);
		},
		addressOf: clusterIP => localAddressOf(clusterIP) ?? '',
		nextClusterIP: () => serviceAddress().replace(/^127/, '10'),
		externalIP: podAddress,
		nodeAddress: '127.0.0.1',
		nextNodePort: () => (nodePort += 1),
		host,
		pods,
		nextPort: () => (port += 1),
		outside: host,
	};
	return {rig, index, table, proxy, problems, spot, opened: () => opened};
}
