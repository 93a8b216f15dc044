// What Troupe answers beyond Kubernetes: why an object is as it is, counters, limits, and dialects.

import {inspectorOf} from '../../actors/addresses.js';
import {inspectMessage} from '../../actors/inspector.js';
import {kindByPlural} from '../../api/catalogue.js';
import {normalise} from '../../api/dialects/normalise.js';
import {AppError} from '../../api/errors.js';
import {clusterScope, controlSystem, objectKey, objectPath} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import type {ActorTree} from '../../api/inspect.js';
import {publicObject} from '../public-text.js';
import {readObject} from './body.js';
import type {Exchange, Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {sendJson} from './reply.js';
import {requireOwnRight, requireRight} from './rights.js';

/** `POST /troupe/v1/normalise`: one document of any dialect → {object, notes, renamed}; nothing is kept. */
export const normaliseDocument: Handler = async (_backend, exchange) => {
	requireOwnRight(exchange.identity, 'get', 'troupe/normalise');
	const document = await readObject(exchange.request, {yaml: true});
	if (document === undefined) throw refusal('the body is empty; it must be a manifest');
	const result = normalise(document);
	if (!result.ok) throw new AppError('ERR_INVALID', {problems: result.problems});
	const {object, notes, renamed} = result;
	sendJson(exchange.response, 200, {object, notes, renamed});
};

/** `GET /troupe/v1/counters`. */
export const counters: Handler = ({control}, {identity, response}) => {
	requireOwnRight(identity, 'get', 'troupe/counters');
	sendJson(response, 200, control.counters());
};

/**
 * `GET /troupe/v1/mqtt`: what a program with this token needs to speak MQTT: its login, its role, and where the broker is when that is another
 * program; else it is at this very port, by ALPN.
 */
export const mqtt: Handler = ({access}, {identity, response}) => {
	requireOwnRight(identity, 'get', 'troupe/mqtt');
	const {name: login, role} = identity;
	sendJson(response, 200, {login, role, broker: access?.broker?.url ?? null});
};

/** `GET /troupe/v1/limits`: every bound there is, by name. */
export const limitsInfo: Handler = (_backend, {identity, response}) => {
	requireOwnRight(identity, 'get', 'troupe/limits');
	sendJson(response, 200, limits);
};

/**
 * `GET /troupe/v1/why/<plural>/<namespace>/<name>` (`_` for cluster-scoped kinds): what led to the object's state. Answers
 * for an hour after the object is gone, too.
 */
export const why: Handler = async (backend, exchange) => {
	const key = keyOf(exchange);
	const {control} = backend;
	const entry = control.index.entry(key);
	const journal = control.journalOf(key);
	const events = control.eventsOf(key);
	const {plural = '', name = ''} = exchange.params;
	if (entry === undefined && journal.length === 0 && events.length === 0) throw new AppError('ERR_NOT_FOUND', {resource: plural, name});
	const request = {verb: 'tree', place: `${controlSystem}/${objectPath(key)}`, depth: 0} as const;
	const seen = await control.ask<ActorTree>(inspectorOf(controlSystem), inspectMessage(request), {
		deadlineMs: limits.inspectSystemMs,
		cause: 'why',
	});
	sendJson(exchange.response, 200, {
		key,
		object: entry === undefined ? null : summaryOf(publicObject(plural, entry.object)),
		actor: seen.ok ? {...seen.value, children: seen.value.childCount} : null,
		journal,
		journalSinceMs: control.journalSinceMs,
		events,
	});
};

function keyOf({identity, params}: Exchange): string {
	const {plural = '', namespace = '', name = ''} = params;
	const kind = kindByPlural(plural);
	if (kind === undefined) throw new AppError('ERR_NO_SUCH_PATH');
	const scope = kind.namespaced ? namespace : undefined;
	requireRight(identity, 'get', {kind, namespace: scope, name, subresource: undefined});
	const isScope = kind.namespaced ? isDnsLabel(namespace) : namespace === clusterScope;
	if (!isScope || !isDnsSubdomain(name)) throw new AppError('ERR_NOT_FOUND', {resource: plural, name});
	return objectKey(plural, scope, name);
}

/** What says where the object stands; its spec is a GET away. */
const summaryOf = ({apiVersion, kind, metadata, status}: ApiObject) => ({apiVersion, kind, metadata, status});
