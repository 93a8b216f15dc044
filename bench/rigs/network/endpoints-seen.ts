// What a node has as endpoints, seen from its host all the time: of a headless Service in its data plane, or of all others in the rules of its kernel.

import {spawn} from 'node:child_process';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {createDeferred, type Deferred} from '../../../system/time/deferred.js';
import {within} from '../cluster/waiting.js';
import type {Owner} from '../owner.js';

/** Milliseconds of the clock that all processes of a machine share. */
export const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export type EndpointsSeen = {
	/** Resolves with the moment at which it was seen that this holds of their addresses; rejects after a minute. */
	readonly since: (what: string, holds: (addresses: ReadonlySet<string>) => boolean) => Promise<number>;
};

type Waiting = {readonly holds: (addresses: ReadonlySet<string>) => boolean; readonly found: Deferred<number>};

const resolverPort = 8053;
/** Of the nodes that are looked at: each host has a loopback of its own. */
export const resolverFlag = `--dns=127.0.0.1:${resolverPort}`;

/** Of a headless Service, in the data plane. `before`: the words before a command that is to run on that host. */
export const watchEndpoints = (owner: Owner, before: readonly string[], service: string): EndpointsSeen =>
	watched(owner, [
		...before,
		process.execPath,
		programAt('endpoint-program.js'),
		String(resolverPort),
		`${service}.default.svc.cluster.local`,
	]);

/** Of all Services with an address, in the kernel. */
export const watchRules = (owner: Owner, before: readonly string[]): EndpointsSeen =>
	watched(owner, [...before, process.execPath, programAt('rules-seen-program.js')]);

const programAt = (name: string): string => path.join(import.meta.dirname, name);

function watched(owner: Owner, [first = '', ...rest]: readonly string[]): EndpointsSeen {
	const child = spawn(first, rest, {stdio: ['pipe', 'pipe', 'inherit']});
	owner.teardown(() => void child.kill('SIGKILL'));
	let seen: readonly [atMs: number, addresses: ReadonlySet<string>] | undefined;
	const waiting = new Set<Waiting>();
	const look = (): void => {
		for (const each of waiting) {
			if (seen === undefined || !each.holds(seen[1])) continue;
			waiting.delete(each);
			each.found.resolve(seen[0]);
		}
	};
	createInterface({input: child.stdout}).on('line', line => {
		const [atMs, addresses] = JSON.parse(line) as readonly [number, readonly string[]];
		seen = [atMs, new Set(addresses)];
		look();
	});
	return {
		since(what, holds) {
			const found = createDeferred<number>();
			waiting.add({holds, found});
			look();
			return within(what, found.promise, () => `there is: ${[...(seen?.[1] ?? [])].join()}`);
		},
	};
}
