// Writes: each becomes one message to the actor that owns the object (or, for a create, to the kind's collection), and the
// answer is the object as it was committed.

import {qualifiedPlural} from '../../api/catalogue.js';
import {AppError, type Failure} from '../../api/errors.js';
import {collectionAddress, objectAddress, objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {lostNullWarnings} from '../../api/lost-nulls.js';
import {guardedWords} from '../../api/kind.js';
import {isObject, type ApiObject, type Draft} from '../../api/object.js';
import {mayChangeGuarded} from '../../api/roles.js';
import type {CreateObject, ReplaceObject} from '../../actors/control/objects/object-message.js';
import {readDraft} from './draft.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {isDryRun} from './query.js';
import {addWarnings} from './reply.js';
import {draftWithoutPassword, keepPassword, refuseStrangersSecret} from './inline-password.js';
import {incoming, withName} from './secrets.js';
import {sendObject} from './object-reply.js';
import {valueOf} from './outcome.js';

/** POST of a collection. */
export async function create(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {object: given, notes} = await readDraft(exchange, target);
	checkGuarded(exchange, target, given);
	const {value, password} = draftWithoutPassword(target, withoutStatus(isPasswordIn(given) ? withName(given) : given));
	const object = incoming(backend, target, value);
	if (password !== undefined) refuseStrangersSecret(backend, target, object.metadata.name ?? '');
	const dryRun = isDryRun(exchange.query.getAll('dryRun'));
	const message: CreateObject = {type: 'create', object, dryRun};
	const created = await askCollection(backend, exchange, {...target, name: object.metadata.name}, message);
	const lost = lostNullWarnings(target.kind, created, given.metadata);
	const kept = password === undefined ? [] : [await told(backend, exchange, target, {written: created, password, dryRun})];
	addWarnings(exchange.response, [...notes, ...lost, ...kept]);
	await sendObject(backend, exchange, target.kind, created, 201);
}

/** PUT of an object or of its status. */
export async function replace(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {object, notes} = await readDraft(exchange, target);
	const dryRun = isDryRun(exchange.query.getAll('dryRun'));
	const {value, password} = draftWithoutPassword(target, object);
	if (password !== undefined) refuseStrangersSecret(backend, target, target.name ?? '');
	const message: ReplaceObject = {
		type: 'replace',
		object: incoming(backend, target, value),
		...statusPart(target),
		...guardedOf(exchange, target),
		dryRun,
	};
	const replaced = await askObject(backend, exchange, target, message);
	const kept = password === undefined ? [] : [await told(backend, exchange, target, {written: replaced, password, dryRun})];
	addWarnings(exchange.response, [...notes, ...kept]);
	await sendObject(backend, exchange, target.kind, replaced, 200);
}

const isPasswordIn = ({spec}: Draft): boolean => isObject(spec) && spec['password'] !== undefined;

type Written = {readonly written: ApiObject; readonly password: string; readonly dryRun: boolean};

/** What becomes of a password that was in a manifest. */
export const told = (backend: Backend, exchange: Exchange, target: Target, {written, password, dryRun}: Written): Promise<string> =>
	dryRun
		? Promise.resolve('spec.password would be moved into a Secret')
		: keepPassword(backend, written, password, causeOf(exchange, {...target, name: written.metadata.name}));

/** What a write says of the part it is about. */
export const statusPart = ({subresource}: Target): {readonly subresource?: 'status'} => (subresource === 'status' ? {subresource} : {});

/** What the writer may not change, for the record, which alone knows what is changed. */
export const guardedOf = ({identity}: Exchange, {kind}: Target): {readonly guarded?: readonly string[]} =>
	kind.guarded === undefined || mayChangeGuarded(identity) ? {} : {guarded: kind.guarded};

/** Of a new object nothing is there that could stay. */
function checkGuarded(exchange: Exchange, target: Target, {metadata, spec}: Draft): void {
	const member = guardedOf(exchange, target).guarded?.find(each => isObject(spec) && spec[each] !== undefined);
	if (member !== undefined) throw new AppError('ERR_FORBIDDEN', {message: guardedWords(target.kind, metadata.name ?? '', member)});
}

/** Clients send `status: {}` with new objects; a new object's status is its kind's. */
function withoutStatus({status: _status, ...object}: Draft): Draft {
	return object;
}

async function askCollection(backend: Backend, exchange: Exchange, target: Target, message: CreateObject): Promise<ApiObject> {
	const options = {deadlineMs: limits.askDeadlineMs, cause: causeOf(exchange, target)};
	const outcome = await backend.control.ask<ApiObject>(collectionAddress(target.kind.plural), message, options);
	// The collections of all kinds run from the start: one that is missing is a control plane that is not ready.
	if (!outcome.ok && outcome.error.code === 'ERR_NO_SUCH_ACTOR')
		throw new AppError('ERR_NOT_REACHABLE', {
			message: `${target.kind.plural} cannot be created now: the control plane is starting or stopping`,
		});
	return valueOf(outcome);
}

/** Sends a write to the record of a target; an object that is not there, or went while the message waited, is a 404. */
export async function askObject(
	backend: Backend,
	exchange: Exchange,
	target: Target,
	message: {readonly type: string},
): Promise<ApiObject> {
	const {key} = entryOf(backend, target);
	const outcome = await backend.control.ask<ApiObject>(objectAddress(key), message, {
		deadlineMs: limits.askDeadlineMs,
		cause: causeOf(exchange, target),
	});
	if (!outcome.ok && isGone(outcome.error) && backend.control.index.entry(key) === undefined) throw notFound(target);
	if (!outcome.ok && outcome.error.code === 'ERR_NO_SUCH_ACTOR') throw notFound(target);
	return valueOf(outcome);
}

const isGone = ({code}: Failure): boolean => code === 'ERR_NO_SUCH_ACTOR' || code === 'ERR_ACTOR_STOPPED';

const notFound = ({kind, name = ''}: Target): AppError => new AppError('ERR_NOT_FOUND', {resource: qualifiedPlural(kind), name});

/** `http admin PATCH replicasets/default/web/scale`: kept in the journal of what the request leads to. */
export function causeOf({identity, method}: Exchange, {kind, namespace, name, subresource}: Target): string {
	const path = name === undefined ? [kind.plural, namespace ?? '_'].join('/') : objectKey(kind.plural, namespace, name);
	return `http ${identity.name} ${method} ${path}${subresource === undefined ? '' : `/${subresource}`}`;
}
