// The record of one API object: its only writer, whatever its kind.
//
// A write is committed first and answered; what follows from it (`reconcile`) is a step of its own, set going by the wake that
// the commit causes. So a bug in a kind never refuses or loses a write. A wake carries nothing: the record compares what is in
// the index with what should be, and one that finds nothing to do writes nothing.

import {admitCreate} from '../../../api/admission.js';
import {kindByPlural} from '../../../api/catalogue.js';
import {keepReference} from '../../../api/equal.js';
import {failure, type Failure} from '../../../api/errors.js';
import {collectionAddress, objectKey, type ObjectKey} from '../../../api/keys.js';
import type {KindDefinition} from '../../../api/kind.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Condition, Draft, Labels} from '../../../api/object.js';
import {
	next,
	reply,
	replySelf,
	stop,
	tell,
	type Behavior,
	type Context,
	type Effect,
	type Message,
	type Next,
	type Reply,
	type ReplyTo,
} from '../../../system/kernel/behavior.js';
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import {aboutObject} from './about-object.js';
import type {AllotChange, AllottedChange} from './allotment.js';
import {withCondition, withoutCondition} from './conditions.js';
import {noFailures, type Controller, type Failures} from './controller.js';
import {deleted, settled, type DeletionRequest} from './deletion.js';
import {normal, warning} from './event.js';
import {condemnation, inheritedPropagation, isDeleting, withoutLeavingOwners} from './garbage.js';
import {
	admitted,
	guardedRefusal,
	keptStatus,
	newObject,
	patched,
	updatedMetadata,
	violatedPrecondition,
	withStatusOf,
} from './object-change.js';
import type {CreateObject, DeleteObject, PatchObject, ReplaceObject} from './object-message.js';
import {mayFit, quotaRefusalIn, type QuotaRefusal} from './quota-wait.js';
import {troubleOf} from './trouble.js';

/** What a collection hands to the record it creates. */
export type RecordInput = Pick<CreateObject, 'object' | 'dryRun' | 'replyTo'>;

export type ObjectMessage =
	/** A second create of this name, which waited for the first. */
	| CreateObject
	| ReplaceObject
	| PatchObject
	| DeleteObject
	| AllottedChange
	| {readonly type: 'wake'}
	/** Time to try again what failed. */
	| {readonly type: 'retry'}
	| Reply<unknown, 'outcome'>;

export type ObjectState = {
	/** As committed, or as this step would have it; undefined once it is removed, and before it is there. */
	readonly object: ApiObject | undefined;
	readonly failures: Failures;
	/** After such a round: until `retry`. */
	readonly rest: Rest | undefined;
};

/** What failed is not asked for again meanwhile. */
export type Rest = {
	readonly from: 'creates' | 'everything';
	/** It ends as soon as this quota is another one or has room. */
	readonly quota: QuotaRefusal | undefined;
};

const objectMessages: ReadonlySet<string> = new Set(['create', 'replace', 'patch', 'delete', 'allotted', 'wake', 'retry', 'outcome']);

const isObjectMessage = (message: Message): message is ObjectMessage => objectMessages.has(message.type);

/** The behaviour of all records of one kind. */
export function objectBehavior(controller: Controller): Behavior<RecordInput, ObjectState, Message> {
	const definition = kindByPlural(controller.plural);
	if (definition === undefined) throw new Error(`the catalogue has no kind with the plural "${controller.plural}"`);
	const kind: RecordKind = {controller, definition};
	return {
		kind: definition.kind,
		init: (input, context) => create(kind, input, context),
		resume: (state, context) => reconcile(kind, state, context),
		receive(state, message, context) {
			const {object} = state;
			if (object === undefined) throw new Error(`"${message.type}" for an object that is not there`);
			return isObjectMessage(message)
				? receiveCommon(kind, state, object, message, context)
				: receiveOwn(kind, state, object, message, context);
		},
		signal: (state, signal, {nowMs}) =>
			signal.type === 'commitFailed' && state.object !== undefined
				? next(state, [retryAt(nowMs + limits.actorBackoffFirstMs)])
				: next(state),
		coalesce: message => (message.type === 'wake' ? 'wake' : undefined),
		persistence: {
			key: ({object}) => keyOfObject(kind, object),
			objectOf: ({object}) => object,
			withObject: (state, object) => ({...state, object}),
			restore: object => ({object, failures: noFailures, rest: undefined}),
		},
		parking: {
			rests: message => message.type === 'wake' || message.type === 'retry',
			meanwhile: (state, context) => meanwhile(kind, state, context),
			forces: (object, message) => isForcedDeletion(kind, object, message),
			park: (state, error, context) => park(state, error, context),
			unpark: (state, context) => unpark(kind, state, context),
		},
		describe: ({object}) => describe(kind, object),
		trouble: ({object, failures}) => troubleIn(object, failures),
	};
}

type RecordKind = {readonly controller: Controller; readonly definition: KindDefinition};

function keyOfObject({definition}: RecordKind, object: ApiObject | undefined): ObjectKey {
	if (object === undefined) throw new Error(`a ${definition.kind} that is not there has no key`);
	return objectKey(definition.plural, object.metadata.namespace, object.metadata.name);
}

function describe({definition}: RecordKind, object: ApiObject | undefined): string {
	if (object === undefined) return 'not committed';
	return isDeleting(object) ? 'being deleted' : (definition.underWay?.(object) ?? `generation ${object.metadata.generation}`);
}

function troubleIn(object: ApiObject | undefined, {rounds}: Failures): string | undefined {
	if (rounds > 0) return `its writes failed ${rounds === 1 ? 'once' : `${rounds} times in a row`}`;
	return object === undefined ? undefined : troubleOf(object);
}

// ---- create ------------------------------------------------------------------------------------------------------------

function create({definition}: RecordKind, {object, dryRun, replyTo}: RecordInput, context: Context): Next<ObjectState> {
	const nothing: ObjectState = {object: undefined, failures: noFailures, rest: undefined};
	const admitted = admitCreate(object);
	if (!admitted.ok) return stop(nothing, reply(replyTo, admitted));
	const made = newObject(definition, admitted.value, context);
	if (dryRun === true) return stop(nothing, reply(replyTo, {ok: true, value: made}));
	return next({...nothing, object: made}, replySelf(replyTo));
}

// ---- writes ------------------------------------------------------------------------------------------------------------

function receiveCommon(
	kind: RecordKind,
	state: ObjectState,
	object: ApiObject,
	message: ObjectMessage,
	context: Context,
): Next<ObjectState> {
	switch (message.type) {
		case 'create':
			return next(state, fail(message.replyTo, failure('ERR_ALREADY_EXISTS', aboutObject(kind.definition, object.metadata.name))));
		case 'replace':
			return write(kind, state, object, message, message.object, context);
		case 'patch':
			return patch(kind, state, object, message, context);
		case 'delete':
			return remove(kind, state, object, message, context);
		case 'allotted':
			// Where the object has changed meanwhile, the change is looked at anew.
			return message.over === object.metadata.resourceVersion
				? changedTo(kind, state, object, message.message, message.object, context)
				: receiveCommon(kind, state, object, message.message, context);
		case 'wake':
			return woken(kind, state, object, context);
		case 'retry':
			return reconcile(kind, {...state, rest: undefined}, context);
		case 'outcome':
			return written(kind, state, object, message, context);
	}
}

function patch(kind: RecordKind, state: ObjectState, object: ApiObject, message: PatchObject, context: Context): Next<ObjectState> {
	const wanted = patched(object, message);
	return wanted.ok ? write(kind, state, object, message, wanted.value, context) : next(state, fail(message.replyTo, wanted.error));
}

function write(
	kind: RecordKind,
	state: ObjectState,
	object: ApiObject,
	message: ReplaceObject | PatchObject,
	wanted: Draft,
	context: Context,
): Next<ObjectState> {
	const refusal = violatedPrecondition(kind.definition, object, wanted.metadata);
	if (refusal !== undefined) return next(state, fail(message.replyTo, refusal));
	const changed = message.subresource === 'status' ? withStatusOf(object, wanted) : admitted(object, wanted);
	if (!changed.ok) return next(state, fail(message.replyTo, changed.error));
	const forbidden = guardedRefusal(kind.definition, object, changed.value, message.guarded);
	if (forbidden !== undefined) return next(state, fail(message.replyTo, forbidden));
	const isDue = message.subresource === undefined && kind.controller.allotment?.isDue(changed.value, object) === true;
	return isDue
		? next(state, [allotting(kind, object, message, changed.value)])
		: changedTo(kind, state, object, message, changed.value, context);
}

/** The collection gives the change what it needs, or refuses it. */
function allotting({definition}: RecordKind, {metadata}: ApiObject, message: AllotChange['message'], changed: ApiObject): Effect {
	const change: AllotChange = {type: 'allot', object: changed, over: metadata.resourceVersion, message, replyTo: message.replyTo};
	return tell(collectionAddress(definition.plural), change);
}

function changedTo(
	kind: RecordKind,
	state: ObjectState,
	object: ApiObject,
	message: ReplaceObject | PatchObject,
	changed: ApiObject,
	context: Context,
): Next<ObjectState> {
	if (message.dryRun === true) return next(state, reply(message.replyTo, {ok: true, value: changed}));
	// A record that rests after failures looks again at once when its spec is another.
	const rested = changed.spec === object.spec ? state : {...state, failures: noFailures, rest: undefined};
	// A status that came from outside may be wrong, and its commit wakes others alone.
	const look = changed.status === object.status ? [] : [tell(context.self, {type: 'wake'})];
	return next({...rested, object: unlessOver(kind, changed, context)}, [...replySelf(message.replyTo), ...look]);
}

/** The object, or undefined when it is being deleted and this change was the last thing it waited for. */
const unlessOver = ({controller}: RecordKind, object: ApiObject, context: Context): ApiObject | undefined =>
	isDeleting(object) ? settled(controller, object, context) : object;

function remove(kind: RecordKind, state: ObjectState, object: ApiObject, message: DeleteObject, context: Context): Next<ObjectState> {
	const refusal = violatedPrecondition(kind.definition, object, preconditionsOf(message));
	if (refusal !== undefined) return next(state, fail(message.replyTo, refusal));
	const forbidden = kind.definition.refuseDeletion?.(object);
	if (forbidden !== undefined) return next(state, fail(message.replyTo, failure('ERR_FORBIDDEN', {message: forbidden})));
	if (message.dryRun === true) return next(state, replySelf(message.replyTo));
	return next({...state, object: deleted(kind.controller, object, message, context)}, replySelf(message.replyTo));
}

const preconditionsOf = ({uid, resourceVersion}: DeleteObject): {readonly uid?: string; readonly resourceVersion?: string} => ({
	...(uid === undefined ? {} : {uid}),
	...(resourceVersion === undefined ? {} : {resourceVersion}),
});

/** A message that only this kind knows: it changes the object or is refused. */
function receiveOwn(
	kind: RecordKind,
	state: ObjectState,
	object: ApiObject,
	message: Message,
	context: Context,
): Next<ObjectState> | undefined {
	const handled = kind.controller.receive?.(object, message, context);
	if (handled === undefined) return undefined;
	if (!handled.ok) return next(state, fail(message.replyTo, handled.error));
	const changed = unlessOver(kind, keptStatus(object, handled.object), context);
	const step = next({...state, object: changed}, [...(handled.effects ?? []), ...replySelf(message.replyTo)]);
	return handled.beside === undefined ? step : {...step, beside: handled.beside};
}

const fail = (to: ReplyTo | undefined, error: Failure): readonly Effect[] => reply(to, {ok: false, error});

// ---- reconcile -----------------------------------------------------------------------------------------------------------

/** A record that rests does what cannot fail again, and hears when the quota that it waits for is another one. */
function woken(kind: RecordKind, state: ObjectState, object: ApiObject, context: Context): Next<ObjectState> {
	const {rest} = state;
	if (rest === undefined) return reconcile(kind, state, context);
	const isOver = rest.quota !== undefined && mayFit(rest.quota, object.metadata.namespace ?? '', context.known);
	if (isOver) return reconcile(kind, {...state, rest: undefined}, context);
	return goesOn(kind.controller, rest) ? reconcile(kind, state, context) : meanwhile(kind, state, context);
}

const goesOn = ({goesOnWithoutCreates}: Controller, {from}: Rest): boolean => from === 'creates' && goesOnWithoutCreates === true;

function reconcile(kind: RecordKind, state: ObjectState, context: Context): Next<ObjectState> {
	const {object} = state;
	if (object === undefined) return next(state);
	if (isDeleting(object)) return continueDeletion(kind, state, object, context);
	const reason = condemnation(object, context.known);
	if (reason !== undefined) return condemn(kind, state, object, reason, context);
	const kept = withKeptOwners(object, context);
	if (kept !== object) return next({...state, object: kept});
	const {status, annotations, effects, wakeAtMs} = kind.controller.reconcile(object, context, state.failures);
	const told = withAnnotations(object, annotations);
	const newStatus = status === undefined ? object.status : keepReference(object.status, status);
	// Where nothing is left to write, nothing fails any more.
	const isDone = context.pending.size === 0 && !effects.some(isWrite);
	const settledState: ObjectState = isDone ? {...state, failures: noFailures, rest: undefined} : state;
	return next({...settledState, object: newStatus === told.status ? told : {...told, status: newStatus}}, [
		...(state.rest === undefined ? effects : effects.filter(({type}) => type !== 'create')),
		// What it says of failures is over, too.
		...(isDone && state.failures.rounds > 0 ? [tell(context.self, {type: 'wake'})] : []),
		...(wakeAtMs === undefined ? [] : [{type: 'wakeAt', name: 'reconcile', atMs: wakeAtMs, message: {type: 'wake'}} as const]),
	]);
}

function withAnnotations(object: ApiObject, said: Labels = {}): ApiObject {
	const {annotations} = object.metadata;
	if (Object.entries(said).every(([name, value]) => annotations?.[name] === value)) return object;
	return {...object, metadata: {...object.metadata, annotations: {...annotations, ...said}}};
}

const isWrite = ({type}: Effect): boolean => type === 'create' || type === 'update' || type === 'delete';

function withKeptOwners(object: ApiObject, {known}: Context): ApiObject {
	const ownerReferences = withoutLeavingOwners(object, known);
	return ownerReferences === object.metadata.ownerReferences
		? object
		: {...object, metadata: updatedMetadata(object.metadata, {...object.metadata, ownerReferences: ownerReferences ?? []}, false)};
}

function condemn(kind: RecordKind, state: ObjectState, object: ApiObject, reason: string, context: Context): Next<ObjectState> {
	const request: DeletionRequest = {propagation: inheritedPropagation(object, context.known)};
	return next({...state, object: deleted(kind.controller, object, request, context)}, [normal('GarbageCollected', reason)]);
}

/** An owner that is being deleted still reconciles: a namespace counts what is left in it. */
function continueDeletion(kind: RecordKind, state: ObjectState, object: ApiObject, context: Context): Next<ObjectState> {
	const rest = settled(kind.controller, object, context);
	if (rest === undefined) return next({...state, object: undefined});
	const {status, effects} = kind.controller.reconcile(rest, context, state.failures);
	const newStatus = status === undefined ? rest.status : keepReference(rest.status, status);
	return next({...state, object: newStatus === rest.status ? rest : {...rest, status: newStatus}}, effects);
}

/** A write of another object came to its end: look again, or rest for a while when it failed. */
function written(
	{controller}: RecordKind,
	state: ObjectState,
	object: ApiObject,
	{id, outcome}: Reply<unknown, 'outcome'>,
	context: Context,
): Next<ObjectState> {
	const news = outcome.ok ? (controller.written?.(object, id, outcome.value) ?? []) : [];
	// Outcomes come in hundreds: what else comes of a round that failed is no other failure, and no reason to go on at once.
	if (state.rest !== undefined) {
		// The look at what was written found the write still open.
		const looks = isDeleting(object) || (outcome.ok && goesOn(controller, state.rest));
		return next(state, looks ? [...news, tell(context.self, {type: 'wake'})] : news);
	}
	// The wake coalesces, so that one look follows them all.
	if (outcome.ok || settlesByItself.has(outcome.error.code))
		return next({...state, failures: outcome.ok ? noFailures : state.failures}, [...news, tell(context.self, {type: 'wake'})]);
	const {message} = outcome.error;
	const failures: Failures = {rounds: state.failures.rounds + 1, last: message};
	const delayMs = exponentialBackoffMs(failures.rounds, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
	const isCreate = id.startsWith('create/');
	const event = isCreate ? warning('FailedCreate', `Error creating: ${message}`) : warning('WriteFailed', message);
	const quota = quotaRefusalIn(outcome.error);
	// A place that became free before this answer came wakes nobody any more.
	const isFree = quota !== undefined && mayFit(quota, object.metadata.namespace ?? '', context.known);
	const atMs = context.nowMs + (isFree ? limits.actorBackoffFirstMs : delayMs);
	return next({object, failures, rest: {from: isCreate ? 'creates' : 'everything', quota}}, [event, retryAt(atMs)]);
}

/** Failures that mean the index has moved on: looking again is all there is to do. */
const settlesByItself: ReadonlySet<string> = new Set([
	'ERR_NOT_FOUND',
	'ERR_NO_SUCH_ACTOR',
	'ERR_CONFLICT',
	'ERR_ALREADY_EXISTS',
	'ERR_ACTOR_STOPPED',
]);

const retryAt = (atMs: number): Effect => ({type: 'wakeAt', name: 'retry', atMs, message: {type: 'retry'}});

// ---- parking -------------------------------------------------------------------------------------------------------------

const actorFailed = 'ActorFailed';

type WithConditions = {readonly conditions?: readonly Condition[]};

/** What every kind does alike goes on while the kind's own part rests: what is being deleted, or has to be, must not wait for it. */
function meanwhile(kind: RecordKind, state: ObjectState, context: Context): Next<ObjectState> {
	const {object} = state;
	if (object === undefined) return next(state);
	if (isDeleting(object)) return next({...state, object: settled(kind.controller, object, context)});
	const reason = condemnation(object, context.known);
	return reason === undefined ? next(state) : condemn(kind, state, object, reason, context);
}

/** Of what cannot be read nothing can be stopped in an orderly way: only a deletion that asks for none removes it. */
function isForcedDeletion({definition}: RecordKind, object: ApiObject, message: Message): boolean {
	if (!isObjectMessage(message) || message.type !== 'delete') return false;
	const {graceSeconds, dryRun} = message;
	return graceSeconds === 0 && dryRun !== true && violatedPrecondition(definition, object, preconditionsOf(message)) === undefined;
}

function park(state: ObjectState, error: Failure, {nowMs}: Context): Next<ObjectState> {
	const {object} = state;
	if (object === undefined) return next(state);
	const status = (object.status ?? {}) as WithConditions;
	const conditions = withCondition(status.conditions, {type: actorFailed, status: 'True', reason: 'Parked', message: error.message}, nowMs);
	const parked = conditions === status.conditions ? object : {...object, status: {...status, conditions}};
	return next({...state, object: parked}, [warning(actorFailed, error.message)]);
}

function unpark(kind: RecordKind, state: ObjectState, context: Context): Next<ObjectState> {
	const {object} = state;
	if (object === undefined) return next(state);
	const status = (object.status ?? {}) as WithConditions;
	const conditions = withoutCondition(status.conditions, actorFailed);
	const well = conditions === status.conditions ? object : {...object, status: {...status, conditions}};
	return reconcile(kind, {object: well, failures: noFailures, rest: undefined}, context);
}
