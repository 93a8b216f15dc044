// Leads clients of Services to their endpoints in the kernel, by one table of nftables: what is in it follows the ports that the node serves.
//
// What it keeps true: each change is one change of the kernel, made by one call at a time; what changes meanwhile goes with the next. After a call that
// failed, and where another program has removed the table, all of it is written anew.

import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {explained} from '../../os/explained.js';
import {hasTable} from '../../pod-network/host-rules.js';
import type {Names} from '../../pod-network/names.js';
import {call, type NetworkTools} from '../../pod-network/tools.js';
import type {ServedDifference, ServedPort} from '../services/served-port.js';
import type {ServiceTable} from '../services/service-table.js';
import {partOf, type Part} from './served-rules.js';
import {forgetWords, staleFlows} from './stale-flows.js';
import {changeText, tableText, type NodeAddresses} from './table.js';

export type KernelServicesOptions = {
	readonly table: ServiceTable;
	readonly names: Names;
	readonly tools: NetworkTools;
	readonly clock: Clock;
	readonly nodeAddresses: NodeAddresses;
	/** Resolves once the host is ready for it; false: nothing of it is to be in the kernel. Rejects with Errors. */
	readonly whenBegun: () => Promise<boolean>;
	/** For people; undefined: it is over. */
	readonly onProblem: (problem: string | undefined) => void;
};

export type KernelServices = {
	/** Writes what has changed. Resolves when all that was known at the call is in force, or could not be brought into it. */
	readonly settle: () => Promise<void>;
	/** What is in the kernel stays. */
	readonly close: () => void;
};

export function openKernelServices(options: KernelServicesOptions): KernelServices {
	const {table, names, tools, clock, nodeAddresses, whenBegun, onProblem} = options;
	const parts = new Map<string, Part>();
	/** Before they changed, since the last write began. */
	let changed = new Map<string, ServedPort | undefined>();
	let addresses: ReadonlySet<string> = new Set();
	let isWritten = false;
	let isClosed = false;
	let under: Promise<void> | undefined;
	let cancelLook: Cancel = () => undefined;

	const take = (): {
		readonly before: readonly Part[];
		readonly after: readonly Part[];
		readonly differences: readonly ServedDifference[];
	} => {
		const differences = [...changed].map(([key, before]) => ({key, before, after: table.get(key)}));
		changed = new Map();
		const before: Part[] = [];
		const after: Part[] = [];
		for (const {key, after: served} of differences) {
			const [was, is] = [parts.get(key), served === undefined ? undefined : partOf(served)];
			if (was !== undefined) before.push(was);
			if (is !== undefined) after.push(is);
			if (is === undefined) parts.delete(key);
			else parts.set(key, is);
		}
		return {before, after, differences};
	};
	const write = async (): Promise<void> => {
		const {before, after, differences} = take();
		const then = addresses;
		addresses = new Set([...parts.values()].flatMap(part => part.addresses));
		const text = isWritten
			? changeText(names, {parts: before, addresses: then}, {parts: after, addresses})
			: tableText(names, nodeAddresses, {parts: [...parts.values()], addresses});
		isWritten = false;
		if (text.trim() !== '') await call(tools.nft, ['--file', '-'], text);
		isWritten = true;
		await forget(tools, differences);
	};
	const writeAll = async (): Promise<void> => {
		try {
			const isWanted = await whenBegun();
			while (isWanted && !isClosed && (changed.size > 0 || !isWritten)) await write();
			onProblem(undefined);
		} catch (error) {
			onProblem(`the rules of Services: ${explained(error)}`);
		} finally {
			under = undefined;
		}
	};
	const settle = (): Promise<void> => (under ??= writeAll());
	const look = async (): Promise<void> => {
		if (isWritten && under === undefined && !(await hasTable(tools, names.services, 'node'))) isWritten = false;
		if (!isWritten) await settle();
		if (!isClosed) cancelLook = clock.after(limits.podNetworkLookMs, () => void look());
	};
	table.onChange(differences => {
		for (const {key, before} of differences) if (!changed.has(key)) changed.set(key, before);
		if (!isClosed) void settle();
	});
	for (const {key} of table.all()) changed.set(key, undefined);
	void settle();
	cancelLook = clock.after(limits.podNetworkLookMs, () => void look());
	return {
		settle,
		close() {
			isClosed = true;
			cancelLook();
		},
	};
}

/** What cannot be forgotten ends with its time. It fails where there is none. */
async function forget({conntrack}: NetworkTools, differences: readonly ServedDifference[]): Promise<void> {
	if (conntrack === undefined) return;
	for (const flows of staleFlows(differences)) await call(conntrack, forgetWords(flows)).catch(() => undefined);
}
