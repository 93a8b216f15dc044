// A Docker Engine, spoken to through dockerode: every call ends in time, and every failure has words for people.

import Docker from 'dockerode';
import {limits} from '../../../api/limits.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Clock} from '../../../system/time/clock.js';
import {BoundedAnswers} from './bounded-answers.js';
import {engineUrlOf, type EngineAddress} from './engine-url.js';

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
	 * people: "create container". An answer of more than `engineAnswerBytes` is refused.
	 */
	readonly call: Call;
	/** The same for what answers with a stream, which has no bound: its reader takes it piece by piece. */
	readonly open: Call;
};

type Call = <Value>(what: string, timeoutMs: number, run: (docker: Docker, signal: AbortSignal) => Promise<Value>) => Promise<Value>;

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
	return {
		call: (what, timeoutMs, run) => called(address, clock, {what, timeoutMs, isStream: false}, run),
		open: (what, timeoutMs, run) => called(address, clock, {what, timeoutMs, isStream: true}, run),
	};
}

type Asked = {readonly what: string; readonly timeoutMs: number; readonly isStream: boolean};

function called<Value>(
	address: EngineAddress,
	clock: Clock,
	{what, timeoutMs, isStream}: Asked,
	run: (docker: Docker, signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
	return new Promise((resolve, reject) => {
		const over = new AbortController();
		const cancel = clock.after(timeoutMs, () => {
			reject(new EngineError('late', `Docker's Engine did not answer within ${timeoutMs} ms: ${what}`));
			over.abort();
		});
		const maxBytes = limits.engineAnswerBytes;
		const onExcess = (): void => {
			cancel();
			reject(new EngineError('refused', `${what}: the answer is larger than ${maxBytes} bytes`));
		};
		// One for each call, so that what is too large is known by its call.
		const agent = new BoundedAnswers({isStream, maxBytes, onExcess});
		// dockerode's types do not know that docker-modem takes an agent.
		const options = {...nothingElse, ...address, protocol: 'http' as const, agent};
		const docker = new Docker(options);
		run(docker, over.signal)
			.then(resolve, (error: unknown) => reject(engineError(what, error, address)))
			.finally(cancel);
	});
}

/** What a connection fails with, and what to do. */
const unreachable: Readonly<Record<string, (url: string) => string>> = {
	ENOENT: url => `there is nothing at ${url}: start Docker, or say where it listens (--docker)`,
	ECONNREFUSED: url => `no Engine listens at ${url}: start Docker, or say where it listens (--docker)`,
	EACCES: url => `this user may not use ${url}: be in the group that may (docker, mostly) when the agent starts, or run it as root`,
	ECONNRESET: broken,
	EPIPE: broken,
	EHOSTUNREACH: broken,
	ENETUNREACH: broken,
	ETIMEDOUT: broken,
};

function broken(url: string): string {
	return `the connection to ${url} broke: look whether Docker runs`;
}

/** dockerode's errors carry the status of the answer, and its JSON with a `message`. */
function engineError(what: string, error: unknown, address: EngineAddress): EngineError {
	if (error instanceof EngineError) return error;
	const {statusCode, json, message} = Object(error) as {statusCode?: unknown; json?: unknown; message?: unknown};
	const said = (Object(json) as {message?: unknown}).message ?? message;
	const text = `${what}: ${typeof said === 'string' ? said : String(error)}`;
	const lost = Object.entries(unreachable).find(([code]) => hasCode(error, code));
	if (lost !== undefined) return new EngineError('unreachable', `Docker's Engine cannot be reached: ${lost[1](engineUrlOf(address))}`);
	if (statusCode === 404) return new EngineError('notFound', text);
	return new EngineError(statusCode === 409 ? 'conflict' : 'refused', text);
}
