// The scale subresource: how many replicas, in one shape for every kind that has them (autoscaling/v1 Scale).

import type {PatchObject} from '../../actors/control/objects/object-message.js';
import {AppError} from '../../api/errors.js';
import {isObject, type ApiObject, type JsonObject} from '../../api/object.js';
import type {Problem} from '../../api/problem.js';
import type {LabelSelector} from '../../api/selector.js';
import {formatSelector} from '../../api/selector-text.js';
import {readObject} from './body.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {isDryRun} from './query.js';
import {sendJson} from './reply.js';
import {askObject, readPatch} from './write.js';

/** GET of /scale. */
export function readScale(backend: Backend, exchange: Exchange, target: Target): void {
	sendJson(exchange.response, 200, scaleOf(entryOf(backend, target).object));
}

/** PUT of /scale: kubectl sends it without a Content-Type. resourceVersion is a precondition. */
export async function replaceScale(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const body = await readObject(exchange.request);
	if (body === undefined) throw refusal('the body is empty; it must be a Scale');
	await setScale(backend, exchange, target, body);
}

/** PATCH of /scale. */
export const patchScale = async (backend: Backend, exchange: Exchange, target: Target): Promise<void> =>
	setScale(backend, exchange, target, await readPatch(exchange, target));

async function setScale(backend: Backend, exchange: Exchange, target: Target, scale: JsonObject): Promise<void> {
	const dryRun = isDryRun(exchange.query.getAll('dryRun'));
	const replicas = replicasOf(scale);
	const {resourceVersion, uid} = partOf(scale, 'metadata');
	const preconditions = {
		...(typeof resourceVersion === 'string' && resourceVersion !== '' ? {resourceVersion} : {}),
		...(typeof uid === 'string' && uid !== '' ? {uid} : {}),
	};
	const message: PatchObject = {
		type: 'patch',
		patch: {
			...(Object.keys(preconditions).length === 0 ? {} : {metadata: preconditions}),
			...(replicas === undefined ? {} : {spec: {replicas}}),
		},
		dryRun,
	};
	sendJson(exchange.response, 200, scaleOf(await askObject(backend, exchange, target, message)));
}

function replicasOf(scale: JsonObject): number | undefined {
	const {replicas} = partOf(scale, 'spec');
	if (replicas === undefined) return undefined;
	if (typeof replicas === 'number' && Number.isSafeInteger(replicas) && replicas >= 0) return replicas;
	throw invalid({path: 'spec.replicas', message: `must be a whole number from 0 on, got ${JSON.stringify(replicas).slice(0, 50)}`});
}

function partOf(scale: JsonObject, name: string): JsonObject {
	const part = scale[name];
	if (part === undefined || part === null) return {};
	if (isObject(part)) return part;
	throw invalid({path: name, message: 'must be an object'});
}

const invalid = (problem: Problem): AppError => new AppError('ERR_INVALID', {problems: [problem]});

type Scalable = {readonly replicas?: number; readonly selector?: LabelSelector};

/** The Scale of an object of a scalable kind. */
function scaleOf(object: ApiObject): JsonObject {
	const spec = (object.spec ?? {}) as Scalable;
	const status = (object.status ?? {}) as Scalable;
	const {name, namespace, uid, resourceVersion, creationTimestamp} = object.metadata;
	return {
		kind: 'Scale',
		apiVersion: 'autoscaling/v1',
		metadata: {name, namespace, uid, resourceVersion, creationTimestamp},
		spec: {replicas: spec.replicas ?? 0},
		status: {replicas: status.replicas ?? 0, selector: formatSelector(spec.selector ?? {})},
	};
}
