// What the scheduler's decisions cost while thousands of pods wait: its behaviour alone, in processor time. Binds are committed here as the pods'
// records would; what the index and a store cost is not in the figures.

import type {NodeObject} from '../api/kinds/node.js';
import type {Pod, PodSpec} from '../api/kinds/pod.js';
import {objectKey, type ObjectKey} from '../api/keys.js';
import type {ApiObject} from '../api/object.js';
import {termsOf} from '../actors/control/kinds.js';
import {scheduler, type SchedulerMessage, type SchedulerState} from '../actors/control/scheduling/scheduler.js';
import type {Effect, Pending} from '../system/kernel/behavior.js';
import {play, playContext, playFrom} from '../system/kernel/play.js';
import {ObjectIndex} from '../system/index/object-index.js';
import type {Row} from './harness/table.js';

const defaultRounds = 5;

type Crowd = {
	readonly name: string;
	/** So many different requirements. */
	readonly classes: number;
	readonly spec?: Partial<PodSpec>;
};

const crowds: readonly Crowd[] = [
	{name: 'of 1 class', classes: 1},
	{name: 'of 100 classes', classes: 100},
	{name: 'of 100 classes and a higher priority', classes: 100, spec: {priority: 100}},
];

/** `rounds`: how many events of each sort there are. */
export function waitingPodsRows(nodes: number, pods: number, rounds = defaultRounds): readonly Row[] {
	const empty = new Bench();
	for (let at = 0; at < nodes; at++) empty.put('nodes', nodeOf(`n${at}`));
	for (let at = 0; at < pods; at++) empty.put('pods', podOf(`waiting-${at}`, 1));
	const bound: Row = {what: `${nodes} nodes, ${pods} pods that fit: all are bound`, values: [empty.costMs([])], unit: 'ms'};
	return [bound, ...crowds.flatMap(crowd => rowsOf(crowd, nodes, pods, rounds))];
}

/** Each node is full: a pod of the crowd fits where the larger of its two pods ends, and nowhere by preempting the smaller one. */
function rowsOf({name, classes, spec}: Crowd, nodes: number, pods: number, rounds: number): readonly Row[] {
	const bench = new Bench();
	for (let at = 0; at < nodes; at++) {
		const nodeName = `n${at}`;
		bench.put('nodes', nodeOf(nodeName));
		bench.put('pods', podOf(`small-${at}`, 1_000, {nodeName}));
		bench.put('pods', podOf(`large-${at}`, 3_000, {priority: 100, nodeName}));
	}
	for (let at = 0; at < pods; at++) bench.put('pods', podOf(`waiting-${at}`, 2_000 + Math.floor((at * classes) / pods), spec));
	const first = bench.costMs([]);
	const come: number[] = [];
	const end: number[] = [];
	const all: number[] = [];
	for (let at = 0; at < rounds; at++) {
		bench.put('pods', podOf(`new-${at}`, 0));
		come.push(bench.costMs([{type: 'more'}]));
		bench.drop(`pods/default/large-${at % nodes}`);
		end.push(bench.costMs([{type: 'nodeChanged', node: `n${at % nodes}`}]));
		all.push(bench.costMs([{type: 'wake'}]));
	}
	const what = `${nodes} nodes, ${pods} pods ${name} that fit nowhere`;
	return [
		{what: `${what}: all are tried`, values: [first], unit: 'ms'},
		{what: `${what}: another one comes and is bound`, values: come, unit: 'ms'},
		{what: `${what}: a pod ends, one takes its place`, values: end, unit: 'ms'},
		{what: `${what}: all are tried again`, values: all, unit: 'ms'},
		{what: `${what}: the longest step`, values: [bench.longestMs], unit: 'ms'},
	];
}

/** The scheduler over an index; what it asks for is committed once it has nothing left to do. */
class Bench {
	longestMs = 0;
	readonly #index = new ObjectIndex(termsOf);
	readonly #pending = new Map<string, Pending>();
	readonly #context = playContext({known: this.#index, pending: this.#pending});
	#state: SchedulerState | undefined;

	put(plural: string, object: ApiObject): void {
		this.#apply(objectKey(plural, object.metadata.namespace, object.metadata.name), object);
	}

	drop(key: ObjectKey): void {
		this.#apply(key, undefined);
	}

	/** Milliseconds of the processor until the scheduler is at rest. */
	costMs(messages: readonly SchedulerMessage[]): number {
		const queue = [...messages];
		let sum = 0;
		if (this.#state === undefined) sum += this.#step(undefined, queue);
		for (;;) {
			const message = queue.shift();
			if (message !== undefined) sum += this.#step(message, queue);
			else if (this.#pending.size > 0) this.#commit(queue);
			else return sum;
		}
	}

	#step(message: SchedulerMessage | undefined, queue: SchedulerMessage[]): number {
		if (message?.type === 'outcome') this.#pending.delete(message.id);
		const before = process.cpuUsage();
		const {state, effects} =
			message === undefined || this.#state === undefined
				? play(scheduler, null, [], this.#context)
				: playFrom(scheduler, this.#state, [message], this.#context);
		const {user, system} = process.cpuUsage(before);
		this.#state = state;
		for (const effect of effects) this.#take(effect, queue);
		const ms = (user + system) / 1_000;
		this.longestMs = Math.max(this.longestMs, ms);
		return ms;
	}

	#take(effect: Effect, queue: SchedulerMessage[]): void {
		if (effect.type === 'update') this.#pending.set(effect.id, effect);
		if (effect.type !== 'tell' || effect.to !== this.#context.self) return;
		const message = effect.message as SchedulerMessage;
		if (!queue.some(({type}) => type === message.type)) queue.push(message);
	}

	#commit(queue: SchedulerMessage[]): void {
		for (const write of this.#pending.values()) {
			if (write.type !== 'update') continue;
			const {spec, ...pod} = this.#index.get(write.key) as Pod;
			const {nodeName} = write.message as unknown as {readonly nodeName: string};
			this.#apply(write.key, {...pod, spec: {...spec, nodeName}});
			queue.push({type: 'outcome', id: write.id, outcome: {ok: true, value: null}});
		}
	}

	#apply(key: ObjectKey, object: ApiObject | undefined): void {
		this.#index.apply(key, this.#index.version + 1, object, () => '');
	}
}

const metadataOf = (name: string) => ({name, uid: name, resourceVersion: '1', generation: 1, creationTimestamp: '2020-01-01T00:00:00Z'});

const nodeOf = (name: string): NodeObject => ({
	apiVersion: 'v1',
	kind: 'Node',
	metadata: metadataOf(name),
	spec: {},
	status: {conditions: [{type: 'Ready', status: 'True'}], allocatable: {cpu: '4', memory: '8Gi', pods: '110'}},
});

const podOf = (name: string, cpu: number, spec: Partial<PodSpec> = {}): Pod => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {...metadataOf(name), namespace: 'default'},
	spec: {
		containers: [{name: 'main', image: 'sleep', imagePullPolicy: 'Always', resources: {requests: {cpu: `${cpu}m`}}}],
		restartPolicy: 'Always',
		terminationGracePeriodSeconds: 5,
		...spec,
	},
	status: {phase: 'Pending'},
});
