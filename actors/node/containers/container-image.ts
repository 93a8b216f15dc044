// A container's image: asked for before each start where the pod's class has images, and what is told of it meanwhile. The words are the kubelet's.

import type {Failure} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {runtimeClassOf} from '../../../api/runtime-class.js';
import {next, type Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {secretKey} from '../../config-references.js';
import {podWarning, type PodEvent} from '../../protocol/sync-message.js';
import {cachedConfig} from '../cache/config-copy.js';
import type {EnsuredImage, SecretRef} from '../runtime/runtime-port.js';
import {
	askRuntime,
	changed,
	idOf,
	type ContainerActorState,
	type ContainerInput,
	type ContainerNext,
	type Pulling,
} from './container-state.js';
import {megabytes} from './container-status.js';

/** Whether images are more than names to the runtime that has the pod. */
export const hasImage = ({assignment}: ContainerInput): boolean => runtimeClassOf(assignment.spec) === 'docker';

/** Has the image there; `imageEnsured` comes of it. What was said before stands until it is known whether there is anything to pull. */
export function askImage(state: ContainerActorState, {known}: Context, events: readonly PodEvent[]): ContainerNext {
	const {assignment, container, attempt} = state;
	const {namespace, name: podName} = assignment;
	const command = {
		type: 'image.ensure',
		id: idOf(state),
		namespace,
		podName,
		image: container.image,
		policy: container.imagePullPolicy ?? 'IfNotPresent',
		secrets: pullSecretsOf(state, known).present,
	} as const;
	const asking: ContainerActorState = {...state, phase: {type: 'pulling', progress: undefined}, configChanged: false};
	return next(asking, [
		askRuntime(asking, command, `image/${attempt}`, 'imageEnsured', limits.imageEnsureMs),
		...(events.length === 0 ? [] : [changed(asking, events)]),
	]);
}

type PullSecrets = {readonly present: readonly SecretRef[]; readonly missing: readonly string[]};

/** A Secret that is not there is no reason to wait: the image may be had without. */
function pullSecretsOf({assignment}: ContainerInput, known: Known): PullSecrets {
	const names = (assignment.spec.imagePullSecrets ?? []).map(({name}) => name);
	const copies = names.map(name => ({name, copy: cachedConfig(known, secretKey(assignment.namespace, name))}));
	return {
		present: copies.flatMap(({name, copy}) => (copy === undefined ? [] : {secret: name, version: copy.version, optional: true})),
		missing: copies.flatMap(({name, copy}) => (copy === undefined ? name : [])),
	};
}

/** How far the pull is: the first word of it is an event, and each per cent is in the status. */
export function pulling(state: ContainerActorState, message: Pulling): ContainerNext {
	const {phase, container} = state;
	if (phase.type !== 'pulling') return next(state);
	const {percent, bytes, totalBytes} = message;
	if (phase.progress !== undefined && phase.progress.percent === percent) return next(state);
	const events: PodEvent[] =
		phase.progress === undefined ? [{event: 'Normal', reason: 'Pulling', message: `pulling image "${container.image}"`}] : [];
	const now: ContainerActorState = {...state, phase: {type: 'pulling', progress: {percent, bytes, totalBytes}}};
	return next(now, [changed(now, events)]);
}

/** What is told of an image that is there now. */
export function pulledEvents(state: ContainerActorState, ensured: EnsuredImage, {known}: Context): readonly PodEvent[] {
	const {image} = state.container;
	const {pulled, missingSecrets = []} = ensured;
	if (pulled === undefined) return [{event: 'Normal', reason: 'Pulled', message: `image "${image}" is on the node already`}];
	const message = `pulled image "${image}" in ${(pulled.ms / 1_000).toFixed(1)} s, ${megabytes(pulled.bytes)} MB`;
	return [...missingEvents(state, missingSecrets, known), {event: 'Normal', reason: 'Pulled', message}];
}

/** Why it waits, what it says of that, and the events: the first failure in a row is told by itself, later ones are a back-off. */
export type ImageFailure = {readonly reason: string; readonly message: string; readonly events: readonly PodEvent[]};

export function pullFailure(state: ContainerActorState, {message, details}: Failure, {known}: Context): ImageFailure {
	const missing = Array.isArray(details['missingSecrets']) ? details['missingSecrets'].filter(name => typeof name === 'string') : [];
	const events = [...missingEvents(state, missing, known), podWarning('Failed', message)];
	if (state.pullFailures === 0) return {reason: 'ErrImagePull', message, events};
	const backOff: PodEvent = {event: 'Normal', reason: 'BackOff', message: `back-off pulling image "${state.container.image}"`};
	return {reason: imageBackOff, message: `back-off: ${message}`, events: [...events, backOff]};
}

/** Kubernetes' word for a container whose image could not be pulled several times in a row. */
const imageBackOff = 'ImagePullBackOff';

/** Another login may be the way to the image. */
export const waitsForImage = (reason: string): boolean => reason === imageBackOff || reason === 'ErrImagePull';

function missingEvents(state: ContainerActorState, others: readonly string[], known: Known): readonly PodEvent[] {
	const missing = [...new Set([...pullSecretsOf(state, known).missing, ...others])];
	if (missing.length === 0) return [];
	const message = `some image pull secrets are not there (${missing.join(', ')}): the image may not be had without`;
	return [podWarning('FailedToRetrieveImagePullSecret', message)];
}
