// How fast the number of replicas changes: windows, policies and bounds.

import test from 'ava';
import {
	allowedNow,
	behaviourOf,
	historyFrom,
	withChange,
	type Behaviour,
	type History,
} from '../../../actors/control/autoscaling/scaling-rules.js';
import type {Labels} from '../../../api/object.js';
import type {HpaSpec} from '../../../api/kinds/horizontalpodautoscaler.js';

type Step = readonly [atSeconds: number, recommended: number, desired: number, reason?: string];

type Course = {
	readonly from: number;
	readonly min?: number;
	readonly max?: number;
	readonly behavior?: HpaSpec['behavior'];
	readonly annotations?: Labels;
	readonly steps: readonly Step[];
};

/** Each step is done: what is allowed becomes the number of replicas. */
function course({from, min = 1, max = 1_000, behavior, annotations, steps}: Course): readonly Step[] {
	const behaviour: Behaviour = behaviourOf(behavior === undefined ? {} : {behavior}, annotations);
	let current = from;
	let history: History = historyFrom(from, 0);
	return steps.map(([atSeconds, recommended, , reason]) => {
		const nowMs = atSeconds * 1_000;
		const allowed = allowedNow({current, recommended, min, max}, behaviour, history, nowMs);
		history = withChange(allowed.history, allowed.desired - current, nowMs);
		current = allowed.desired;
		const said = allowed.limit === 'DesiredWithinRange' ? allowed.window : allowed.limit;
		return reason === undefined ? [atSeconds, recommended, current] : [atSeconds, recommended, current, said];
	});
}

/** As the dialects' manifests become. */
const onePod = (periodSeconds: number): HpaSpec['behavior'] => {
	const policies = [{type: 'Pods', value: 1, periodSeconds}] as const;
	return {scaleUp: {policies}, scaleDown: {stabilizationWindowSeconds: 0, policies}};
};

const courses: {readonly [title: string]: Course} = {
	'up at once, by four pods or twice as many in 15 s': {
		from: 1,
		steps: [
			[1, 50, 5, 'ScaleUpLimit'],
			[6, 50, 5, 'ScaleUpLimit'],
			[17, 50, 10, 'ScaleUpLimit'],
			[33, 50, 20, 'ScaleUpLimit'],
		],
	},
	'down to what was needed at any moment of five minutes': {
		from: 10,
		steps: [
			[1, 2, 10, 'ScaleDownStabilized'],
			[100, 6, 10, 'ScaleDownStabilized'],
			[301, 2, 6, 'ScaleDownStabilized'],
			[399, 2, 6, 'ScaleDownStabilized'],
			[401, 2, 2, 'ReadyForNewScale'],
		],
	},
	'a window upwards takes the lowest of it': {
		from: 2,
		behavior: {scaleUp: {stabilizationWindowSeconds: 60}},
		steps: [
			[1, 6, 2, 'ScaleUpStabilized'],
			[30, 4, 2, 'ScaleUpStabilized'],
			[61, 6, 4, 'ScaleUpStabilized'],
			[91, 6, 6, 'ReadyForNewScale'],
		],
	},
	'a tenth or four pods a minute, whichever is more': {
		from: 80,
		behavior: {
			scaleDown: {
				stabilizationWindowSeconds: 0,
				policies: [
					{type: 'Pods', value: 4, periodSeconds: 60},
					{type: 'Percent', value: 10, periodSeconds: 60},
				],
			},
		},
		steps: [
			[0, 10, 72, 'ScaleDownLimit'],
			[30, 10, 72, 'ScaleDownLimit'],
			[60, 10, 64],
			[120, 10, 57],
			[180, 10, 51],
			[240, 10, 45],
			[300, 10, 40],
			[360, 10, 36],
			[420, 10, 32],
		],
	},
	'whichever is less, where Min is chosen': {
		from: 10,
		behavior: {
			scaleUp: {
				selectPolicy: 'Min',
				policies: [
					{type: 'Pods', value: 1, periodSeconds: 60},
					{type: 'Percent', value: 100, periodSeconds: 60},
				],
			},
		},
		steps: [[0, 40, 11, 'ScaleUpLimit']],
	},
	'nothing in a direction that is disabled': {
		from: 4,
		behavior: {scaleDown: {selectPolicy: 'Disabled', stabilizationWindowSeconds: 0}},
		steps: [
			[1, 1, 4, 'ScaleDownLimit'],
			[2, 6, 6],
		],
	},
	'one pod an interval, both ways, as the older dialects have it': {
		from: 1,
		max: 4,
		behavior: onePod(10),
		annotations: {'troupe.dev/scale-interval': '10'},
		steps: [
			[1, 4, 2, 'ScaleUpLimit'],
			[6, 4, 2, 'ScaleUpLimit'],
			[11, 4, 3],
			[21, 9, 4],
			[26, 1, 4, 'ScaleDownLimit'],
			[31, 1, 3, 'ScaleDownLimit'],
			[36, 1, 3],
			[41, 1, 2],
			[51, 0, 1, 'TooFewReplicas'],
		],
	},
	'a tenth of ten is one pod and no more': {
		from: 10,
		behavior: {scaleUp: {policies: [{type: 'Percent', value: 10, periodSeconds: 60}]}},
		steps: [[0, 40, 11]],
	},
	'what was taken away in a period may be added again beyond what a policy allows': {
		from: 10,
		behavior: {
			scaleUp: {policies: [{type: 'Pods', value: 1, periodSeconds: 60}]},
			scaleDown: {stabilizationWindowSeconds: 0},
		},
		steps: [
			[0, 6, 6],
			[10, 20, 11, 'ScaleUpLimit'],
			[20, 20, 11],
		],
	},
};

for (const [title, each] of Object.entries(courses)) test(`replicas change so: ${title}`, t => t.deepEqual(course(each), each.steps));

test('of recommendations no more is kept than windows can ask for', t => {
	const behaviour = behaviourOf({});
	let history = historyFrom(1, 0);
	for (let at = 1; at <= 5_000; at++)
		({history} = allowedNow({current: 1, recommended: 1 + ((at * 7) % 11), min: 1, max: 100}, behaviour, history, at * 1_000));
	t.true(history.highs.length <= 11, `${history.highs.length}`);
	t.true(history.lows.length <= 11, `${history.lows.length}`);
	t.is(history.changes.length, 0);
});

test('a new history takes the replicas there are as recommended: nothing falls at once after a restart', t => {
	const allowed = allowedNow({current: 8, recommended: 2, min: 1, max: 10}, behaviourOf({}), historyFrom(8, 0), 1_000);
	t.like(allowed, {desired: 8, window: 'ScaleDownStabilized'});
});

test('a tolerance of its own is that of its direction', t => {
	t.deepEqual(behaviourOf({behavior: {scaleUp: {tolerance: '50m'}}}).tolerance, {up: 0.05, down: 0.1});
});
