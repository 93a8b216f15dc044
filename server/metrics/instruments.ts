// What a server counts where it happens, once a process: requests at its doors, commits, and what becomes of pods. Buckets are bounds in seconds.

import type {Instruments} from '../../api/metrics.js';
import type {Committed} from '../../system/store/measured-store.js';

/** A request that was answered, or whose client left. `resource` is of the routes, never of the client: `pods`, `pods/log`, `other`. */
export type AnsweredRequest = {
	readonly verb: string;
	readonly resource: string;
	/** 0: the client left before there was an answer. */
	readonly status: number;
	/** It is a watch, or what goes on like one: its length says nothing of the server. */
	readonly isLong: boolean;
	readonly seconds: number;
};

/** Why a pod had to go though nobody deleted it: by the reason of its event, or by the API. */
export type EvictionReason = (typeof evictionReasons)[number];
export const evictionReasons = ['Preempted', 'TaintManagerEviction', 'Replaced', 'Evicted', 'Api'] as const;

export type ServerInstruments = {
	readonly answered: (request: AnsweredRequest) => void;
	readonly committed: (committed: Committed) => void;
	readonly scheduled: (seconds: number) => void;
	readonly started: (seconds: number) => void;
	readonly evicted: (reason: EvictionReason) => void;
	readonly containersRestarted: (count: number) => void;
	readonly coldStarted: (seconds: number) => void;
	readonly brokerCounted: (event: string) => void;
};

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const commitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const schedulingBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const startBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const coldBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function openServerInstruments({histogram, counter}: Instruments): ServerInstruments {
	const requests = counter({
		name: 'troupe_api_requests_total',
		help: 'Requests of the API, by verb, resource and class of the status code; none: the client left before the answer.',
		labels: ['verb', 'resource', 'code'],
	});
	const durations = histogram({
		name: 'troupe_api_request_duration_seconds',
		help: 'How long requests of the API took, watches and what goes on like them aside.',
		labels: ['verb', 'resource'],
		buckets: requestBuckets,
	});
	const commits = histogram({
		name: 'troupe_store_commit_duration_seconds',
		help: 'How long the store took for a batch of writes, by how it ended.',
		labels: ['outcome'],
		buckets: commitBuckets,
	});
	const writes = counter({
		name: 'troupe_store_writes_total',
		help: 'Records that were written to the store or removed from it.',
		labels: [],
	});
	const scheduling = histogram({
		name: 'troupe_scheduling_duration_seconds',
		help: 'From the moment that a pod needed a node (made, or its node lost) until it was bound to one.',
		labels: [],
		buckets: schedulingBuckets,
	});
	const starts = histogram({
		name: 'troupe_pod_start_duration_seconds',
		help: 'From the making of a pod until it was Running.',
		labels: [],
		buckets: startBuckets,
	});
	const evictions = counter({
		name: 'troupe_evictions_total',
		help: 'Pods that had to go, by the reason of their event; Api: by an eviction that a client asked for.',
		labels: ['reason'],
	});
	const restarts = counter({name: 'troupe_container_restarts_total', help: 'Restarts of containers.', labels: []});
	const colds = histogram({
		name: 'troupe_function_cold_start_duration_seconds',
		help: 'How long calls waited that found no ready instance of their function.',
		labels: [],
		buckets: coldBuckets,
	});
	const broker = counter({
		name: 'troupe_broker_events_total',
		help: 'What the broker counts: connections, and what it refused or cut.',
		labels: ['event'],
	});
	for (const reason of evictionReasons) evictions({reason}, 0);
	restarts({}, 0);
	return {
		answered({verb, resource, status, isLong, seconds}) {
			requests({verb, resource, code: status === 0 ? 'none' : `${Math.floor(status / 100)}xx`});
			if (!isLong) durations({verb, resource}, seconds);
			if (resource === 'pods/eviction' && status >= 200 && status < 300) evictions({reason: 'Api'});
		},
		committed({outcome, seconds, writes: count}) {
			commits({outcome}, seconds);
			if (outcome === 'committed') writes({}, count);
		},
		scheduled: seconds => scheduling({}, seconds),
		started: seconds => starts({}, seconds),
		evicted: reason => evictions({reason}),
		containersRestarted: count => restarts({}, count),
		coldStarted: seconds => colds({}, seconds),
		brokerCounted: event => broker({event}),
	};
}
