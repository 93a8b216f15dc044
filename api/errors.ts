// Every error that leaves its layer: code, wording, exit code of the CLI, HTTP status, and whether trying again can help.
// Codes are stable; `docs/errors.md` is made from this table.

import {isObject, type JsonObject} from './object.js';
import {formatProblem, type Problem} from './problem.js';

export type ErrorCode = keyof typeof errorTable;

type Details = JsonObject;

type ErrorRow = {
	readonly message: (details: Details) => string;
	/** Of the CLI: 1 failed, 2 wrong usage, 3 not found, 4 conflict, 5 not reachable, 6 refused. */
	readonly exitCode: 1 | 2 | 3 | 4 | 5 | 6;
	readonly http: number;
	/** Kubernetes' machine-readable reason. */
	readonly reason: string;
	readonly retryable: boolean;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/** A resource as kubectl names it: `pods "web"`, `replicasets.apps "web"`. */
const resource = (details: Details): string => `${text(details['resource'] ?? 'objects')} "${text(details['name'])}"`;

/** Details come from other processes, too: what is no problem among them is passed over. */
export const problemsOf = ({problems}: Details): readonly Problem[] => (Array.isArray(problems) ? problems.filter(isProblem) : []);

const isProblem = (value: unknown): value is Problem =>
	isObject(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';

export const errorTable = {
	ERR_INVALID: {
		message: d => problemsOf(d).map(formatProblem).join('\n') || text(d['message'] ?? 'the object is invalid'),
		exitCode: 1,
		http: 422,
		reason: 'Invalid',
		retryable: false,
	},
	ERR_BAD_REQUEST: {message: d => text(d['message']), exitCode: 2, http: 400, reason: 'BadRequest', retryable: false},
	ERR_USAGE: {message: d => text(d['message']), exitCode: 2, http: 400, reason: 'BadRequest', retryable: false},
	ERR_UNAUTHORIZED: {message: () => 'Unauthorized', exitCode: 6, http: 401, reason: 'Unauthorized', retryable: false},
	ERR_FORBIDDEN: {message: d => text(d['message']), exitCode: 6, http: 403, reason: 'Forbidden', retryable: false},
	ERR_NOT_FOUND: {
		message: d => `${resource(d)} not found${d['why'] === undefined ? '' : `: ${text(d['why'])}`}`,
		exitCode: 3,
		http: 404,
		reason: 'NotFound',
		retryable: false,
	},
	ERR_NO_SUCH_PATH: {
		message: () => 'the server could not find the requested resource',
		exitCode: 3,
		http: 404,
		reason: 'NotFound',
		retryable: false,
	},
	ERR_NO_SUCH_ACTOR: {message: d => `no actor at "${text(d['address'])}"`, exitCode: 3, http: 404, reason: 'NotFound', retryable: false},
	ERR_METHOD_NOT_ALLOWED: {
		message: () => 'the server does not allow this method on the requested resource',
		exitCode: 1,
		http: 405,
		reason: 'MethodNotAllowed',
		retryable: false,
	},
	ERR_ALREADY_EXISTS: {message: d => `${resource(d)} already exists`, exitCode: 4, http: 409, reason: 'AlreadyExists', retryable: false},
	ERR_CONFLICT: {
		message: d =>
			`Operation cannot be fulfilled on ${resource(d)}: ${text(d['message'] ?? 'the object has been modified; please apply your changes to the latest version and try again')}`,
		exitCode: 4,
		http: 409,
		reason: 'Conflict',
		retryable: false,
	},
	ERR_EXPIRED: {
		message: d => `too old resource version: ${text(d['requested'])} (${text(d['oldest'])})`,
		exitCode: 1,
		http: 410,
		reason: 'Expired',
		retryable: true,
	},
	ERR_TOO_LARGE: {message: d => text(d['message']), exitCode: 1, http: 413, reason: 'RequestEntityTooLarge', retryable: false},
	ERR_UNSUPPORTED_MEDIA_TYPE: {message: d => text(d['message']), exitCode: 1, http: 415, reason: 'UnsupportedMediaType', retryable: false},
	ERR_BUSY: {
		message: d => text(d['message'] ?? `"${text(d['address'])}" has ${text(d['waiting'])} messages waiting and takes no more; try again`),
		exitCode: 1,
		http: 429,
		reason: 'TooManyRequests',
		retryable: true,
	},
	ERR_TOO_MANY_CONNECTIONS: {
		message: d => `"${text(d['login'])}" has too many connections with a request under way; try again when one has ended`,
		exitCode: 1,
		http: 429,
		reason: 'TooManyRequests',
		retryable: true,
	},
	ERR_DISRUPTION_BUDGET: {
		message: () => "Cannot evict pod as it would violate the pod's disruption budget.",
		exitCode: 1,
		http: 429,
		reason: 'TooManyRequests',
		retryable: true,
	},
	ERR_STORE: {
		message: d => `the store did not take the write: ${text(d['message'])}`,
		exitCode: 1,
		http: 500,
		reason: 'InternalError',
		retryable: true,
	},
	ERR_DAMAGED: {message: d => text(d['message']), exitCode: 1, http: 500, reason: 'InternalError', retryable: false},
	ERR_ACTOR_CRASHED: {
		message: d => `the actor "${text(d['address'])}" crashed on this message: ${text(d['message'])}`,
		exitCode: 1,
		http: 500,
		reason: 'InternalError',
		retryable: false,
	},
	ERR_ACTOR_STOPPED: {
		message: d => `the actor "${text(d['address'])}" stopped before this message was dealt with`,
		exitCode: 1,
		http: 503,
		reason: 'ServiceUnavailable',
		retryable: true,
	},
	ERR_TIMEOUT: {
		message: d => `"${text(d['address'])}" did not answer within ${text(d['deadlineMs'])} ms`,
		exitCode: 5,
		http: 504,
		reason: 'Timeout',
		retryable: true,
	},
	ERR_OUTCOME_UNKNOWN: {
		message: d => `"${text(d['address'])}" restarted before it answered; whether it acted is unknown`,
		exitCode: 1,
		http: 504,
		reason: 'Timeout',
		retryable: true,
	},
	ERR_NOT_REACHABLE: {
		message: d => text(d['message'] ?? `"${text(d['address'])}" is not reachable`),
		exitCode: 5,
		http: 503,
		reason: 'ServiceUnavailable',
		retryable: true,
	},
	ERR_STANDBY: {
		message: d => {
			if (d['leader'] !== undefined && d['leader'] !== null) return `this server is a standby; the leader is ${text(d['leader'])}`;
			if (d['storeAnswers'] === false) return 'no server leads: the store does not answer';
			return 'this server is a standby, and no server leads at the moment';
		},
		exitCode: 5,
		http: 503,
		reason: 'ServiceUnavailable',
		retryable: true,
	},
	ERR_NO_COMMAND: {
		message: d =>
			d['isOfImage'] === true
				? `container "${text(d['container'])}" names no command, and neither does image "${text(d['image'])}": set command`
				: `container "${text(d['container'])}" names no command, and image "${text(d['image'])}" is only a name to this node's runtime: set command`,
		exitCode: 1,
		http: 422,
		reason: 'Invalid',
		retryable: false,
	},
	ERR_IMAGE_PULL: {message: d => text(d['message']), exitCode: 1, http: 502, reason: 'InternalError', retryable: true},
	ERR_IMAGE_ABSENT: {
		message: d => `image "${text(d['image'])}" is not on this node, and imagePullPolicy is Never: load it, or set another policy`,
		exitCode: 1,
		http: 404,
		reason: 'NotFound',
		retryable: true,
	},
	ERR_IMAGE_NAME: {
		message: d => `"${text(d['image'])}" is no name of an image: ${text(d['message'])}`,
		exitCode: 1,
		http: 422,
		reason: 'Invalid',
		retryable: false,
	},
	ERR_FUNCTION: {message: d => text(d['message']), exitCode: 1, http: 500, reason: 'InternalError', retryable: false},
	ERR_INSTANCE_ENDED: {message: d => text(d['message']), exitCode: 1, http: 502, reason: 'InternalError', retryable: false},
	ERR_VERSION_GONE: {message: d => text(d['message']), exitCode: 1, http: 410, reason: 'Gone', retryable: false},
	ERR_CONFIG_MISSING: {message: d => text(d['message']), exitCode: 1, http: 404, reason: 'NotFound', retryable: true},
	ERR_RUNTIME: {message: d => text(d['message']), exitCode: 1, http: 500, reason: 'InternalError', retryable: true},
	ERR_INTERNAL: {message: d => text(d['message'] ?? 'internal error'), exitCode: 1, http: 500, reason: 'InternalError', retryable: false},
} as const satisfies Record<string, ErrorRow>;

/** An error as it crosses actors, hosts and HTTP: no stack, no class. */
export type Failure = {readonly code: ErrorCode; readonly message: string; readonly details: JsonObject};

/** The outcome of something asked for. */
export type Outcome<Value> = {readonly ok: true; readonly value: Value} | {readonly ok: false; readonly error: Failure};

/** A failure worded by the table. */
export const failure = (code: ErrorCode, details: JsonObject = {}): Failure => ({code, message: rowOf(code).message(details), details});

export const failed = (code: ErrorCode, details: JsonObject = {}): {readonly ok: false; readonly error: Failure} => ({
	ok: false,
	error: failure(code, details),
});

export const succeeded = <Value>(value: Value): {readonly ok: true; readonly value: Value} => ({ok: true, value});

/** All problems of an input as one failure. */
export const invalid = (problems: readonly Problem[], about: JsonObject = {}): Failure => failure('ERR_INVALID', {...about, problems});

export const rowOf = (code: ErrorCode): ErrorRow => errorTable[code];

/** A failure that travels as an exception at the edges (HTTP handlers, the CLI), never inside a behaviour. */
export class AppError extends Error {
	readonly failure: Failure;

	constructor(code: ErrorCode, details: JsonObject = {}, cause?: unknown) {
		const worded = failure(code, details);
		super(worded.message, cause === undefined ? undefined : {cause});
		this.name = 'AppError';
		this.failure = worded;
	}

	/** A failure that came as a value, on its way to a person. */
	static of({code, details}: Failure): AppError {
		return new AppError(code, details);
	}

	get code(): ErrorCode {
		return this.failure.code;
	}
}
