// The scale subresource: how many replicas, in one shape for every kind that has them (autoscaling/v1 Scale). Pure.

import {invalid, succeeded, type Outcome} from './errors.js';
import {isObject, type ApiObject, type Draft, type Json, type JsonObject} from './object.js';
import type {LabelSelector} from './selector.js';
import {formatSelector} from './selector-text.js';
import {shown} from './shown.js';

type Scalable = {readonly replicas?: number; readonly selector?: LabelSelector};

/** The Scale of an object of a scalable kind. */
export function scaleOf(object: ApiObject): JsonObject {
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

/**
 * The object as a changed Scale of it would have it: with its replicas, where it says any, and its resourceVersion and uid for whoever
 * compares them. Whether the replicas are a number is for admission.
 */
export function scaled(object: ApiObject, scale: Json | undefined): Outcome<Draft> {
	const {metadata = {}, spec = {}} = isObject(scale) ? scale : {spec: scale ?? null};
	if (!isObject(metadata)) return misshapen('metadata', metadata);
	if (!isObject(spec)) return misshapen('spec', spec);
	const {resourceVersion, uid} = metadata as Draft['metadata'];
	const {replicas} = spec;
	const wanted = {...object, metadata: {...object.metadata, resourceVersion, uid}};
	return succeeded((replicas === undefined ? wanted : {...wanted, spec: {...(object.spec as object), replicas}}) as Draft);
}

const misshapen = (path: string, part: Json | undefined): Outcome<Draft> => ({
	ok: false,
	error: invalid([{path, message: `must be an object, got ${shown(part)}`}]),
});
