// What the runtimes of two systems say to each other about the ends of actors; no actor is ever sent one of these.

import type {Failure} from '../../api/errors.js';
import {isObject} from '../../api/object.js';
import type {DownReason, Message} from './behavior.js';

/** What the runtimes of two systems say to each other. Ids are given by the watcher's system. */
export type WatchMessage =
	| {readonly type: 'watchActor' | 'unwatchActor'; readonly id: number}
	| {readonly type: 'actorDown'; readonly id: number; readonly instance?: number; readonly reason: DownReason};

const watchTypes: ReadonlySet<string> = new Set<WatchMessage['type']>(['watchActor', 'unwatchActor', 'actorDown']);

/** Whether it is for the runtime itself: no actor is sent such a message. */
export const isForRuntime = ({type}: Message): boolean => watchTypes.has(type);

/** Where what a peer says of its actors goes: no actor has that path. */
export const downsPath = '_downs';

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** Undefined: it is none, whatever its type says. */
export function watchMessageOf(message: Message): WatchMessage | undefined {
	const {type, id, instance, reason} = message as Message & {readonly [member: string]: unknown};
	if (!isCount(id)) return undefined;
	if (type === 'watchActor' || type === 'unwatchActor') return {type, id};
	const told = downReasonOf(reason);
	if (type !== 'actorDown' || told === undefined) return undefined;
	return {type, id, reason: told, ...(isCount(instance) ? {instance} : {})};
}

function downReasonOf(reason: unknown): DownReason | undefined {
	if (!isObject(reason)) return undefined;
	switch (reason['type']) {
		case 'normal':
		case 'stopped':
		case 'killed':
		case 'noProcess':
		case 'noConnection':
			return {type: reason['type']};
		case 'crashed':
			return isFailure(reason['error']) ? {type: 'crashed', error: reason['error']} : undefined;
		default:
			return undefined;
	}
}

const isFailure = (error: unknown): error is Failure =>
	isObject(error) && typeof error['code'] === 'string' && typeof error['message'] === 'string' && isObject(error['details']);
