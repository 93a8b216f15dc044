// Why a runtime refuses a command: the same words and codes whichever runtime it is.

import {failed} from '../api/errors.js';
import type {ContainerId, LogRequest} from '../actors/node/runtime/runtime-port.js';

type Refusal = ReturnType<typeof failed>;

export const noSandbox = (uid: string): Refusal => failed('ERR_NOT_FOUND', {resource: 'sandboxes', name: uid});

export const lostSandbox = (uid: string): Refusal =>
	failed('ERR_RUNTIME', {message: `the sandbox "${uid}" has died: nothing starts in it until it is made anew`});

export const attemptIsOver = ({container}: ContainerId, attempt: number, nextAttempt: number): Refusal =>
	failed('ERR_RUNTIME', {message: `attempt ${attempt} of container "${container}" is over; the next one is ${nextAttempt}`});

export const anotherAttemptRuns = ({container}: ContainerId, attempt: number, running: number): Refusal =>
	failed('ERR_RUNTIME', {message: `container "${container}" runs attempt ${running}; attempt ${attempt} cannot start beside it`});

export const noLease = ({container}: ContainerId): Refusal =>
	failed('ERR_RUNTIME', {message: `container "${container}" is of an exclusive pod whose lease is not held`});

export const noInstance = (uid: string): Refusal =>
	failed('ERR_BAD_REQUEST', {message: `the pod with uid ${uid} is no instance of a function`});

export const noImages: Refusal = failed('ERR_BAD_REQUEST', {
	message: 'images are only names to this node: it runs no class of pods that has any',
});

/** For exec, as the kubelet says it. */
export const notRunning = ({container}: ContainerId): Refusal =>
	failed('ERR_BAD_REQUEST', {message: `container not found ("${container}")`});

export const noSession = (session: string): Refusal => failed('ERR_NOT_FOUND', {resource: 'sessions', name: session});

/** As kubectl shows it. */
export const noSuchLog = ({id, previous}: LogRequest, podName: string): Refusal =>
	failed('ERR_BAD_REQUEST', {
		message: previous
			? `previous terminated container "${id.container}" in pod "${podName}" not found`
			: `container "${id.container}" in pod "${podName}" is waiting to start`,
	});

/** Undefined: the request can be answered. */
export function wrongLogRequest({offset, endOffset, tailLines, sinceMs, maxBytes, waitMs}: LogRequest): Refusal | undefined {
	const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
	const refusal = (message: string): Refusal => failed('ERR_BAD_REQUEST', {message});
	if (offset !== undefined && !isCount(offset)) return refusal(`offset must be a whole number from 0, got ${offset}`);
	if (endOffset !== undefined && !isCount(endOffset)) return refusal(`endOffset must be a whole number from 0, got ${endOffset}`);
	if (tailLines !== undefined && !isCount(tailLines)) return refusal(`tailLines must be a whole number from 0, got ${tailLines}`);
	if (sinceMs !== undefined && !Number.isFinite(sinceMs)) return refusal(`sinceMs must be a time in ms, got ${sinceMs}`);
	if (!isCount(maxBytes) || maxBytes === 0) return refusal(`maxBytes must be a whole number from 1, got ${maxBytes}`);
	if (!(waitMs >= 0)) return refusal(`waitMs must be 0 or more, got ${waitMs}`);
	return undefined;
}
