// A Run goes through its workflow: its record holds the machine (actors/workflows), a state under way is a child of it (run-node.ts).
//
// A step is committed, as frames beside the object, before what it asks for is done. What is under way follows from the frames alone: a record that
// begins again begins its states again, and they call with the keys that they had.

import {historyIn, type Run, type RunPhase, type RunStatus} from '../../../api/kinds/run.js';
import type {Workflow} from '../../../api/kinds/workflow.js';
import {failed, failure, type Failure, type Outcome} from '../../../api/errors.js';
import {conditionOf} from '../../../api/conditions.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Condition, Draft, Json} from '../../../api/object.js';
import {itemsOf, membersOf, textOf} from '../../../api/rules/report.js';
import {jsonBytes, recordBytes} from '../../../api/states-language/data-bounds.js';
import {stateNamed, type Definition} from '../../../api/states-language/definition.js';
import {failed as stateFailed, type StateError} from '../../../api/states-language/errors.js';
import type {Tools} from '../../../api/states-language/tools.js';
import {parseTaskResource, type TaskResource} from '../../../api/task-resource.js';
import {triggerLabel} from '../../../api/triggered-run.js';
import type {Known} from '../../../system/index/object-index.js';
import {reply, tell, type Context, type Effect, type Message} from '../../../system/kernel/behavior.js';
import type {Beside} from '../../../system/index/parts.js';
import {statesTools} from '../../../system/time/states-tools.js';
import {machineOf} from '../../workflows/draft.js';
import {frameOfKey, keyOf, nodeNameOf, parseTimer, runTimerOf} from '../../workflows/keys.js';
import {isWaitedFor} from '../../workflows/moves.js';
import type {Frame, RunCommand, RunEnding, RunEvent, RunNews, RunView, Step, StepMeans} from '../../workflows/run.js';
import {beginRun, runTimer} from '../../workflows/step.js';
import {pinTerms} from '../functions/run-pins.js';
import {withCondition, withoutCondition} from '../objects/conditions.js';
import {controller, type Handled, type Reconciliation} from '../objects/controller.js';
import {normal, warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {ownerReferenceTo} from '../objects/owners.js';
import {stepsTogether} from './events-together.js';
import {definitionOf, definitionOfRevision} from './run-definition.js';
import {familyTerms} from './run-family.js';
import {withFunctions} from './run-functions.js';
import type {
	BeginRun,
	CarryOut,
	DropParts,
	FailRun,
	RunEventTold,
	RunEventsLeft,
	RunEventsTold,
	StopTask,
	TaskAnswered,
	ToldEvent,
} from './run-message.js';
import {goOn, runNode, type RunNodeInput} from './run-node.js';
import {atIn, frameIn, framesOf, headOf, partsOfAt, partsOfStep, runKeyOf, secretIn, secretOf, viewOf} from './run-parts.js';
import {isWaitedForNoMore, isWaitedForYet, openTasksOf} from './task-objects.js';
import {keyOfToken, taskToken} from './task-token.js';

type RunMessage = BeginRun | DropParts | FailRun | RunEventTold | RunEventsTold | TaskAnswered | (Message & {readonly type: 'stopped'});

export const runController = controller<Run, RunMessage>({
	plural: 'runs',
	terms: run => [
		...(isWaiting(run) ? [waitsFor(run.metadata.namespace, run.spec?.workflow)] : []),
		...(run.status?.revisionName === undefined ? [] : [pinsTerm(run.metadata.namespace, run.status.revisionName)]),
		...pinTerms(run),
		...(isOver(run) ? [] : underWayTerms(run)),
		...familyTerms(run, isOver(run)),
	],
	watches: {
		workflows: ({after}, known) =>
			after === undefined ? [] : known.byTerm('runs', waitsFor(after.metadata.namespace, after.metadata.name)),
		runs: ({before, after}, known) => endedWith(before as Run | undefined, after as Run | undefined, known),
	},
	prepare: (draft, known) => oneTooMany(draft, known) ?? withoutRevision(draft, known) ?? {ok: true, value: withOwner(draft, known)},
	reconcile,
	receive,
});

/**
 * Of one workflow so many are under way. Those that are being committed are not counted yet, so some that are made at the same moment may come to
 * be more.
 */
function oneTooMany({metadata, spec}: Draft, known: Known): Outcome<Draft> | undefined {
	const [namespace, name] = [textOf(metadata.namespace) ?? '', textOf(membersOf(spec)['workflow']) ?? ''];
	if (known.countByTerm('runs', underWayTerm(namespace, name)) < limits.workflowRunsUnderWay) return undefined;
	const message = `${limits.workflowRunsUnderWay} runs of the workflow "${name}" are under way, as many as may; try again when one has ended`;
	return failed('ERR_BUSY', {message});
}

/** What would begin by no definition, as long as that of its workflow is refused, is not made to wait for it. */
function withoutRevision({metadata, spec}: Draft, known: Known): Outcome<Draft> | undefined {
	const workflow = known.get(objectKey('workflows', textOf(metadata.namespace), textOf(membersOf(spec)['workflow']) ?? ''));
	const why = workflow === undefined ? undefined : notKept(workflow as Workflow);
	return why === undefined ? undefined : failed('ERR_BUSY', {message: `${why}; try again when it is`});
}

/** Why the present definition is not to be had; undefined: it is, or nobody has refused it. */
function notKept({metadata, status}: Workflow): string | undefined {
	const ready = conditionOf(status?.conditions, 'Ready');
	if (status?.revisionName !== undefined || ready?.reason !== 'FailedCreate') return undefined;
	return `the definition of the workflow "${metadata.name}" cannot be kept as a revision: ${ready.message ?? ''}`;
}

/** Its workflow owns it, unless something else does, or there is none yet. */
function withOwner(draft: Draft, known: Known): Draft {
	const {metadata} = draft;
	const name = textOf(membersOf(draft.spec)['workflow']) ?? '';
	const workflow = known.get(objectKey('workflows', textOf(metadata.namespace), name));
	if (workflow === undefined || itemsOf(metadata.ownerReferences).length > 0) return draft;
	return {...draft, metadata: {...metadata, ownerReferences: [ownerReferenceTo(workflow)]}};
}

const waitsFor = (namespace: string | undefined, workflow: string | undefined): string => `waits=${namespace ?? ''}/${workflow ?? ''}`;

/** Runs of a workflow that are not over; those of them that one trigger of it has started. */
export const underWayTerm = (namespace: string, workflow: string, trigger?: string): string =>
	`underWay=${namespace}/${workflow}${trigger === undefined ? '' : `/${trigger}`}`;

function underWayTerms({metadata, spec}: Run): readonly string[] {
	const [namespace, workflow, trigger] = [metadata.namespace ?? '', spec?.workflow ?? '', metadata.labels?.[triggerLabel]];
	return [underWayTerm(namespace, workflow), ...(trigger === undefined ? [] : [underWayTerm(namespace, workflow, trigger)])];
}

/** Runs that began with a revision. */
export const pinsTerm = (namespace: string | undefined, revisionName: string): string => `pins=${namespace ?? ''}/${revisionName}`;

const phaseOf = ({status}: Run): RunPhase => status?.phase ?? 'Pending';

/** It has not begun. */
const isWaiting = (run: Run): boolean => run.status?.startTime === undefined && !isOver(run);

export const isOver = (run: Run): boolean => ['Succeeded', 'Failed', 'Cancelled'].includes(phaseOf(run));

/** A run ends once: what its tasks have made looks at it then. */
const endedWith = (before: Run | undefined, after: Run | undefined, known: Known): Iterable<ApiObject> =>
	before !== undefined && after !== undefined && isOver(after) && !isOver(before) ? openTasksOf(after, known) : [];

// ---- what follows from what it is ------------------------------------------------------------------------------------------------

function reconcile(run: Run, context: Context): Reconciliation<RunStatus> {
	if (run.spec === undefined) return {effects: []};
	if (isDeleting(run)) return deleting(run, context);
	if (isOver(run)) return afterEnd(run, context);
	if (run.spec.cancel === true) return cancelled(run, 'spec.cancel is true', context);
	if (isWaitedForNoMore(run, context.known)) return cancelled(run, 'the run that it was a task of has gone on without it', context);
	if (isWaiting(run)) return waiting(run, context);
	return underWay(run, context);
}

/** It waits for a finalizer or its dependents, and begins nothing meanwhile. */
const deleting = (run: Run, context: Context): Reconciliation<RunStatus> => ({
	effects: isOver(run) || isWaiting(run) ? [] : [tellEvent(context, {type: 'cancelled', cause: 'it is being deleted'})],
});

/** One that can begin does so at once: it is not written before, only to say that it could. */
function waiting(run: Run, context: Context): Reconciliation<RunStatus> {
	const {spec, status} = run;
	const isSuspended = spec?.suspend === true;
	const found = readiness(run, context);
	if (found.status === 'True' && !isSuspended) return {effects: [tell(context.self, {type: 'beginRun'} satisfies BeginRun)]};
	return {
		status: {
			...status,
			phase: isSuspended ? 'Suspended' : 'Pending',
			conditions: withCondition(status?.conditions, found, context.nowMs),
		},
		effects: [],
	};
}

const workflowReady = 'WorkflowReady';

function readiness(run: Run, context: Context): Omit<Condition, 'lastTransitionTime'> {
	const {metadata, spec} = run;
	const workflow = workflowOf(run, context);
	const no = (reason: string, message: string) => ({type: workflowReady, status: 'False', reason, message}) as const;
	if (workflow === undefined) return no('NotFound', `there is no workflow "${spec?.workflow ?? ''}" in ${metadata.namespace ?? ''}`);
	const {revisionName, observedGeneration} = workflow.status ?? {};
	if (revisionName === undefined || observedGeneration !== workflow.metadata.generation)
		return no('NoRevision', notKept(workflow) ?? 'its definition is being kept as a revision');
	return {type: workflowReady, status: 'True', reason: 'HasRevision', message: ''};
}

const workflowOf = ({metadata, spec}: Run, {known}: Context): Workflow | undefined =>
	known.get(objectKey('workflows', metadata.namespace, spec?.workflow ?? '')) as Workflow | undefined;

function cancelled(run: Run, cause: string, context: Context): Reconciliation<RunStatus> {
	if (isWaiting(run))
		return {status: {...run.status, phase: 'Cancelled', completionTime: timeText(context.nowMs)}, effects: [wake(context)]};
	return {effects: [tellEvent(context, {type: 'cancelled', cause})]};
}

const wake = ({self}: Context): Effect => tell(self, {type: 'wake'});

const tellEvent = ({self}: Context, event: RunEvent): Effect => tell(self, {type: 'runEvent', event} satisfies RunEventTold);

/** Its states live, unless the record has begun again: then all that is under way begins again. */
function underWay(run: Run, context: Context): Reconciliation<RunStatus> {
	const isSuspended = run.spec?.suspend === true;
	const isOtherwise = isSuspended !== (phaseOf(run) === 'Suspended');
	const status: RunStatus = isOtherwise ? {...run.status, phase: isSuspended ? 'Suspended' : 'Running'} : (run.status ?? {});
	if (context.children.length > 0) {
		const effects = isOtherwise && !isSuspended ? context.children.map(name => goOn(`${context.self}/${name}`)) : [];
		return {status, effects};
	}
	const definition = definitionOf(context.known, run);
	// It is over at its next step, which says why.
	if (typeof definition === 'string') return {status, effects: [tellEvent(context, {type: 'continued', frame: ''})]};
	const alive = framesOf(runKeyOf(run), context.known).filter(frame => isLive(frame) && isWaitedFor(viewOf(run, context.known), frame));
	return {status, effects: [...alive.map(frame => spawned(run, frame)), ...timersOf(run, definition)]};
}

const isLive = ({phase}: Frame): boolean => phase.type !== 'ended';

/** The time that the run may take as a whole. */
const timersOf = (run: Run, definition: Definition): readonly Effect[] => runTimer(definition, headOf(run)).map(timerEffect);

const timerEffect = ({timer, atMs}: Extract<RunCommand, {type: 'startTimer'}>): Effect => ({
	type: 'wakeAt',
	name: timer,
	atMs,
	message: {type: 'runEvent', event: {type: 'timerFired', timer}} as RunEventTold,
});

function spawned(run: Run, frame: Frame): Effect {
	const input: RunNodeInput = {run: runKeyOf(run), frame: frame.id};
	return {type: 'spawn', name: nodeNameOf(frame), behavior: runNode.kind, input, restart: 'permanent'};
}

/** By then every record was woken, whatever chance makes of the pauses. */
const soonResyncs = 4;

/** What it has left behind goes, and it goes itself when its time is over. */
function afterEnd(run: Run, context: Context): Reconciliation<RunStatus> {
	const {known, nowMs, pending, children} = context;
	const {uid, namespace, name} = run.metadata;
	const seconds = run.spec?.ttlSecondsAfterFinished ?? workflowOf(run, context)?.spec?.ttlSecondsAfterFinished ?? limits.runTtlSeconds;
	const dueMs = Date.parse(run.status?.completionTime ?? '') + seconds * 1_000;
	const stopped = children.map((child): Effect => ({type: 'stopChild', name: child}));
	// Of very many parts a part stays where the process ends soon after: it is found again by the next one.
	const left = known.partsOf(runKeyOf(run)).size > 0 ? [tell(context.self, {type: 'dropParts'} satisfies DropParts)] : [];
	if (!(dueMs <= nowMs)) {
		// There may be very many: until it is soon no timer waits for it, and the record is woken now and then anyway.
		const isSoon = dueMs - nowMs <= soonResyncs * limits.resyncMs;
		return {effects: [...stopped, ...left], ...(isSoon ? {wakeAtMs: dueMs} : {})};
	}
	// The run that it is a task of has yet to read how it ended.
	if (isWaitedForYet(run, known)) return {effects: [...stopped, ...left], wakeAtMs: nowMs + limits.runAgainMs};
	const id = `delete/${uid}`;
	return {effects: pending.has(id) ? [] : [{type: 'delete', key: objectKey('runs', namespace, name), uid, id}]};
}

// ---- its steps ---------------------------------------------------------------------------------------------------------------

function receive(run: Run, message: RunMessage, context: Context): Handled<Run> | undefined {
	switch (message.type) {
		case 'beginRun':
			return begun(run, context);
		case 'runEvent':
			return stepped(run, message.event, context);
		case 'runEvents':
			return steppedTogether(run, message.told, context);
		case 'dropParts':
			return isOver(run) && context.known.partsOf(runKeyOf(run)).size > 0
				? {...unchanged(run), beside: {parts: allGone(run, context.known)}}
				: unchanged(run);
		case 'failRun':
			return isOver(run) ? unchanged(run) : ended(run, message.error, context);
		case 'taskAnswered':
			return answered(run, message, context);
		case 'stopped':
			return unchanged(run);
		default:
			return undefined;
	}
}

const unchanged = (run: Run) => ({ok: true, object: run}) as const;

const toolsOf = ({random}: Context): Tools => statesTools(random);

/** The secret is read where a token is made: a record of that step alone has to leave something out. */
const meansOf = (context: Context, secret: () => string): StepMeans => {
	const tools = toolsOf(context);
	return {nowMs: context.nowMs, tools, tokenOf: key => taskToken(key, secret(), tools)};
};

/** With the revision that its workflow has now, and the versions that its functions have. */
function begun(run: Run, context: Context): Handled<Run> {
	const workflow = workflowOf(run, context);
	const revisionName = workflow?.status?.revisionName;
	const mayBegin = readiness(run, context).status === 'True' && isWaiting(run) && run.spec?.suspend !== true && !isDeleting(run);
	if (workflow === undefined || revisionName === undefined || !mayBegin) return unchanged(run);
	const startTime = timeText(context.nowMs);
	const owners = run.metadata.ownerReferences ?? [];
	const metadata = owners.length > 0 ? run.metadata : {...run.metadata, ownerReferences: [ownerReferenceTo(workflow)]};
	const started: Run = {...run, metadata, status: {...begunFrom(run), phase: 'Running', startTime, revisionName, steps: 0, at: []}};
	const definition = beginning(context, started);
	if (typeof definition === 'string') return ended(started, stateFailed('States.Runtime', definition).error, context);
	const secret = context.random.uuid();
	const step = beginRun(
		definition,
		headOf(started),
		meansOf(context, () => secret),
	);
	const handled = handledStep(withFunctions(started, definition, context), step, context);
	// One that has come to its end at once gives no tokens away.
	if (!handled.ok || isOver(handled.object)) return handled;
	const parts = new Map(handled.beside?.parts).set(...secretOf(secret));
	return {...handled, beside: {...handled.beside, parts}, effects: [...(handled.effects ?? []), ...timersOf(started, definition)]};
}

/** It does not say any more why it has waited. */
function begunFrom({status = {}}: Run): RunStatus {
	const {conditions: before, ...rest} = status;
	const conditions = withoutCondition(before, workflowReady) ?? [];
	return conditions.length === 0 ? rest : {...rest, conditions};
}

function beginning({known}: Context, run: Run): Definition | string {
	const definition = definitionOfRevision(known, run.metadata.namespace, run.status?.revisionName ?? '');
	const startAt = run.spec?.startAt;
	if (typeof definition === 'string' || startAt === undefined) return definition;
	if (stateNamed(definition, startAt) === undefined) return `there is no state "${startAt}" in the outermost machine of its workflow`;
	return {...definition, StartAt: startAt};
}

function stepped(run: Run, event: RunEvent, context: Context): Handled<Run> {
	return steppedTogether(run, [{event, replyTo: undefined}], context);
}

/** As many of the events as one transaction takes; the others are told again. */
function steppedTogether(run: Run, told: readonly ToldEvent[], context: Context): Handled<Run> {
	if (isOver(run) || isWaiting(run)) return {...unchanged(run), effects: answersTo(told)};
	const definition = definitionOf(context.known, run);
	if (typeof definition === 'string') return ended(run, stateFailed('States.Runtime', definition).error, context);
	const held = run.spec?.suspend === true ? told.filter(isContinued) : [];
	if (held.length > 0) return heldBack(run, told, held, context);
	const secret = (): string => secretIn(context.known, runKeyOf(run)) ?? '';
	const events = told.map(({event}) => event);
	const taken = stepsTogether(definition, viewOf(run, context.known), events, meansOf(context, secret));
	const handled = handledStep(run, taken.step, context);
	if (!handled.ok) return handled;
	const later = toldLater(run, told.slice(taken.events), context);
	return {...handled, effects: [...(handled.effects ?? []), ...answersTo(told.slice(0, taken.events)), ...later]};
}

/** Whoever has told them tells them again, and hears what comes of it. Where it is gone, so is all that waits inside it. */
function toldLater(run: Run, told: readonly ToldEvent[], {self, known, hasChild}: Context): readonly Effect[] {
	const outermost = frameIn(known, runKeyOf(run), '');
	if (told.length === 0 || outermost === undefined) return [];
	const name = nodeNameOf(outermost);
	return hasChild(name) ? [tell(`${self}/${name}`, {type: 'runEventsLeft', told} satisfies RunEventsLeft)] : answersTo(told);
}

const isContinued = ({event}: ToldEvent): boolean => event.type === 'continued';

/**
 * While it is suspended no state begins. That its phase says so is committed with it: so whoever was held back is told to go on when it is
 * suspended no more, however soon that is.
 */
function heldBack(run: Run, told: readonly ToldEvent[], held: readonly ToldEvent[], context: Context): Handled<Run> {
	const object: Run = phaseOf(run) === 'Suspended' ? run : {...run, status: {...run.status, phase: 'Suspended'}};
	const rest = told.filter(each => !isContinued(each));
	return {ok: true, object, effects: [...answersTo(held), ...toldLater(run, rest, context)]};
}

const answersTo = (told: readonly ToldEvent[]): readonly Effect[] => told.flatMap(({replyTo}) => reply(replyTo, {ok: true, value: null}));

/** It cannot go on: there is no step any more that could say so. */
function ended(run: Run, error: StateError, context: Context): Handled<Run> {
	const ending: RunEnding = {status: 'failed', atMs: context.nowMs, error};
	const head = headOf(run);
	const stops = framesOf(runKeyOf(run), context.known).flatMap((frame): RunCommand[] =>
		frame.phase.type === 'task' ? [{type: 'stopTask', key: keyOf(head, frame)}] : [],
	);
	return handledStep(run, {head: {...head, ending}, ...nothing, commands: [...stops, {type: 'endRun', ending}]}, context);
}

const nothing: Pick<Step, 'frames' | 'tallies' | 'news'> = {frames: new Map(), tallies: new Map(), news: []};

/** A step of the machine as a change of the object, of what is beside it, and as what follows once that is committed. */
function handledStep(run: Run, step: Step, context: Context): Handled<Run> {
	const {frames, tallies, head} = step;
	if (frames.size === 0 && tallies.size === 0 && head === undefined)
		return {ok: true, object: run, effects: commandEffects(run, step, context)};
	const view = viewOf(run, context.known);
	const ending = endingOf(head);
	const {records, bytes} = historyIn(run);
	const isFull = ending === null && (records >= limits.runHistoryRecords || bytes >= limits.runHistoryBytes);
	const told = historyOf(step, view, ending, context.nowMs);
	const history = isFull ? undefined : told;
	// Nothing is under way at its end, whatever thousands of frames were.
	const at = ending === null ? atAfter(atIn(run, context.known), view, frames) : [];
	const beside: Beside = {
		parts: ending === null ? new Map([...partsOfStep(step), ...partsOfAt(run, at, context.known)]) : allGone(run, context.known),
		...(history === undefined ? {} : {history}),
	};
	const status: RunStatus = {
		...run.status,
		steps: (run.status?.steps ?? 0) + (told === undefined ? 0 : 1),
		history: history === undefined ? {records, bytes} : {records: records + 1, bytes: bytes + recordBytes(history)},
		at: at.slice(0, limits.runAtStates),
		...statusOfEnding(ending),
	};
	// It is status alone, and wakes nobody by itself.
	const event = ending === null ? [] : [eventOfEnding(ending), wake(context)];
	return {
		ok: true,
		object: {...run, status},
		beside,
		effects: [...childEffects(run, view, step, context), ...commandEffects(run, step, context), ...event],
	};
}

/** Also what was left by steps before a crash. */
const allGone = (run: Run, known: Known): ReadonlyMap<string, undefined> =>
	new Map([...known.partsOf(runKeyOf(run)).keys()].map(name => [name, undefined]));

/** That of a step; null: the run goes on. */
const endingOf = (head: Step['head']): RunEnding | null => head?.ending ?? null;

function statusOfEnding(ending: RunEnding | null): RunStatus {
	if (ending === null) return {};
	const completionTime = timeText(ending.atMs);
	switch (ending.status) {
		case 'succeeded':
			return {phase: 'Succeeded', completionTime, output: ending.output};
		case 'failed':
			return {phase: 'Failed', completionTime, error: {error: ending.error.Error, cause: ending.error.Cause}};
		case 'cancelled':
			return {phase: 'Cancelled', completionTime};
	}
}

function eventOfEnding(ending: RunEnding): Effect {
	switch (ending.status) {
		case 'succeeded':
			return normal('Succeeded', 'The run has come to its end.');
		case 'failed':
			return warning('Failed', `${ending.error.Error}: ${ending.error.Cause}`.slice(0, limits.functionComplaintCharacters));
		case 'cancelled':
			return normal('Cancelled', ending.cause);
	}
}

/** How many states of each name are under way: counted on from what changes. */
function atAfter(before: NonNullable<RunStatus['at']>, view: RunView, frames: Step['frames']): NonNullable<RunStatus['at']> {
	const counts = new Map(before.map(({state, count}) => [state, count]));
	const add = (frame: Frame | null | undefined, by: 1 | -1): void => {
		if (frame !== null && frame !== undefined && isLive(frame)) counts.set(frame.state, (counts.get(frame.state) ?? 0) + by);
	};
	for (const [id, frame] of frames) {
		add(view.frame(id), -1);
		add(frame, 1);
	}
	return [...counts]
		.filter(([, count]) => count > 0)
		.map(([state, count]) => ({state, count}))
		.sort((a, b) => (a.state < b.state ? -1 : 1));
}

/** What people read of a step. Undefined: nothing worth telling. */
function historyOf({news}: Step, view: RunView, ending: RunEnding | null, atMs: number): Json | undefined {
	if (ending === null) return news.length === 0 ? undefined : {atMs, news: news.map(bounded) as unknown as Json};
	const last = ending.status === 'succeeded' ? undefined : lastEntered(news, view);
	return {
		atMs,
		news: news.map(each => bounded(withoutOutput(each, ending))) as unknown as Json,
		ending: ending as unknown as Json,
		...(last === undefined ? {} : {last}),
	};
}

/** Where a further run can begin again, without what has happened before. */
function lastEntered(news: readonly RunNews[], view: RunView): {readonly state: string; readonly input: Json} | undefined {
	const entered = news.findLast(each => each.type === 'entered' && each.frame === '');
	const {state, input} = (entered?.type === 'entered' ? entered : view.frame('')) ?? {};
	return state === undefined || input === undefined ? undefined : {state, input};
}

/** The ending has it: twice it would be too much for one transaction. */
function withoutOutput(news: RunNews, {status}: RunEnding): RunNews {
	if (news.type !== 'left' || news.frame !== '' || status !== 'succeeded') return news;
	const {output: _output, ...rest} = news;
	return rest;
}

/** Of thousands of items not all is kept. */
function bounded(news: RunNews): RunNews {
	if (news.frame === '') return news;
	if (news.type === 'entered') return {...news, input: boundedData(news.input)};
	return news.type === 'left' && news.output !== undefined ? {...news, output: boundedData(news.output)} : news;
}

function boundedData(data: Json): Json {
	const bytes = jsonBytes(data);
	return bytes <= limits.runHistoryInputBytes ? data : {omittedBytes: bytes};
}

// ---- what follows from a step ---------------------------------------------------------------------------------------------------

function childEffects(run: Run, view: RunView, {frames, head}: Step, {children}: Context): readonly Effect[] {
	if (endingOf(head) !== null)
		return [...children.map((name): Effect => ({type: 'stopChild', name})), {type: 'cancelWake', name: runTimerOf(headOf(run))}];
	const stops: Effect[] = [];
	const spawns: Effect[] = [];
	for (const [id, frame] of frames) {
		const before = view.frame(id);
		const was = before === undefined || !isLive(before) ? undefined : nodeNameOf(before);
		const is = frame === null || !isLive(frame) ? undefined : nodeNameOf(frame);
		if (was === is) continue;
		if (was !== undefined) stops.push({type: 'stopChild', name: was});
		if (frame !== null && is !== undefined) spawns.push(spawned(run, frame));
	}
	return [...stops, ...spawns];
}

/** To the states that the commands are for, as far as they have lived before: those that begin find all of it in their frames. */
function commandEffects(run: Run, {commands, frames, head}: Step, context: Context): readonly Effect[] {
	const view = viewOf(run, context.known);
	const told = new Map<string, RunCommand[]>();
	const effects: Effect[] = [];
	for (const command of commands) {
		if (command.type === 'stopTask') effects.push(stopping(command.key));
		if (endingOf(head) !== null) continue;
		if (command.type === 'startTimer' && command.timer === runTimerOf(headOf(run))) effects.push(timerEffect(command));
		const id = frameIdOf(run, command);
		const frame = id === undefined ? undefined : (frames.get(id) ?? (frames.has(id) ? undefined : view.frame(id)));
		if (frame === undefined || frame === null) continue;
		const name = nodeNameOf(frame);
		if (context.hasChild(name)) told.set(name, [...(told.get(name) ?? []), command]);
	}
	for (const [name, list] of told) effects.push(tell(`${context.self}/${name}`, {type: 'carryOut', commands: list} satisfies CarryOut));
	return effects;
}

function frameIdOf(run: Run, command: RunCommand): string | undefined {
	const head = {id: run.metadata.uid};
	switch (command.type) {
		case 'continue':
			return command.frame;
		case 'callTask':
		case 'stopTask':
			return frameOfKey(head, command.key);
		case 'startTimer': {
			const parsed = parseTimer(command.timer);
			return parsed === undefined ? undefined : frameOfKey(head, parsed.key);
		}
		case 'endRun':
			return undefined;
	}
}

function stopping(key: string): Effect {
	const command: StopTask = {type: 'stopTask', key};
	return {type: 'perform', command, key: `stop ${key}`, as: 'stopped'};
}

// ---- answers from outside --------------------------------------------------------------------------------------------------------

function answered(run: Run, {task, outcome}: TaskAnswered, context: Context): Handled<Run> {
	const key = isOver(run) || isWaiting(run) ? none(run, 'it is not under way') : keyOfTask(run, task, context);
	if (typeof key !== 'string') return {ok: false, error: key};
	switch (outcome.type) {
		case 'succeeded':
			return stepped(run, {type: 'taskSucceeded', key, output: outcome.output}, context);
		case 'failed':
			return stepped(run, {type: 'taskFailed', key, error: outcome.error}, context);
		case 'heartbeat':
			return stepped(run, {type: 'taskHeartbeat', key}, context);
	}
}

const none = ({metadata}: Run, message: string): Failure =>
	failure('ERR_CONFLICT', {resource: 'runs.troupe.dev', name: metadata.name, message});

function keyOfTask(run: Run, task: TaskAnswered['task'], context: Context): string | Failure {
	if ('state' in task) {
		const waiting = waitingTasks(run, context);
		const [first, ...more] = waiting.filter(({state}) => state === task.state);
		if (first === undefined) return none(run, notWaiting(`no state "${task.state}" of it waits for an answer`, waiting));
		if (more.length === 0) return first.key;
		return none(run, `${more.length + 1} states "${task.state}" wait; name one by its key, such as ${first.key}`);
	}
	const secret = secretIn(context.known, runKeyOf(run)) ?? '';
	const key = 'key' in task ? task.key : keyOfToken(task.token, secret, toolsOf(context));
	return key !== undefined && waits(run, key, context) ? key : none(run, 'that task of it does not wait, or not any more');
}

/** Of ten thousand tasks only the one is looked at. */
function waits(run: Run, key: string, {known}: Context): boolean {
	const definition = definitionOf(known, run);
	const view = viewOf(run, known);
	const frame = view.frame(frameOfKey(view.head, key) ?? 'none');
	return typeof definition !== 'string' && frame !== undefined && waitingTask(definition, view, frame)?.key === key;
}

const notWaiting = (message: string, waiting: readonly WaitingTask[]): string =>
	waiting.length === 0 ? message : `${message}; ${[...new Set(waiting.map(({state}) => state))].slice(0, 10).join(', ')} does`;

export type WaitingTask = {readonly key: string; readonly state: string};

/** The tasks of a run that are over only when somebody answers. */
export function waitingTasks(run: Run, {known}: Pick<Context, 'known'>): readonly WaitingTask[] {
	const definition = definitionOf(known, run);
	if (typeof definition === 'string') return [];
	const view = viewOf(run, known);
	return framesOf(runKeyOf(run), known).flatMap(frame => waitingTask(definition, view, frame) ?? []);
}

function waitingTask(definition: Definition, view: RunView, frame: Frame): WaitingTask | undefined {
	if (frame.phase.type !== 'task' || !isWaitedFor(view, frame)) return undefined;
	const state = stateNamed(machineOf(definition, frame), frame.state);
	const resource = state?.Type === 'Task' ? parseTaskResource(state.Resource) : undefined;
	return resource?.ok === true && isAnswered(resource.value) ? {key: keyOf(view.head, frame), state: frame.state} : undefined;
}

/** By somebody, whatever is called before. */
const isAnswered = (resource: TaskResource): boolean =>
	resource.type === 'activity' || (resource.type === 'function' && resource.waitsForToken);

const timeText = (ms: number): string => new Date(ms).toISOString();
