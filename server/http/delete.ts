// DELETE of an object. The answer tells by the uid which object it was, and whether it is gone or lingers.

import type {DeleteObject} from '../../actors/control/objects/object-message.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {readObject} from './body.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {countOf, isDryRun} from './query.js';
import {sendJson, sendText, jsonType} from './reply.js';
import {outgoingEntry} from './secrets.js';
import {deletedStatus} from './status.js';
import {askObject} from './write.js';

const propagations = ['Background', 'Foreground', 'Orphan'] as const;

/** DELETE with DeleteOptions in the body, in the query, or both; the body's word counts. */
export async function remove(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const message = deletionOf(await readObject(exchange.request, {yaml: true}), exchange.query);
	const {key, object} = entryOf(backend, target);
	const deleted = await askObject(backend, exchange, target, message);
	const {uid} = deleted.metadata;
	const left = backend.control.index.entry(key);
	const lingers = message.dryRun !== true && left !== undefined && left.object.metadata.uid === uid;
	if (lingers) return sendText(exchange.response, 200, jsonType, outgoingEntry(backend, target.kind, left).json());
	sendJson(exchange.response, 200, deletedStatus({group: target.kind.group, plural: target.kind.plural, name: object.metadata.name, uid}));
}

/** What DeleteOptions and the query ask for. Throws ERR_BAD_REQUEST. */
export function deletionOf(body: JsonObject | undefined, query: URLSearchParams): DeleteObject {
	const options = body ?? {};
	const preconditions = objectOf(options['preconditions'], 'preconditions');
	const dryRun = [...query.getAll('dryRun'), ...listOf(options['dryRun'])];
	return {
		type: 'delete',
		graceSeconds: graceOf(options['gracePeriodSeconds']) ?? countOf(query, 'gracePeriodSeconds'),
		propagation: propagationOf(options['propagationPolicy'] ?? query.get('propagationPolicy')),
		uid: textOf(preconditions['uid'], 'preconditions.uid'),
		resourceVersion: textOf(preconditions['resourceVersion'], 'preconditions.resourceVersion'),
		dryRun: isDryRun(dryRun),
	};
}

function graceOf(value: unknown): number | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
	throw refusal('gracePeriodSeconds must be a whole number from 0 on');
}

function propagationOf(value: unknown): DeleteObject['propagation'] {
	if (value === undefined || value === null || value === '') return undefined;
	const known = propagations.find(each => each === value);
	if (known === undefined) throw refusal(`propagationPolicy must be one of ${propagations.join(', ')}`);
	return known;
}

function textOf(value: unknown, name: string): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value === 'string') return value;
	throw refusal(`${name} must be a string`);
}

function listOf(value: unknown): readonly unknown[] {
	if (value === undefined || value === null) return [];
	if (Array.isArray(value)) return value as unknown[];
	throw refusal('dryRun must be a list');
}

/** A member that is an object or absent. Throws ERR_BAD_REQUEST. */
export function objectOf(value: unknown, name: string): JsonObject {
	if (value === undefined || value === null) return {};
	if (isObject(value)) return value;
	throw refusal(`${name} must be an object`);
}
