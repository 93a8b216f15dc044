// One call of a function: it waits for a slot of the function's activator, goes to the instance that it is given, and its answer comes back. Both ways
// are streams; of a body only its beginning is kept, as long as it may be sent again.
//
// What may be sent to another instance: a call of which nothing has reached the first, or that the first has refused before it began. Every call has one
// answer: that of the function, or an error that says why there is none.

import {request as httpRequest, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse} from 'node:http';
import type {Acquire, Release, Slot} from '../../actors/control/functions/function-message.js';
import {activatorOf, activatorsAddress} from '../../actors/addresses.js';
import {connectionFields, namedByConnection} from '../../api/connection-fields.js';
import {AppError, type ErrorCode, type Outcome} from '../../api/errors.js';
import {timeoutMsOf, type FunctionObject} from '../../api/kinds/function.js';
import {objectKey, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Identity} from '../../api/roles.js';
import {hasCode} from '../../system/files/errno.js';
import {systemRandom} from '../../system/time/random.js';
import type {Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import {ClientGone} from '../http/body.js';
import {createCallCounters, type CallCounters, type CountedCall} from './call-counters.js';
import {InstanceConnections, InstanceNotReached, type ConnectHere, type InstanceRequest} from './instance-connections.js';
import {whyNoInstance} from './why-no-instance.js';

export type FunctionCallsOptions = {readonly control: ControlPlane; readonly clock: Clock; readonly connectHere: ConnectHere};

export type FunctionName = {readonly namespace: string; readonly name: string};

/** A request at a door. */
export type IncomingCall = {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly method: string;
	/** Who calls. */
	readonly identity: Pick<Identity, 'name'>;
};

export type FunctionCalls = {
	/** Calls the function with the request, whose path for the function is `path`, and answers. Throws AppError where there is no answer of it. */
	readonly call: (incoming: IncomingCall, fn: FunctionName, path: string) => Promise<void>;
	readonly counters: Pick<CallCounters, 'sinceMs' | 'of'>;
	/** Connections that wait for calls are closed. */
	readonly close: () => void;
};

export function createFunctionCalls(options: FunctionCallsOptions): FunctionCalls {
	const connections = new InstanceConnections(options);
	const counters = createCallCounters(options.clock);
	return {
		call: (incoming, fn, path) => call({...options, connections, counters}, incoming, fn, path),
		counters,
		close: () => connections.destroy(),
	};
}

type Parts = FunctionCallsOptions & {readonly connections: InstanceConnections; readonly counters: CallCounters};

async function call(parts: Parts, incoming: IncomingCall, fn: FunctionName, path: string): Promise<void> {
	const {control, clock, counters} = parts;
	const {request, response} = incoming;
	const key = objectKey('functions', fn.namespace, fn.name);
	const body = await beginningOf(request);
	const counted = counters.begun(functionAt(control, key));
	const id = systemRandom.uuid();
	const cause = `http ${incoming.identity.name} calls ${key}`;
	const under: UnderWay = {upstream: undefined};
	let asked: Acquire | undefined;
	const release = (): void => {
		if (asked === undefined) return;
		const over: Release = {type: 'release', ticket: asked.ticket};
		asked = undefined;
		control.tell(activatorOf(fn.namespace, fn.name), over, cause);
	};
	// A client that goes gives its place up, also while it waits.
	const gone = (): void => {
		release();
		if (!response.writableFinished) counted.ends('left');
		under.upstream?.destroy();
	};
	response.once('close', gone);
	try {
		const untilMs = clock.monotonicMs() + limits.functionHoldMs;
		let avoid: readonly string[] = [];
		for (let tries = 1; ; tries++) {
			counted.waits();
			asked = {type: 'acquire', function: key, ticket: `${id}/${tries}`, avoid};
			const leftMs = untilMs - clock.monotonicMs();
			const slot = await slotOf(control, asked, cause, avoid.length === 0 ? leftMs : Math.min(leftMs, limits.functionAvoidMs));
			if (response.destroyed) return;
			if (slot === undefined) {
				release();
				if (avoid.length === 0 || clock.monotonicMs() >= untilMs)
					throw new AppError('ERR_NOT_REACHABLE', {message: whyNoInstance(control.index, fn, limits.functionHoldMs)});
				// There may be no others, and a runner that has died is soon started again.
				avoid = [];
				continue;
			}
			counted.goes();
			const outcome = await attempt(parts, {incoming, counted, slot, path, body, id, under, timeoutMs: timeoutOf(control, key)});
			release();
			if (outcome.type === 'answered') return;
			if (!outcome.isRepeatable) throw new AppError('ERR_INSTANCE_ENDED', {message: outcome.message});
			avoid = [...avoid, slot.uid];
		}
	} finally {
		release();
		counted.ends(response.destroyed ? 'left' : 'failed');
		response.off('close', gone);
	}
}

/** What goes to an instance just now. */
type UnderWay = {upstream: ClientRequest | undefined};

const functionAt = ({index}: ControlPlane, key: ObjectKey): FunctionObject | undefined => index.get(key) as FunctionObject | undefined;

const timeoutOf = (control: ControlPlane, key: ObjectKey): number => timeoutMsOf(functionAt(control, key)?.spec ?? {});

// ---- its body --------------------------------------------------------------------------------------------------------------

type Body = {
	/** What came first of it. */
	readonly beginning: Buffer;
	/** There is no more. */
	readonly isWhole: boolean;
};

/** A small body is read to its end before anything waits for it. */
async function beginningOf(request: IncomingMessage): Promise<Body> {
	if (Number(request.headers['content-length'] ?? 0) > limits.functionBodyBytes)
		throw new AppError('ERR_TOO_LARGE', {message: `the body is larger than ${limits.functionBodyBytes} bytes`});
	const chunks: Buffer[] = [];
	let bytes = 0;
	return new Promise((resolve, reject) => {
		const done = (isWhole: boolean): void => {
			request.pause();
			request.off('data', take).off('end', whole).off('close', broken).off('error', broken);
			resolve({beginning: Buffer.concat(chunks), isWhole});
		};
		const take = (chunk: Buffer): void => {
			chunks.push(chunk);
			bytes += chunk.length;
			if (bytes > limits.functionKeptBodyBytes) done(false);
		};
		const whole = (): void => done(true);
		const broken = (): void => reject(new ClientGone('the client closed the connection'));
		request.on('data', take).on('end', whole).on('close', broken).on('error', broken);
	});
}

// ---- its slot --------------------------------------------------------------------------------------------------------------

/** Undefined: there was none in that time. */
async function slotOf(control: ControlPlane, asked: Acquire, cause: string, deadlineMs: number): Promise<Slot | undefined> {
	const {namespace, name} = parseObjectKey(asked.function);
	for (let tries = 1; ; tries++) {
		const fn = functionAt(control, asked.function);
		if (fn === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
		// A function that has instances has an activator, too.
		const to = tries === 1 && (fn.status?.desired ?? 0) > 0 ? activatorOf(namespace, name) : activatorsAddress;
		const outcome: Outcome<Slot> = await control.ask(to, asked, {deadlineMs, cause});
		if (outcome.ok) return outcome.value;
		const {error} = outcome;
		if (error.code === 'ERR_TIMEOUT') return undefined;
		if (!notThere.has(error.code) || tries >= limits.routerTries) throw AppError.of(error);
	}
}

/** The activator was not there, or went before it had read the question. */
const notThere: ReadonlySet<ErrorCode> = new Set(['ERR_NO_SUCH_ACTOR', 'ERR_ACTOR_STOPPED']);

// ---- one try ---------------------------------------------------------------------------------------------------------------

type Attempt = {
	readonly incoming: IncomingCall;
	readonly counted: CountedCall;
	readonly slot: Slot;
	readonly path: string;
	readonly body: Body;
	readonly id: string;
	readonly timeoutMs: number;
	readonly under: UnderWay;
};

type Tried = {readonly type: 'answered'} | {readonly type: 'failed'; readonly message: string; readonly isRepeatable: boolean};

/** What a runner says of a call that it has not begun. */
const refusedHeader = 'x-troupe-refused';

async function attempt({connections, clock}: Parts, {incoming, counted, slot, path, body, id, timeoutMs, under}: Attempt): Promise<Tried> {
	const {request, response, method} = incoming;
	const options: InstanceRequest = {agent: connections, method, path, headers: requestHeaders(request, id), slot};
	const upstream = httpRequest(options);
	under.upstream = upstream;
	const cancel = clock.after(timeoutMs + limits.functionOverdueMs, () => void upstream.destroy(new CallTimeout()));
	try {
		const answer = await answerTo(upstream, request, body);
		if (answer.headers[refusedHeader] !== undefined && body.isWhole) {
			answer.resume();
			return {type: 'failed', message: 'every instance that was tried takes no calls just now', isRepeatable: true};
		}
		await passOn(answer, incoming);
		counted.ends((answer.statusCode ?? 502) >= 500 ? 'failed' : 'answered');
		return {type: 'answered'};
	} catch (error) {
		if (response.headersSent || response.destroyed) {
			// What has begun as an answer cannot become another one: the client has to see that it is not whole.
			counted.ends('failed');
			response.destroy();
			return {type: 'answered'};
		}
		if (error instanceof CallTimeout) throw new AppError('ERR_TIMEOUT', {address: `functions/${slot.pod}`, deadlineMs: timeoutMs}, error);
		if (error instanceof InstanceNotReached || (body.isWhole && isUnsent(error)))
			return {type: 'failed', message: (error as Error).message, isRepeatable: true};
		return {type: 'failed', message: `the instance ${slot.pod} ended before it answered: ${(error as Error).message}`, isRepeatable: false};
	} finally {
		cancel();
		under.upstream = undefined;
	}
}

class CallTimeout extends Error {}

/** The instance had closed a connection that was kept: what is small enough goes in one write, which the kernel refuses as a whole. */
const isUnsent = (error: unknown): boolean => hasCode(error, 'EPIPE');

function answerTo(upstream: ClientRequest, request: IncomingMessage, {beginning, isWhole}: Body): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		upstream.once('response', resolve);
		upstream.on('error', reject);
		upstream.once('close', () => reject(new Error('the connection ended')));
		if (isWhole) return void upstream.end(beginning);
		upstream.write(beginning);
		request.pipe(upstream);
	});
}

async function passOn(answer: IncomingMessage, {response}: IncomingCall): Promise<void> {
	response.writeHead(answer.statusCode ?? 502, passedOn(answer));
	// Of an answer that streams the head may be all that there is for long.
	if (answer.headers['content-length'] === undefined) response.flushHeaders();
	await new Promise<void>((resolve, reject) => {
		answer.once('error', reject);
		response.once('finish', resolve);
		response.once('close', resolve);
		answer.pipe(response);
	});
}

/** Whose token it is, is nothing for the function; a body that its sender wanted to be asked for is wanted. */
const ofCaller = new Set(['authorization', 'expect', 'host', 'x-forwarded-for', 'x-real-ip']);

function requestHeaders(request: IncomingMessage, id: string): OutgoingHttpHeaders {
	const {headers, socket} = request;
	return {
		...passedOn(request, name => !ofCaller.has(name)),
		...(headers['transfer-encoding'] === undefined ? {} : {'transfer-encoding': 'chunked'}),
		host: 'function',
		'x-request-id': headers['x-request-id'] ?? id,
		'x-forwarded-for': socket.remoteAddress ?? '',
	};
}

function passedOn({headers, rawHeaders}: IncomingMessage, isMeant: (name: string) => boolean = () => true): OutgoingHttpHeaders {
	const dropped = namedByConnection(rawHeaders);
	const isKept = (name: string): boolean =>
		!connectionFields.has(name) && name !== 'trailer' && dropped?.has(name) !== true && isMeant(name);
	return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
}
