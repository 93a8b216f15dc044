// A Docker Engine, spoken to through dockerode: every call ends in time, and every failure has words for people.

import Docker from 'dockerode';
import {hasCode} from '../../../system/files/errno.js';
import type {Clock} from '../../../system/time/clock.js';
import type {EngineAddress} from './engine-url.js';

export type {Docker};

/** `unreachable`: nothing listens, or the connection broke. `late`: no answer in time; what was asked for may still happen. Else as the Engine says. */
export type EngineFault = 'unreachable' | 'late' | 'notFound' | 'conflict' | 'refused';

export class EngineError extends Error {
	readonly fault: EngineFault;

	constructor(fault: EngineFault, message: string) {
		super(message);
		this.fault = fault;
	}
}

export type Engine = {
	/**
	 * Rejects with an EngineError after `timeoutMs` at the latest; the signal ends then what can be ended without harm, such as a question. `what` is for
	 * people: "create container".
	 */
	readonly call: <Value>(what: string, timeoutMs: number, run: (docker: Docker, signal: AbortSignal) => Promise<Value>) => Promise<Value>;
};

/** What dockerode would otherwise take from the environment of this process, which has nothing to say here. */
const nothingElse = {
	host: undefined,
	port: undefined,
	socketPath: undefined,
	ca: undefined,
	cert: undefined,
	key: undefined,
	timeout: undefined,
};

export function openEngine(address: EngineAddress, clock: Clock): Engine {
	const docker = new Docker({...nothingElse, ...address, protocol: 'http'});
	return {
		call: (what, timeoutMs, run) =>
			new Promise((resolve, reject) => {
				const over = new AbortController();
				const cancel = clock.after(timeoutMs, () => {
					reject(new EngineError('late', `Docker's Engine did not answer within ${timeoutMs} ms: ${what}`));
					over.abort();
				});
				run(docker, over.signal)
					.then(resolve, (error: unknown) => reject(engineError(what, error)))
					.finally(cancel);
			}),
	};
}

const unreachable = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EACCES', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];

/** dockerode's errors carry the status of the answer, and its JSON with a `message`. */
function engineError(what: string, error: unknown): EngineError {
	if (error instanceof EngineError) return error;
	const {statusCode, json, message} = Object(error) as {statusCode?: unknown; json?: unknown; message?: unknown};
	const said = (Object(json) as {message?: unknown}).message ?? message;
	const text = `${what}: ${typeof said === 'string' ? said : String(error)}`;
	if (unreachable.some(code => hasCode(error, code))) return new EngineError('unreachable', text);
	if (statusCode === 404) return new EngineError('notFound', text);
	return new EngineError(statusCode === 409 ? 'conflict' : 'refused', text);
}
