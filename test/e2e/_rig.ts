// Homes of tests: the rig's (bench/rigs/cluster/home.ts), and one that all tests of a file share.

import type {TestFn} from 'ava';
import type {Client} from '../../cli/client.js';
import {openHome, type Home} from '../../bench/rigs/cluster/home.js';

export type {Ran} from '../../bench/rigs/command-line.js';
export {follow, freePorts, nodeName, openHome, type Home, type Started} from '../../bench/rigs/cluster/home.js';

/** One home for all tests of a file, with its cluster up before the first; everything is cleaned up after the last. */
export function openFileHome(
	tests: Pick<TestFn, 'before' | 'after'>,
	...flags: readonly string[]
): {readonly cluster: Home; readonly client: () => Client} {
	const cleanings: (() => void | Promise<void>)[] = [];
	const cluster = openHome({teardown: clean => void cleanings.unshift(clean)});
	let client: Client | undefined;
	tests.before(async () => {
		await cluster.up(...flags);
		client = await cluster.client();
	});
	tests.after.always(async () => {
		for (const clean of cleanings) await clean();
	});
	return {
		cluster,
		client() {
			if (client === undefined) throw new Error('the cluster of this file is not up');
			return client;
		},
	};
}
