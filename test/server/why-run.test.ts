// Why a run of a workflow is where it is, cause by cause.

import test from 'ava';
import {objectKey} from '../../api/keys.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {Run, RunStatus} from '../../api/kinds/run.js';
import type {ApiObject, Json} from '../../api/object.js';
import type {Frame} from '../../actors/workflows/run.js';
import {answerOf, causeOf} from '../../server/why/cause.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import {aFunction} from '../actors/_functions.js';
import {indexOf, nowMs} from '../actors/_objects.js';
import {aFrame, aRevision, aRun, aWorkflow, definition, itemFrames, mapped, records, startMs} from '../actors/_runs.js';
import {openDoor} from './door.js';

type World = {
	readonly objects?: readonly ApiObject[];
	readonly frames?: readonly Frame[];
	readonly history?: readonly HistoryRecord[];
};

const workflows = [aWorkflow(), aRevision('order-abc', definition), aRevision('order-map', mapped)];

const partsOf = (frames: readonly Frame[]) => ({parts: new Map(frames.map(frame => [`frame/${frame.id}`, frame as unknown as Json]))});

/** The answer, the links of the chain, and what comes next. */
function why(run: ApiObject, {objects = workflows, frames = [], history}: World = {}) {
	const known = indexOf(run, ...objects);
	known.parts.apply(objectKey('runs', 'default', run.metadata.name), partsOf(frames));
	const found = causeOf(run, {
		known,
		nowMs,
		eventsOf: () => [],
		actorAt: () => undefined,
		partitionOf: () => undefined,
		isGone: false,
		goneOwnedBy: () => [],
		historyOf: () => history,
	});
	const {says, atMs} = found.next ?? {};
	return {answer: answerOf(run, found), state: found.state, chain: found.chain.map(({about}) => about), says, atMs};
}

const pending = (name = 'one'): Run => ({...aRun(name), status: {phase: 'Pending'}});
const ended = (status: RunStatus): Run => aRun('one', {completionTime: '2026-01-01T00:00:03.000Z', ...status});

test('why of a run that has not begun names its workflow', t => {
	t.like(why(pending(), {objects: []}), {
		answer: 'Run one has not begun: there is no workflow "order" in default.',
		state: 'wrong',
		says: 'it begins when that is applied',
	});
	t.is(why(pending()).answer, 'Run one has not begun: it is about to.');
	const message = 'Error creating: controllerrevisions.apps "order-1" is forbidden: exceeded quota: q';
	const conditions = [{type: 'Ready', status: 'False', reason: 'FailedCreate', message, lastTransitionTime: ''}];
	const refused = {...aWorkflow(), status: {conditions}};
	const found = why(pending(), {objects: [refused]});
	t.true(found.answer.startsWith('Run one has not begun: its workflow order has no revision'), found.answer);
	t.is(why(refused, {objects: []}).state, 'wrong');
});

test('why of a suspended run tells how it goes on', t => {
	const found = why(aRun('one', {phase: 'Suspended'}, {suspend: true}), {frames: [aFrame('Charge')]});
	t.is(found.answer, 'Run one is suspended.');
	t.is(found.says, 'it goes on when spec.suspend is false: troupe workflow resume run/one');
});

test('why of a run that is over tells how it has ended, and what follows', t => {
	const good = why(ended({phase: 'Succeeded'}));
	t.deepEqual(
		[good.answer, good.state, good.says],
		['Run one has succeeded after 3 s.', 'over', 'it is deleted (ttlSecondsAfterFinished)'],
	);
	t.is(good.atMs, startMs + 3_000 + 604_800_000);
	t.is(why(ended({phase: 'Cancelled'})).answer, 'Run one was cancelled after 3 s.');
	const bad = why(ended({phase: 'Failed', error: {error: 'Lost', cause: 'no way'}}));
	t.deepEqual(
		[bad.answer, bad.state, bad.says],
		['Run one has failed: Lost: no way.', 'wrong', 'troupe workflow retry run/one begins again where it has failed'],
	);
});

test('why of a run that waits for somebody has the command that answers', t => {
	const asks = why(aRun('one'), {frames: [aFrame('Ask', {visit: 3})]});
	t.is(asks.answer, 'Run one waits for an answer: Ask waits for the word of somebody.');
	t.deepEqual([asks.state, asks.chain], ['waits', ['run/one', 'state Ask']]);
	t.is(asks.says, 'troupe workflow approve run/one --state "Ask" gives it, reject says no');
	const many = why(aRun('one', {revisionName: 'order-map'}), {frames: itemFrames(3)});
	t.is(many.answer, 'Run one waits for an answer: Ask waits for the word of somebody; 2 more states of it are under way.');
	t.is(many.says, 'troupe workflow approve run/one --key "u-one/1-Each.1.0/1-Ask.1" gives it, reject says no');
});

test('why of a run that calls a function goes on to what is the matter with that', t => {
	const shop = (status: FunctionObject['status']): FunctionObject => {
		const fn = aFunction({}, status);
		return {...fn, metadata: {...fn.metadata, name: 'charge', namespace: 'shop'}};
	};
	const at = {frames: [aFrame('Charge', {attempt: 2, phase: {...aFrame('x').phase, timeoutAtMs: startMs + 60_000} as Frame['phase']})]};
	const well = why(aRun('one'), {...at, objects: [...workflows, shop({ready: 1, desired: 1})]});
	t.is(well.answer, 'Run one waits for function charge: Charge calls function shop/charge, attempt 2.');
	t.deepEqual([well.state, well.says, well.atMs], ['waits', 'Charge is out of time', startMs + 60_000]);
	t.is(why(aRun('one'), at).answer, well.answer, 'that it is not there the task is about to say');
	const conditions = [{type: 'Callable', status: 'False', reason: 'NoCode', message: '', lastTransitionTime: ''}] as const;
	const bad = why(aRun('one'), {...at, objects: [...workflows, shop({conditions})]});
	t.is(
		bad.answer,
		'Run one waits for function charge: Charge calls function shop/charge, attempt 2, and function/charge cannot be called: its code is not in the cluster.',
	);
	t.deepEqual([bad.state, bad.chain], ['wrong', ['run/one', 'state Charge', 'function/charge']]);
	t.regex(bad.says ?? '', /troupe apply -f/);
});

test('why of a run that waits to try again has the error before it, and when', t => {
	const frames = [aFrame('Charge', {attempt: 2, phase: {type: 'retrying', untilMs: nowMs + 5_000}})];
	const retried = (Cause: string) =>
		({type: 'retried', state: 'Charge', frame: '', retrier: 0, error: {Error: 'Busy', Cause}, delayMs: 1}) as const;
	const found = why(aRun('one'), {frames, history: records([retried('first')], [retried('later')])});
	t.is(found.answer, 'Run one waits to try again: attempt 1 of Charge failed with Busy: later.');
	t.deepEqual([found.state, found.says, found.atMs], ['wrong', 'attempt 2 of Charge', nowMs + 5_000]);
	t.is(why(aRun('one'), {frames}).answer, 'Run one waits to try again: attempt 1 of Charge failed.');
});

test('why of a run that waits for a time, for another run or a Job, or goes on by itself', t => {
	const content = {
		StartAt: 'Both',
		States: {
			Both: {
				Type: 'Parallel',
				End: true,
				Branches: [
					{StartAt: 'Pause', States: {Pause: {Type: 'Wait', Seconds: 5, End: true}}},
					{StartAt: 'Sub', States: {Sub: {Type: 'Task', Resource: 'workflow:order', End: true}}},
					{StartAt: 'Build', States: {Build: {Type: 'Task', Resource: 'job:', End: true}}},
					{StartAt: 'Post', States: {Post: {Type: 'Task', Resource: 'https://api.example.com/a?key=x', End: true}}},
				],
			},
		},
	};
	const objects = [...workflows, aRevision('both-1', content)];
	const branch = (index: number, state: string, more: Partial<Frame> = {}): Frame =>
		aFrame(state, {id: `1-Both.1.${index}/`, parent: '', scope: [{state: 'Both', branch: index}], index, visit: 1, ...more});
	const both = aFrame('Both', {visit: 1, phase: {type: 'children', total: 4, concurrency: 4, tolerated: null, input: null}});
	const run = aRun('one', {revisionName: 'both-1'});
	const at = (...frames: readonly Frame[]) => ({objects, frames: [both, ...frames]});
	const pause = branch(0, 'Pause', {phase: {type: 'waiting', untilMs: nowMs + 60_000, output: {}}});
	const waits = why(run, at(pause));
	t.deepEqual(
		[waits.answer, waits.says, waits.atMs],
		['Run one waits for a time: Pause is a Wait.', 'it goes on behind Pause', nowMs + 60_000],
	);
	t.is(why(run, at(branch(2, 'Build'))).answer, 'Run one waits for a job: Build calls a Job.');
	t.is(why(run, at(branch(3, 'Post'))).answer, 'Run one waits for a task: Post calls api.example.com.');
	t.is(why(run, at()).answer, 'Run one is under way: its next state is about to begin.');
	t.is(why(run, at(branch(0, 'Pause', {phase: {type: 'entered'}}))).answer, 'Run one is under way: it enters Pause.');
	const inner = aRun('two', {phase: 'Suspended'}, {suspend: true});
	const owned = {
		...inner,
		metadata: {
			...inner.metadata,
			annotations: {'troupe.dev/task-key': 'u-one/1-Both.1.1/1-Sub.1'},
			ownerReferences: [{apiVersion: 'troupe.dev/v1', kind: 'Run', name: 'one', uid: 'u-one', controller: true}],
		},
	};
	const frames = [both, pause, branch(1, 'Sub')];
	const found = why(run, {objects: [...objects, owned], frames});
	t.is(found.answer, 'Run one waits for another run: Sub calls workflow order, and run/two is suspended; 1 more state of it is under way.');
	t.deepEqual(found.chain, ['run/one', 'state Sub', 'run/two']);
	t.is(found.says, 'it goes on when spec.suspend is false: troupe workflow resume run/two');
});

test('why of a workflow counts its runs', t => {
	const [order, ...others] = workflows;
	if (order === undefined) return t.fail();
	const runs = [aRun('a'), aRun('b', {phase: 'Failed'}), aRun('c')];
	t.is(why(order, {objects: [...others, ...runs]}).answer, 'Nothing is wrong with Workflow order: of its 3 runs 2 under way and 1 failed.');
	t.is(why(order, {objects: others}).answer, 'Nothing is wrong with Workflow order: it has no run; troupe workflow start order makes one.');
	t.is(why({...order, status: {}}, {objects: others}).answer, 'Workflow order has no revision yet: its definition is being kept.');
});

test('the door reads the history of a run when its cause is in it', async t => {
	const {json, cluster} = await openDoor(t);
	for (const object of workflows) cluster.put(object);
	const key = objectKey('runs', 'default', 'one');
	cluster.put(aRun('one', {steps: 1}));
	cluster.control.index.parts.apply(key, partsOf([aFrame('Charge', {attempt: 2, phase: {type: 'retrying', untilMs: nowMs}})]));
	cluster.histories.set(key, [
		...records([{type: 'retried', state: 'Charge', frame: '', retrier: 0, error: {Error: 'Busy', Cause: ''}, delayMs: 1}]),
	]);
	const {answer} = await json<{answer: string}>(200, 'GET', '/troupe/v1/why/runs/default/one');
	t.is(answer, 'Run one waits to try again: attempt 1 of Charge failed with Busy.');
});
