import test from 'ava';
import type {FunctionObject, FunctionTrigger} from '../../api/kinds/function.js';
import type {ApiObject} from '../../api/object.js';
import type {Workflow, WorkflowTrigger} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import type {Delivery} from '../../server/functions/delivery.js';
import type {Occasion, Taker} from '../../server/triggers/occasion.js';
import {followTriggers} from '../../server/triggers/triggers.js';
import type {Change, Entry} from '../../system/index/object-index.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {functionTakers, noTaker} from './_takers.js';

const minuteMs = 60_000;

function triggered(...triggers: readonly FunctionTrigger[]): FunctionObject {
	const metadata = {name: 'f', namespace: 'default', uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: ''};
	return {apiVersion: 'troupe.dev/v1', kind: 'Function', metadata, spec: {triggers}};
}

function followed(fn: FunctionObject, clock = new ManualClock(Date.UTC(2030, 0, 1, 0, 0, 30))) {
	const accepted: Delivery[] = [];
	const givenUp: string[] = [];
	let problem: Error | undefined;
	const takers = functionTakers(
		delivery => {
			if (problem !== undefined) return Promise.reject(problem);
			accepted.push(delivery);
			return Promise.resolve('id');
		},
		({trigger}, error) => void givenUp.push(`${trigger}: ${error.message}`),
	);
	const triggers = followTriggers({
		known: {list: plural => (plural === 'functions' ? [fn] : [])},
		clock,
		takers,
		workflowsBehind: () => [],
		onGivenUp: ({trigger}, why) => void givenUp.push(`${trigger}: ${why}`),
	});
	return {clock, accepted, givenUp, triggers, breaks: (error: Error) => void (problem = error)};
}

const entryOf = (key: string, object: ApiObject): Entry => ({key, object, json: () => JSON.stringify(object)}) as unknown as Entry;

function change(key: string, before: ApiObject | undefined, after: ApiObject | undefined): Change {
	const entry = (object: ApiObject | undefined): Entry | undefined => (object === undefined ? undefined : entryOf(key, object));
	return {key, version: 1, previous: 0, before: entry(before), after: entry(after)};
}

const functionChange = (before: FunctionObject | undefined, after: FunctionObject | undefined): Change =>
	change('functions/default/f', before, after);

const pod = (labels: Readonly<Record<string, string>>, more: object = {}): ApiObject =>
	({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p', namespace: 'default', uid: 'p', labels, ...more}}) as unknown as ApiObject;

test('a schedule delivers at each of its times, with its params', t => {
	const {clock, accepted} = followed(triggered({name: 'often', schedule: '*/2 * * * *', params: '{"x":1}'}));
	clock.advance(5 * minuteMs);
	t.deepEqual(
		accepted.map(({trigger, headers, body}) => [trigger, headers['x-troupe-scheduled-time'], body.toString()]),
		[
			['often', '2030-01-01T00:02:00.000Z', '{"x":1}'],
			['often', '2030-01-01T00:04:00.000Z', '{"x":1}'],
		],
	);
});

test('a schedule is that of its time zone, and far times come, too', t => {
	const {clock, accepted} = followed(triggered({name: 'late', schedule: '0 3 10 1 *', timeZone: 'Europe/Berlin'}));
	clock.advance(9 * 24 * 60 * minuteMs);
	t.is(accepted.length, 0);
	clock.advance(24 * 60 * minuteMs);
	t.deepEqual(
		accepted.map(({headers}) => headers['x-troupe-scheduled-time']),
		['2030-01-10T02:00:00.000Z'],
	);
});

test('another schedule takes the place of the first, and none is left of a function that goes', t => {
	const fn = triggered({name: 'often', schedule: '* * * * *'});
	const {clock, accepted, triggers} = followed(fn);
	const other = {...triggered({name: 'rare', schedule: '0 * * * *'}), metadata: {...fn.metadata, generation: 2}};
	triggers.hear(functionChange(fn, other));
	clock.advance(30 * minuteMs);
	t.is(accepted.length, 0);
	clock.advance(30 * minuteMs);
	t.deepEqual(
		accepted.map(({trigger}) => trigger),
		['rare'],
	);
	triggers.hear(functionChange(other, undefined));
	clock.advance(120 * minuteMs);
	t.is(accepted.length, 1);
});

test('a change of status alone does not begin a schedule anew', t => {
	const fn = triggered({name: 'often', schedule: '* * * * *'});
	const {clock, accepted, triggers} = followed(fn);
	for (let n = 0; n < 4; n++) {
		clock.advance(minuteMs / 4);
		triggers.hear(functionChange(fn, {...fn, status: {ready: n}}));
	}
	t.is(accepted.length, 1);
});

test('changes are told that are asked for, also of what leaves the selector', t => {
	const objects = {kind: 'pods', selector: {matchLabels: {app: 'web'}}, changes: ['created' as const, 'updated' as const]};
	const {accepted, triggers} = followed(triggered({name: 'pods', objects}));
	const [web, other] = [pod({app: 'web'}), pod({app: 'other'})];
	triggers.hear(change('pods/default/p', undefined, web));
	triggers.hear(change('pods/default/p', web, other));
	triggers.hear(change('pods/default/p', other, other));
	triggers.hear(change('pods/default/p', web, undefined));
	triggers.hear(change('pods/another/p', undefined, pod({app: 'web'}, {namespace: 'another'})));
	t.deepEqual(
		accepted.map(({headers, queue}) => [headers['x-troupe-change'], queue]),
		[
			['created', 'object pods/default/p'],
			['updated', 'object pods/default/p'],
		],
	);
});

test('a function is not told of itself, nor of what is its own', t => {
	const fn = triggered({name: 'all', objects: {kind: 'Pod'}}, {name: 'fns', objects: {kind: 'Function'}});
	const {accepted, triggers} = followed(fn);
	triggers.hear(functionChange(fn, {...fn, status: {ready: 1}}));
	triggers.hear(change('pods/default/p', undefined, pod({'troupe.dev/function': 'f'})));
	triggers.hear(change('pods/default/p', undefined, pod({}, {ownerReferences: [{uid: 'u'}]})));
	t.deepEqual(accepted, []);
});

test('what a trigger delivers has no values of Secrets', t => {
	const {accepted, triggers} = followed(triggered({name: 's', objects: {kind: 'Secret'}}));
	const secret = {...pod({}), kind: 'Secret', data: {password: 'c2VjcmV0'}} as unknown as ApiObject;
	triggers.hear(change('secrets/default/p', undefined, secret));
	t.is(accepted.length, 1);
	t.notRegex(accepted[0]?.body.toString() ?? '', /c2VjcmV0/);
});

test('what is not accepted is told', async t => {
	const {clock, givenUp, breaks} = followed(triggered({name: 'often', schedule: '* * * * *'}));
	breaks(new Error('the disk is full'));
	clock.advance(minuteMs);
	await Promise.resolve();
	t.deepEqual(givenUp, ['often: the disk is full']);
});

test('of more triggers each is counted and told by its own name, and a kind that is none is told at once', t => {
	const {givenUp} = followed(triggered({name: 'none', objects: {kind: 'Unicorn'}}));
	t.deepEqual(givenUp, ['none: there is no kind "Unicorn"']);
});

// ---- workflows -------------------------------------------------------------------------------------------------------------

function followedWorkflow(causes: (object: ApiObject) => readonly string[], ...triggers: readonly WorkflowTrigger[]) {
	const metadata = {name: 'w', namespace: 'default', uid: 'w', generation: 1, resourceVersion: '1', creationTimestamp: ''};
	const workflow: Workflow = {apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata, spec: {definition: {}, triggers}};
	const clock = new ManualClock(Date.UTC(2030, 0, 1, 0, 0, 30));
	const seen: Occasion[] = [];
	const givenUp: string[] = [];
	const workflows: Taker = {
		...noTaker,
		accept: occasion => Promise.resolve(seen.push(occasion)),
	};
	const followed = followTriggers({
		known: {list: plural => (plural === 'workflows' ? [workflow] : [])},
		clock,
		takers: {functions: noTaker, workflows},
		workflowsBehind: causes,
		onGivenUp: ({target, trigger}, why) => void givenUp.push(`${target.plural} ${target.name} ${trigger}: ${why}`),
	});
	return {clock, seen, givenUp, workflow, followed};
}

test('times and changes start runs of a workflow as they call functions', t => {
	const {clock, seen, givenUp, followed, workflow} = followedWorkflow(
		() => ['behind'],
		{name: 'often', schedule: '* * * * *'},
		{name: 'pods', objects: {kind: 'Pod', changes: ['created']}},
		{name: 'none', objects: {kind: 'Unicorn'}},
	);
	clock.advance(minuteMs);
	followed.hear(change('pods/default/p', undefined, pod({})));
	followed.hear(change('pods/default/p', pod({}), pod({})));
	const target = {plural: 'workflows', namespace: 'default', name: 'w'};
	t.like(seen[0], {target, trigger: {name: 'often'}, seen: {type: 'time', atMs: Date.UTC(2030, 0, 1, 0, 1), params: '{}'}});
	t.like(seen[1], {target, trigger: {name: 'pods'}, seen: {type: 'change', key: 'pods/default/p', change: 'created', causes: ['behind']}});
	t.is(seen.length, 2);
	t.deepEqual(givenUp, ['workflows w none: there is no kind "Unicorn"']);
	followed.hear(change('workflows/default/w', workflow, undefined));
	clock.advance(10 * minuteMs);
	followed.hear(change('pods/default/p', undefined, pod({})));
	t.is(seen.length, 2);
});

test('a workflow is not told of what comes from its own runs, nor at the end of a long way of others', t => {
	const causes = new Map<string, readonly string[]>([
		['other', ['x']],
		['own', ['x', 'w']],
		['far', Array.from({length: limits.workflowCauses}, (_, at) => `x${at}`)],
	]);
	const {seen, followed, workflow} = followedWorkflow(
		({metadata}) => causes.get(metadata.name) ?? [],
		{name: 'runs', objects: {kind: 'Run'}},
		{name: 'flows', objects: {kind: 'Workflow'}},
	);
	followed.hear(change('workflows/default/w', workflow, {...workflow, status: {revision: 1}}));
	for (const name of causes.keys())
		followed.hear(change(`runs/default/${name}`, undefined, {...pod({}), metadata: {...pod({}).metadata, name}, kind: 'Run'}));
	t.deepEqual(
		seen.map(({seen: what}) => what.type === 'change' && what.key),
		['runs/default/other'],
	);
});
