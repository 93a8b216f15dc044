// Runs of workflows as objects, with what is kept beside them: for what looks at them.

import type {Run, RunSpec, RunStatus} from '../../api/kinds/run.js';
import type {ApiObject, Json, ObjectMeta} from '../../api/object.js';
import type {Frame, RunNews} from '../../actors/workflows/run.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';

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

export const aRevision = (name: string, content: object): ApiObject =>
	({apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: metadataOf(name), data: {definition: content}, revision: 3}) as ApiObject;

/** A Map whose items somebody answers: the revision `order-map`. */
export const mapped = {
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
