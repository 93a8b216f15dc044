// Tasks of runs over a cluster in memory, with functions that answer as a test says.

import type {LookupFunction} from 'node:net';
import type {CallTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import type {ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import type {Outcome} from '../../../api/errors.js';
import type {ApiObject, Json} from '../../../api/object.js';
import type {FunctionName} from '../../../server/functions/call.js';
import type {FunctionAnswer, WholeCall} from '../../../server/functions/delivery.js';
import {createTaskCalls} from '../../../server/workflows/task-calls.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {testCluster} from '../cluster.js';

export type Called = {
	readonly fn: FunctionName;
	readonly call: WholeCall;
	/** With this JSON, or these bytes. */
	readonly answer: (body: Json | Buffer, status?: number) => void;
	readonly fail: (error: Error) => void;
};

export const aTask = (resource: string, more: Partial<CallTask> = {}): CallTask => ({
	type: 'callTask',
	key: 'run-1/1-Charge.1',
	run: {namespace: 'default', name: 'order-7', uid: 'uid-of-order-7'},
	resource,
	input: {order: 7},
	...more,
});

/** What was just begun without a wait is over. */
export const settled = (): Promise<void> => new Promise(resolve => void setTimeout(resolve));

export function taskWorld(most?: number, lookup?: LookupFunction) {
	const cluster = testCluster();
	const clock = new ManualClock();
	const problems: unknown[] = [];
	const calls: Called[] = [];
	const tasks = createTaskCalls({
		control: cluster.control,
		clock,
		callWhole: (fn, call) =>
			new Promise<FunctionAnswer>((resolve, reject) => {
				const answer: Called['answer'] = (body, status = 200) =>
					resolve({status, contentType: undefined, body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))});
				calls.push({fn, call, answer, fail: reject});
			}),
		lookup,
		onProblem: error => void problems.push(error),
		...(most === undefined ? {} : {most}),
	});
	cluster.control.watches.watch(cluster.control.index.version, tasks.hear);
	const perform = (command: Parameters<typeof tasks.perform>[0] | CallTask): Promise<Outcome<unknown>> =>
		new Promise(resolve => tasks.perform(command, resolve));
	return {
		cluster,
		clock,
		problems,
		calls,
		tasks,
		perform,
		/** How a task ends; what went wrong at the edge itself is thrown. */
		outcome: async (task: CallTask): Promise<TaskOutcome> => {
			const ended = async (asked: CallTask): Promise<TaskOutcome> => {
				const outcome = await perform(asked);
				if (!outcome.ok) throw new Error(outcome.error.message);
				const value = outcome.value as TaskOutcome;
				// As a run does, once that is committed.
				return value.type === 'made' ? ended({...asked, isMade: true}) : value;
			};
			return ended(task);
		},
		stop: (key: string) => perform({type: 'stopTask', key} as CallTask | {type: 'stopTask'; key: string}),
		/** The call of that number, once it was made. */
		call: async (number: number): Promise<Called> => {
			for (let tries = 0; tries < 1_000; tries++) {
				const call = calls[number];
				if (call !== undefined) return call;
				await settled();
			}
			throw new Error(`call ${number} was not made`);
		},
		/** Commits an object of whatever kind as it is; undefined: it is gone. */
		commit: (key: string, object: ApiObject | undefined): void => {
			const {index, watches} = cluster.control;
			(watches as typeof watches & {push: (change: ReturnType<typeof index.apply>) => void}).push(
				index.apply(key, index.version + 1, object, () => JSON.stringify(object)),
			);
		},
		/** Lets tasks call these hosts. */
		allow: (...httpHosts: readonly string[]): void => {
			const config: ClusterConfig = {
				apiVersion: 'troupe.dev/v1',
				kind: 'ClusterConfig',
				metadata: {name: 'cluster', uid: 'uid-of-config', resourceVersion: '1', generation: 1, creationTimestamp: '2030-01-01T00:00:00Z'},
				spec: {workflows: {httpHosts}},
			};
			cluster.put(config);
		},
	};
}

export const failure = (name: string, cause: string): TaskOutcome => ({type: 'failed', error: {Error: name, Cause: cause}});
