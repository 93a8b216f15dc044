// A node that leads Services in the kernel, run in a network namespace: a pod network, and rules that follow what it is told, a command a line. It ends
// with its input.

import {createInterface} from 'node:readline';
import {createNetworkIndex} from '../../agent/network/index/network-index.js';
import {openKernelServices} from '../../agent/network/nftables/kernel-services.js';
import {createServiceTable} from '../../agent/network/services/service-table.js';
import {namesOf} from '../../agent/pod-network/names.js';
import {createPodNetwork} from '../../agent/pod-network/pod-network.js';
import {removePodNetwork} from '../../agent/pod-network/remove-everything.js';
import {findNetworkTools} from '../../agent/pod-network/tools.js';
import type {NetworkChange} from '../../actors/node/runtime/network-port.js';
import {systemClock} from '../../system/time/clock.js';

export type KernelCommand =
	| {
			readonly id: number;
			readonly type: 'apply';
			readonly changes: readonly {readonly key: string; readonly object?: NetworkChange['object']}[];
	  }
	| {readonly id: number; readonly type: 'remove'};

const [folder = '', address = '', ...pods] = process.argv.slice(2);
const names = namesOf(folder);
const tools = findNetworkTools();
if (typeof tools === 'string') throw new Error(tools);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const network = createPodNetwork({
	names,
	tools,
	folder,
	node: 'here',
	overlay: 'none',
	underlay: {address, mtu: 1_500},
	doors: {dns: undefined, router: undefined},
	isRouted: true,
	clock: systemClock,
});
await network.begin();
network.learn([{type: 'node', name: 'here', addresses: [address], pods: 'routed', podCIDR: '10.244.7.0/24'}]);
for (const [number, pod] of pods.entries()) await network.ensure({uid: `pod-${number}`, address: pod, hostPorts: []});

const index = createNetworkIndex();
const services = openKernelServices({
	table: createServiceTable(index, 'here'),
	names,
	tools,
	clock: systemClock,
	nodeAddresses: [address],
	whenBegun: () => Promise.resolve(true),
	onProblem: problem => {
		if (problem !== undefined) process.stderr.write(`${problem}\n`);
	},
});

async function run(command: KernelCommand): Promise<void> {
	switch (command.type) {
		case 'apply':
			index.change(command.changes.map(({key, object}) => ({key, object})));
			return services.settle();
		case 'remove':
			services.close();
			network.close();
			return removePodNetwork(folder, names);
	}
}

createInterface({input: process.stdin})
	.on('line', line => {
		const command = JSON.parse(line) as KernelCommand;
		run(command).then(
			() => say({id: command.id}),
			(error: unknown) => say({id: command.id, problem: String(error)}),
		);
	})
	.on('close', () => process.exit(0));
say({id: 0});
