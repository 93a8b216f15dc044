// A cluster with a workflow and runs of it, as the commands about them see it.

import type {ExecutionContext} from 'ava';
import type {Run, RunSpec, RunStatus} from '../../api/kinds/run.js';
import {objectKey} from '../../api/keys.js';
import type {ApiObject, Json, ObjectMeta} from '../../api/object.js';
import type {Frame, RunNews} from '../../actors/workflows/run.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import {openCluster} from './_rig.js';

export const startMs = Date.parse('2026-01-01T00:00:00.000Z');

const task = (more: object): object => ({Type: 'Task', Resource: 'f', ...more});

export const definition = {
	StartAt: 'Charge',
	States: {
		Charge: task({
			Resource: 'shop/charge',
			Next: 'Ask',
			Retry: [{ErrorEquals: ['Busy']}],
			Catch: [{ErrorEquals: ['NoMoney'], Next: 'Lost'}],
		}),
		Ask: task({Resource: 'activity:ask', Next: 'Choose'}),
		Choose: {Type: 'Choice', Choices: [{Variable: '$.yes', BooleanEquals: true, Next: 'Done'}], Default: 'Lost'},
		Done: {Type: 'Succeed'},
		Lost: {Type: 'Fail', Error: 'Lost'},
	},
};

const metadataOf = (name: string, more: Partial<ObjectMeta> = {}): ObjectMeta => ({
	...{name, namespace: 'default', uid: `u-${name}`, resourceVersion: '0', generation: 1},
	creationTimestamp: '2026-01-01T00:00:00Z',
	...more,
});

export const aWorkflow = (name = 'order', spec: object = {}): ApiObject => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Workflow',
	metadata: metadataOf(name),
	spec: {definition, ...spec},
	status: {revision: 3, revisionName: `${name}-abc`},
});

const aRevision = (name: string, content: object): ApiObject =>
	({apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: metadataOf(name), data: {definition: content}, revision: 3}) as ApiObject;

/** A Map whose items somebody answers: the revision `order-map`. */
const mapped = {
	StartAt: 'Each',
	States: {
		Each: {
			Type: 'Map',
			ItemProcessor: {StartAt: 'Ask', States: {Ask: {Type: 'Task', Resource: 'activity:a', End: true}}},
			End: true,
		},
	},
};

export const aRun = (name: string, status: RunStatus = {}, spec: Partial<RunSpec> = {}): Run => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: metadataOf(name, {labels: {'troupe.dev/workflow': 'order'}}),
	spec: {workflow: 'order', input: {id: 7}, ...spec},
	status: {phase: 'Running', revisionName: 'order-abc', startTime: '2026-01-01T00:00:00.000Z', steps: 0, ...status},
});

export const aFrame = (state: string, more: Partial<Frame> = {}): Frame => ({
	...{id: '', parent: null, scope: [], index: 0, state, visit: 2, enteredAtMs: startMs + 5_000, input: {}, attempt: 1, retries: []},
	phase: {type: 'task', input: {}, timeoutAtMs: null, heartbeatSeconds: null, heartbeatAtMs: null},
	...more,
});

export const entered = (state: string, input: Json = {}, frame = ''): RunNews => ({type: 'entered', state, frame, input});
export const left = (state: string, frame = ''): RunNews => ({type: 'left', state, frame});

/** Of a run of `order-map`: so many items that wait. */
export const itemFrames = (count: number): readonly Frame[] => [
	aFrame('Each', {visit: 1, phase: {type: 'children', total: count, concurrency: count, tolerated: null, input: null}}),
	...Array.from({length: count}, (_, index) =>
		aFrame('Ask', {id: `1-Each.1.${index}/`, parent: '', scope: [{state: 'Each', branch: 0}], index, visit: 1}),
	),
];

/** One record a second. */
export const records = (...news: readonly (readonly RunNews[])[]): readonly HistoryRecord[] =>
	news.map((each, number) => ({number, atMs: startMs + number * 1_000, news: each}));

/** A cluster with the workflow `order`. */
export async function openRuns(t: ExecutionContext) {
	const rig = await openCluster(t);
	const {cluster} = rig;
	for (const object of [aWorkflow(), aRevision('order-abc', definition), aRevision('order-map', mapped)]) cluster.put(object);
	const keyOf = (name: string): string => objectKey('runs', 'default', name);
	return {
		...rig,
		/** Puts a run in, with what is under way of it and its history. */
		put: (run: Run, frames: readonly Frame[] = [], history: readonly HistoryRecord[] = []): void => {
			const key = keyOf(run.metadata.name);
			cluster.histories.set(key, [...history]);
			cluster.control.index.parts.drop(key);
			cluster.control.index.parts.apply(key, {parts: new Map(frames.map(frame => [`frame/${frame.id}`, frame as unknown as Json]))});
			cluster.put({...run, status: {...run.status, steps: history.length}});
		},
		read: (name: string): Run | undefined => cluster.control.index.get(keyOf(name)) as Run | undefined,
		/** The run that `run/NAME started` tells of, which is gone then: the next one may have its name. */
		takenAway: (said: string): Run | undefined => {
			const [, name = ''] = /^run\/(\S+) started\n$/.exec(said) ?? [];
			const run = cluster.control.index.get(keyOf(name));
			if (run !== undefined) cluster.drop(keyOf(name));
			return run as Run | undefined;
		},
		/** All runs there are. */
		runs: (): readonly Run[] => [...cluster.control.index.list('runs')] as readonly Run[],
		keyOf,
	};
}
