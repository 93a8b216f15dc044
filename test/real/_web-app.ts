// One cluster of several hosts with the web app on it, for all tests of a file.

import type {ExecutionContext, TestFn} from 'ava';
import {lossesOf, summaryOf, type Seen} from '../../bench/rigs/fleet/load.js';
import {openServedHosts, type ServedHost, type ServedHosts, type ServedHostsOptions} from '../../bench/rigs/fleet/served-hosts.js';
import {openWebApp, type Serving, type Standing, type WebApp} from '../../bench/rigs/fleet/web-app.js';
import type {Owner} from '../../bench/rigs/owner.js';

type Lost = ReturnType<typeof lossesOf>[number];

export type Stage = {
	readonly hosts: ServedHosts;
	readonly app: WebApp;
	readonly node: (name: string) => ServedHost;
	readonly server: ServedHost;
};

/** Opened before the first test, gone after the last. `options` may open more that goes with it. */
export function sharedWebApp(test: TestFn, options: (owner: Owner) => ServedHostsOptions, serving?: Serving): () => Stage {
	const releases: (() => void | Promise<void>)[] = [];
	let stage: Stage | undefined;
	test.before('a web app answers on all hosts', async t => {
		t.timeout(240_000);
		const owner: Owner = {teardown: release => void releases.unshift(release)};
		const hosts = await openServedHosts(owner, options(owner));
		const [server] = hosts.servers;
		if (server === undefined) throw new Error('there is no server');
		const node = (name: string): ServedHost => {
			const found = hosts.nodes.find(host => host.name === name);
			if (found === undefined) throw new Error(`there is no node ${name}`);
			return found;
		};
		stage = {hosts, app: await openWebApp(owner, hosts, serving), node, server};
	});
	test.after.always('nothing of it is left', async t => {
		t.timeout(120_000);
		for (const release of releases) await release();
		t.pass();
	});
	return () => {
		if (stage === undefined) throw new Error('the web app is opened before the first test');
		return stage;
	};
}

export const nowMs = (): number => performance.timeOrigin + performance.now();

/** Asserts that nothing at all was lost. */
export function nothingLost(t: ExecutionContext, seen: readonly Seen[]): void {
	t.log(summaryOf(seen));
	t.true(seen.every(({ways}) => ways.every(({sent}) => sent > 0)));
	t.deepEqual(lossesOf(seen).slice(0, 20).map(lossText), []);
}

export const lossText = ({client, way, atMs, afterMs, error}: Lost): string =>
	`${new Date(atMs).toISOString().slice(11)} ${client}, ${way}: ${error} after ${afterMs} ms`;

/** All pods are replaced: what was decided while something was away reaches all nodes. */
export async function replaceAll({app, server}: Stage): Promise<void> {
	await server.fine('rollout', 'restart', 'deployment/web');
	await server.fine('rollout', 'status', 'deployment/web', '--timeout', '180s');
	await app.settled();
}

/** Asserts that pods of before are the same processes, those aside that had to go. */
export function nothingMoved(
	t: ExecutionContext,
	before: Standing,
	after: Standing,
	isExcused: (node: string) => boolean = () => false,
): void {
	const moved = [...before].filter(([uid, {node, program}]) => !isExcused(node) && after.get(uid)?.program !== program);
	t.deepEqual(
		moved.map(([, {name, node}]) => `${name} on ${node}`),
		[],
		'pods that were still wanted',
	);
}
