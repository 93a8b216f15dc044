// The broker under load: an index of objects, their topics, and an echo for a peer that asks how long a message takes.

import {objectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import {may, type Identity} from '../../../api/roles.js';
import {createTopics, retainedObjects} from '../../../server/topics.js';
import {createBroker, type BrokerCounter} from '../../../system/broker/broker.js';
import {nodeQuota, toolQuota} from '../../../system/broker/quotas.js';
import {systemClock} from '../../../system/time/clock.js';
import {ObjectIndex} from '../../../system/index/object-index.js';
import {serve} from '../remote.js';

export type Changes = {
	readonly count: number;
	/** Objects that are changed in one turn, as one commit would; then I/O is looked at, and so much time passes. */
	readonly perTurn: number;
	readonly everyMs: number;
	readonly bytes: number;
};

const epoch = 1;
const ms = (time: number): Promise<void> => new Promise(resolve => (time === 0 ? setImmediate(resolve) : setTimeout(resolve, time)));

const identityOf = (name: string | undefined): Identity | undefined =>
	name === undefined ? undefined : name.startsWith('tool') ? {name, role: 'view'} : {name, role: 'node', node: name};

export async function openHost() {
	const index = new ObjectIndex();
	const broker = await createBroker<Identity>({
		clock: systemClock,
		authenticate: identityOf,
		may,
		retainedSource: retainedObjects(index, () => epoch),
		quotaOf: ({role}) => (role === 'node' ? nodeQuota : toolQuota),
	});
	const topics = createTopics({broker, epoch: () => epoch});
	const {port} = await broker.listen('127.0.0.1', 0);
	broker.subscribe('troupe/v1/actors/control/inbox/+', (topic, payload) => {
		const from = topic.slice(topic.lastIndexOf('/') + 1);
		broker.send(`troupe/v1/actors/${from}/inbox/control`, payload);
	});
	let version = 0;
	const commit = (at: number, bytes: number) => {
		version += 1;
		const object = aPod(at, version, bytes);
		return index.apply(objectKey('pods', 'default', `pod-${at}`), version, object, () => JSON.stringify(object));
	};
	return {
		port: () => port,
		/** So many objects, told to no client. */
		fill({count, bytes}: {readonly count: number; readonly bytes: number}): void {
			for (let at = 0; at < count; at += 1) commit(at, bytes);
		},
		/** The time it took. */
		async change({count, perTurn, everyMs, bytes}: Changes): Promise<number> {
			const startedAt = performance.now();
			for (let at = 0; at < count; at += 1) {
				topics.onChange(commit(at, bytes));
				if (at % perTurn === perTurn - 1) await ms(everyMs);
			}
			return performance.now() - startedAt;
		},
		/**
		 * How much processor time each turn of the loop takes, for some time: what others wait for at most, whatever else the machine does.
		 * It keeps the loop busy, so it is for times when it is busy anyway.
		 */
		turns: ({ms: forMs}: {readonly ms: number}): Promise<readonly number[]> =>
			new Promise(resolve => {
				const endMs = performance.now() + forMs;
				const taken: number[] = [];
				let last = process.cpuUsage();
				const turn = (): void => {
					const {user, system} = process.cpuUsage(last);
					last = process.cpuUsage();
					taken.push((user + system) / 1_000);
					if (performance.now() < endMs) setImmediate(turn);
					else resolve(taken);
				};
				setImmediate(turn);
			}),
		counters: (): Readonly<Record<BrokerCounter, number>> => broker.counters(),
		connected: (): readonly string[] => broker.connected(),
		close: (): Promise<void> => broker.close(),
	};
}

export type Host = Awaited<ReturnType<typeof openHost>>;

const aPod = (at: number, version: number, bytes: number): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name: `pod-${at}`,
		namespace: 'default',
		uid: `uid-${at}`,
		resourceVersion: String(version),
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
		annotations: {filling: 'x'.repeat(bytes)},
	},
});

if (process.argv[1] === import.meta.filename && process.send !== undefined) serve(await openHost());
