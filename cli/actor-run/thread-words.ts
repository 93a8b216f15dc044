// What the thread of a user's actors and the thread that started it say to each other. Plain data.

import {AppError, type ErrorCode} from '../../api/errors.js';
import type {Json} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {BrokerLogin} from '../cluster/broker-login.js';

/** What the thread is given. */
export type RunWork = {
	readonly file: string;
	readonly name: string;
	readonly broker: BrokerLogin;
	readonly input: Json;
	readonly host: string;
	readonly pid: number;
	/** Admins may make faults in it. */
	readonly faults: boolean;
};

export type ToThread = {readonly type: 'tell'; readonly message: Message; readonly cause: string} | {readonly type: 'stop'};

export type FromThread =
	/** The module is read; it is not joined to the cluster yet. */
	| {readonly type: 'loaded'}
	| {readonly type: 'ready'; readonly root: string}
	| {readonly type: 'print'; readonly text: string}
	| {readonly type: 'note'; readonly line: string}
	/** Nothing more comes. */
	| {readonly type: 'ended'; readonly error: SentError | undefined};

/** An error that keeps its words on the way to another thread. */
export type SentError = {readonly code: ErrorCode; readonly message: string};

export const sentError = ({code, message}: AppError): SentError => ({code, message});

export function receivedError({code, message}: SentError): AppError {
	const error = new AppError(code);
	error.message = message;
	return error;
}
