// A data plane: the index, what serves from it, the feed that fills it, and its end.
//
// What it keeps true: it needs no agent to go on; it takes connections of its own only when all is open; a successor that does not serve costs
// nothing, for this one goes on until that one has said that it does.

import {readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {systemClock} from '../../../system/time/clock.js';
import {statOf} from '../../os/identity.js';
import {openFeedServer, type FeedServer} from '../feed/feed-server.js';
import {isThere, readRecord, recordServing, socketOf} from '../feed/record.js';
import type {DataPlaneSettings} from '../feed/settings.js';
import {createNetworkIndex, type NetworkIndex} from '../index/network-index.js';
import type {HeldSocket} from '../listeners/held-sockets.js';
import {openListeners} from '../listeners/open-listeners.js';
import {handOver} from './hand-over.js';
import {createProblems} from './problems.js';
import type {OpenServers} from './servers.js';

/** What the data plane before this one had. */
export type Inheritance = {readonly changes: readonly NetworkChange[]; readonly sockets: readonly HeldSocket[]};

/** Resolves when it serves; rejects when it cannot, with nothing recorded. */
export async function runDataPlane(settings: DataPlaneSettings, openServers: OpenServers, {changes, sockets}: Inheritance): Promise<void> {
	const {folder, identity, node} = settings;
	const clock = systemClock;
	const problems = createProblems();
	const index = createNetworkIndex();
	const listeners = openListeners({clock, held: sockets, onProblem: problems.set});
	const servers = openServers({index, listeners, clock, node, settings, onProblem: problems.set});
	index.replace(changes);
	const socket = socketOf(folder, process.pid);
	rmSync(socket, {force: true});
	const retire = (): void => {
		feed.close();
		for (const server of servers) server.close();
		const end = (): void => process.exit(0);
		clock.after(limits.dataPlaneDrainMs, end);
		listeners.close(end);
	};
	const feed: FeedServer = await openFeedServer({
		socket,
		identity,
		onChanges: (isWhole, fed) => (isWhole ? index.replace(fed) : index.change(fed)),
		async onHandOver(program) {
			await handOver(program, {folder, changes: allOf(index), sockets: listeners.sockets(), clock});
			// The answer goes first.
			setImmediate(retire);
		},
		measure: () => ({memoryBytes: process.memoryUsage.rss(), connections: listeners.connections()}),
		problems: problems.list,
	});
	problems.onChange(feed.tell);
	const self = statOf(process.pid);
	if (self === undefined) throw new Error('this process does not find itself in /proc');
	recordServing(folder, self);
	sweep(folder);
	watchOver(folder);
}

const allOf = (index: NetworkIndex): readonly NetworkChange[] => index.keys().map((key): NetworkChange => ({key, object: index.get(key)}));

/** Sockets of those that are gone. */
function sweep(folder: string): void {
	const {serving, others} = readRecord(folder);
	const living = [serving, ...others].map(each => (each === undefined ? '' : path.basename(socketOf(folder, each.pid))));
	for (const name of readdirSync(folder))
		if (name.startsWith('feed.') && !living.includes(name)) rmSync(path.join(folder, name), {force: true});
}

/** One that its home does not name any more would be found by no one: it ends. */
function watchOver(folder: string): void {
	const look = (): void => {
		const {serving, others} = readRecord(folder);
		if (![serving, ...others].some(each => each?.pid === process.pid && isThere(each))) process.exit(0);
		systemClock.after(limits.dataPlaneLookMs, look);
	};
	systemClock.after(limits.dataPlaneLookMs, look);
}
