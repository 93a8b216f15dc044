// In a network of its own: writes the rules of many Services as a node does, and restores the same text by nft alone, which is what it costs at the least.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {createNetworkIndex} from '../../../agent/network/index/network-index.js';
import {openKernelServices} from '../../../agent/network/nftables/kernel-services.js';
import {createServiceTable} from '../../../agent/network/services/service-table.js';
import {namesOf} from '../../../agent/pod-network/names.js';
import {call, findNetworkTools} from '../../../agent/pod-network/tools.js';
import {objectKey} from '../../../api/keys.js';
import {systemClock} from '../../../system/time/clock.js';
import {serve} from '../remote.js';

export type ServiceRulesPart = {
	/** All figures in milliseconds. */
	readonly measure: (scale: {readonly services: number; readonly endpoints: number; readonly changes: number}) => Promise<{
		readonly program: number;
		readonly restore: number;
		/** One endpoint less or more of one Service, each by itself. */
		readonly change: readonly number[];
		readonly restoreChange: readonly number[];
	}>;
};

const nameOf = (service: number): string => `measured-${service}`;
const port = 80;

const serviceOf = (service: number): NetworkChange => ({
	key: objectKey('services', 'default', nameOf(service)),
	object: {
		type: 'service',
		namespace: 'default',
		name: nameOf(service),
		spec: {clusterIP: `10.96.${service >> 8}.${service & 255}`, ports: [{port}]},
	},
});

const sliceOf = (service: number, endpoints: number): NetworkChange => ({
	key: objectKey('endpointslices', 'default', `${nameOf(service)}-aaaaa`),
	object: {
		type: 'endpoints',
		namespace: 'default',
		name: `${nameOf(service)}-aaaaa`,
		service: nameOf(service),
		addressType: 'IPv4',
		endpoints: Array.from({length: endpoints}, (_, index) => ({
			addresses: [`10.${128 + index}.${service >> 8}.${service & 255}`],
			nodeName: 'here',
			conditions: {ready: true, serving: true, terminating: false},
		})),
		ports: [{port: 8_000}],
	},
});

async function tookMs(act: () => Promise<unknown>): Promise<number> {
	const fromMs = performance.now();
	await act();
	return performance.now() - fromMs;
}

serve({
	async measure({services: count, endpoints, changes}) {
		const tools = findNetworkTools();
		if (typeof tools === 'string') throw new Error(tools);
		const folder = mkdtempSync(path.join(tmpdir(), 'troupe-rules-'));
		const names = namesOf(folder);
		rmSync(folder, {recursive: true});
		const table = `inet ${names.services}`;
		const index = createNetworkIndex();
		const numbers = Array.from({length: count}, (_, service) => service);
		index.change(numbers.flatMap(service => [serviceOf(service), sliceOf(service, endpoints)]));
		const problems: string[] = [];
		const open = () =>
			openKernelServices({
				table: createServiceTable(index, 'here'),
				names,
				tools,
				clock: systemClock,
				nodeAddresses: [],
				whenBegun: () => Promise.resolve(true),
				onProblem: problem => void (problem === undefined || problems.push(problem)),
			});
		const fromMs = performance.now();
		const services = open();
		await services.settle();
		const program = performance.now() - fromMs;
		const change: number[] = [];
		const restoreChange: number[] = [];
		const listed = await call(tools.nft, ['list', 'table', ...table.split(' ')]);
		for (let i = 0; i < changes; i++) {
			const service = (i * 7) % count;
			const changed = sliceOf(service, endpoints - 1);
			change.push(
				await tookMs(() => {
					index.change([changed]);
					return services.settle();
				}),
			);
			const chain = `service/default/${nameOf(service)}/TCP/${port}`;
			const rules = (await call(tools.nft, ['list', 'chain', ...table.split(' '), chain]))
				.split('\n')
				.filter(line => line.startsWith('\t\t'))
				.map(line => `add rule ${table} ${chain} ${line.trim()}`);
			if (rules.length === 0) throw new Error(`the chain ${chain} has no rules`);
			restoreChange.push(await tookMs(() => call(tools.nft, ['--file', '-'], [`flush chain ${table} ${chain}`, ...rules].join('\n'))));
		}
		services.close();
		const restore = await tookMs(() => call(tools.nft, ['--file', '-'], `delete table ${table}\n${listed}`));
		await call(tools.nft, ['delete', 'table', ...table.split(' ')]);
		if (problems.length > 0) throw new Error(problems.join('; '));
		return {program, restore, change, restoreChange};
	},
} satisfies ServiceRulesPart);
