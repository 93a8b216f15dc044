// A Status of the server becomes an AppError: its wording is the server's, its code and exit code are those of our table.

import {AppError, type ErrorCode} from '../../api/errors.js';
import type {JsonObject} from '../../api/object.js';

/** One wrong field, as a Status tells it. */
export type StatusCause = {readonly field: string; readonly message: string; readonly reason: string};

type Status = {
	readonly kind: 'Status';
	readonly message?: string;
	readonly reason?: string;
	readonly code?: number;
	readonly details?: JsonObject;
};

export const isStatus = (value: unknown): value is Status =>
	typeof value === 'object' && value !== null && (value as {readonly kind?: unknown}).kind === 'Status';

const codeByHttp: {readonly [http: number]: ErrorCode} = {
	400: 'ERR_BAD_REQUEST',
	401: 'ERR_UNAUTHORIZED',
	403: 'ERR_FORBIDDEN',
	404: 'ERR_NOT_FOUND',
	405: 'ERR_METHOD_NOT_ALLOWED',
	409: 'ERR_CONFLICT',
	410: 'ERR_EXPIRED',
	413: 'ERR_TOO_LARGE',
	415: 'ERR_UNSUPPORTED_MEDIA_TYPE',
	422: 'ERR_INVALID',
	429: 'ERR_BUSY',
	503: 'ERR_NOT_REACHABLE',
	504: 'ERR_TIMEOUT',
};

/** The error for an answer that is none of 2xx. `body` is the answer as parsed, or its text when it is not JSON; `path` is what was asked for. */
export function errorOfAnswer(http: number, body: unknown, path?: string): AppError {
	const status = isStatus(body) ? body : undefined;
	const code = codeOf(http, status);
	const message = status?.message ?? `the server answered ${http}${typeof body === 'string' && body !== '' ? `: ${firstLine(body)}` : ''}`;
	const error = new AppError(code, {message, ...status?.details, ...(path === undefined ? {} : {path})});
	error.message = code === 'ERR_UNAUTHORIZED' ? `${message}: the token in the kubeconfig is not one of this cluster` : message;
	return error;
}

function codeOf(http: number, status: Status | undefined): ErrorCode {
	if (status?.reason === 'AlreadyExists') return 'ERR_ALREADY_EXISTS';
	if (http === 429 && causesIn(status?.details).some(({reason}) => reason === 'DisruptionBudget')) return 'ERR_DISRUPTION_BUDGET';
	return codeByHttp[http] ?? 'ERR_INTERNAL';
}

/** The wrong fields, when the error has any. */
export const causesOf = ({failure}: AppError): readonly StatusCause[] => causesIn(failure.details);

function causesIn(details: JsonObject | undefined): readonly StatusCause[] {
	const causes = details?.['causes'];
	if (!Array.isArray(causes)) return [];
	return (causes as readonly JsonObject[]).map(({field, message, reason}) => ({
		field: typeof field === 'string' ? field : '',
		message: typeof message === 'string' ? message : '',
		reason: typeof reason === 'string' ? reason : '',
	}));
}

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 200);
