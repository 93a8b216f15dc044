// One call of a function: it waits for a slot of the function's activator, goes to the instance that it is given, and its answer comes back.
//
// What may be sent to another instance: a call of which nothing has reached the first, or that the first has refused before it began. Every call has one
// answer: that of the function, or an error that says why there is none.

import {request as httpRequest, type ClientRequest, type IncomingMessage} from 'node:http';
import type {DeleteObject} from '../../actors/control/objects/object-message.js';
import type {Acquire, Release, Slot} from '../../actors/control/functions/function-message.js';
import {isApart, isNewest, placeOfVersion} from '../../actors/control/functions/function-version.js';
import {revisionOf} from '../../actors/control/workloads/revisions.js';
import {activatorOf, activatorsAddress} from '../../actors/addresses.js';
import {AppError, type ErrorCode, type Outcome} from '../../api/errors.js';
import {runtimeOf, timeoutMsOf, type FunctionObject} from '../../api/kinds/function.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {objectAddress, objectKey, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {revisionFor} from '../../api/function-traffic.js';
import {systemRandom} from '../../system/time/random.js';
import {hasCode} from '../../system/files/errno.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import type {CallCounters, CountedCall} from './call-counters.js';
import type {Caller} from './caller.js';
import type {InstanceStarts} from './instance-starts.js';
import {InstanceNotReached, type InstanceConnections, type InstanceRequest} from './instance-connections.js';
import {isHopeless, whyNoInstance} from './why-no-instance.js';

export type FunctionName = {readonly namespace: string; readonly name: string};

export type CallParts = {
	readonly control: ControlPlane;
	readonly clock: Clock;
	readonly connections: InstanceConnections;
	readonly counters: Pick<CallCounters, 'begun'>;
	readonly starts: Pick<InstanceStarts, 'of'>;
};

/** Which instances take a call: those of a version with a number of its own; else the others, of one version only where there is a word for it. */
export type Wanted = Pick<Acquire, 'revision' | 'version'>;

/**
 * Calls a function for somebody, who gets the answer; where it says a version by its word, that one and no other. Throws AppError where there is no
 * answer of the function: ERR_VERSION_GONE where there is no such version any more.
 */
export async function callFunction(parts: CallParts, caller: Caller, fn: FunctionName, version?: string): Promise<void> {
	const {control, clock, counters, starts} = parts;
	const key = objectKey('functions', fn.namespace, fn.name);
	let wanted = wantedBy(control, key, caller.headers, version);
	const counted = counters.begun(functionAt(control, key));
	const cause = `${caller.door} calls ${key}`;
	const under: UnderWay = {upstream: undefined};
	let asked: Acquire | undefined;
	const release = (): void => {
		if (asked === undefined) return;
		const over: Release = {type: 'release', ticket: asked.ticket};
		asked = undefined;
		control.tell(activatorOf(fn.namespace, fn.name, wanted.revision), over, cause);
	};
	// Who goes gives the place up, also while it waits.
	const hears = caller.whenOver(isAnswered => {
		release();
		if (!isAnswered) counted.ends('left');
		under.upstream?.destroy();
	});
	try {
		const untilMs = clock.monotonicMs() + limits.functionHoldMs;
		let avoid: readonly string[] = [];
		for (let tries = 1; ; tries++) {
			counted.waits();
			asked = {type: 'acquire', function: key, ...wanted, ticket: `${caller.id}/${tries}`, avoid};
			const leftMs = untilMs - clock.monotonicMs();
			const waitMs = avoid.length === 0 ? leftMs : Math.min(leftMs, limits.functionAvoidMs);
			const slot = await unlessHopeless(parts, fn, wanted, slotOf(control, asked, cause, waitMs));
			if (caller.isGone()) return;
			if (slot === 'other') {
				release();
				wanted = wantedBy(control, key, caller.headers, version);
				continue;
			}
			if (slot === undefined) {
				release();
				if (avoid.length === 0 || clock.monotonicMs() >= untilMs)
					throw new AppError('ERR_NOT_REACHABLE', {message: whyNoInstance(control.index, fn, wanted, limits.functionHoldMs)});
				// There may be no others, and a runner that has died is soon started again.
				avoid = [];
				continue;
			}
			counted.goes(starts.of(slot.uid));
			const outcome = await attempt(parts, {caller, counted, key, slot, under, timeoutMs: timeoutOf(control, key)});
			release();
			if (outcome.type === 'answered') return;
			if (!outcome.isRepeatable) throw new AppError('ERR_INSTANCE_ENDED', {message: outcome.message});
			avoid = [...avoid, slot.uid];
		}
	} finally {
		release();
		counted.ends(caller.isGone() ? 'left' : 'failed');
		hears();
	}
}

function wantedBy(control: ControlPlane, key: ObjectKey, headers: Caller['headers'], version: string | undefined): Wanted {
	const fn = functionAt(control, key);
	if (fn === undefined) return {};
	if (version === undefined) return sharedBy(fn, control, headers);
	const place = placeOfVersion(fn, version, control.index);
	if (place === 'function') return {version};
	if (place !== undefined) return {revision: place};
	const {namespace, name} = parseObjectKey(key);
	const message = `the function "${namespace}/${name}" has no version "${version}" any more: its ReplicaSet was deleted, or the function was made anew`;
	throw new AppError('ERR_VERSION_GONE', {message});
}

/** As versions share the calls; the newest one, also where the one that is named is that, or is none. */
function sharedBy(fn: FunctionObject, {index}: ControlPlane, headers: Caller['headers']): Wanted {
	const revision = revisionFor(fn.spec?.traffic, headers, systemRandom.next());
	if (revision === undefined) return {};
	for (const set of index.byOwner(fn.metadata.uid))
		if (revisionOf(set) === revision) return isNewest(fn, set as ReplicaSet) ? {} : {revision};
	return {};
}

/** What goes to an instance just now. */
type UnderWay = {upstream: ClientRequest | undefined};

const functionAt = ({index}: ControlPlane, key: ObjectKey): FunctionObject | undefined => index.get(key) as FunctionObject | undefined;

const timeoutOf = (control: ControlPlane, key: ObjectKey): number => timeoutMsOf(functionAt(control, key)?.spec ?? {});

// ---- its slot --------------------------------------------------------------------------------------------------------------

/** Undefined: there was none in that time. `other`: slots of that version are given out somewhere else by now. */
async function slotOf(control: ControlPlane, asked: Acquire, cause: string, deadlineMs: number): Promise<Slot | 'other' | undefined> {
	const {revision, function: key} = asked;
	const {namespace, name} = parseObjectKey(key);
	for (let tries = 1; ; tries++) {
		const fn = functionAt(control, asked.function);
		if (fn === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
		// A function that has instances has an activator, too.
		const isThere = revision === undefined && (fn.status?.desired ?? 0) > 0;
		const to = tries === 1 && isThere ? activatorOf(namespace, name) : activatorsAddress;
		const outcome: Outcome<Slot> = await control.ask(to, asked, {deadlineMs, cause});
		if (outcome.ok) return outcome.value;
		const {error} = outcome;
		if (error.code === 'ERR_TIMEOUT') return undefined;
		if (error.code === 'ERR_ACTOR_STOPPED' && isElsewhere(control, asked)) return 'other';
		if (!notThere.has(error.code) || tries >= limits.routerTries) throw AppError.of(error);
	}
}

function isElsewhere(control: ControlPlane, {function: key, revision, version}: Acquire): boolean {
	const fn = functionAt(control, key);
	if (fn === undefined) return false;
	if (revision !== undefined) return !isApart(fn, revision);
	return version !== undefined && placeOfVersion(fn, version, control.index) !== 'function';
}

/** Rejects as soon as no instance will come. */
async function unlessHopeless<Value>({control, clock}: CallParts, fn: FunctionName, wanted: Wanted, slot: Promise<Value>): Promise<Value> {
	const fromMs = clock.monotonicMs();
	let cancel: Cancel = () => undefined;
	const hopeless = new Promise<never>((_, reject) => {
		const look = (): void => {
			const waitedMs = clock.monotonicMs() - fromMs;
			if (isHopeless(control.index, fn, wanted))
				reject(new AppError('ERR_NOT_REACHABLE', {message: whyNoInstance(control.index, fn, wanted, waitedMs)}));
			else cancel = clock.after(limits.functionLookMs, look);
		};
		cancel = clock.after(limits.functionLookMs, look);
	});
	try {
		return await Promise.race([slot, hopeless]);
	} finally {
		cancel();
	}
}

/** The activator was not there, or went before it had read the question. */
const notThere: ReadonlySet<ErrorCode> = new Set(['ERR_NO_SUCH_ACTOR', 'ERR_ACTOR_STOPPED']);

// ---- one try ---------------------------------------------------------------------------------------------------------------

type Attempt = {
	readonly caller: Caller;
	readonly key: ObjectKey;
	readonly counted: CountedCall;
	readonly slot: Slot;
	readonly timeoutMs: number;
	readonly under: UnderWay;
};

type Tried = {readonly type: 'answered'} | {readonly type: 'failed'; readonly message: string; readonly isRepeatable: boolean};

/** What a runner says of a call that it has not begun. */
const refusedHeader = 'x-troupe-refused';

async function attempt({control, connections, clock}: CallParts, {caller, counted, key, slot, timeoutMs, under}: Attempt): Promise<Tried> {
	const {method, path, headers, rest} = caller;
	const options: InstanceRequest = {agent: connections, method, path, headers, slot};
	const upstream = httpRequest(options);
	under.upstream = upstream;
	let isLate = false;
	let hasAnswer = false;
	const late = (): void => {
		isLate = true;
		upstream.destroy(new Error('it took too long'));
	};
	const overdueMs = timeoutMs + limits.functionOverdueMs;
	let cancel = clock.after(limits.forwardConnectMs + overdueMs, late);
	// The runner counts from when it has the call.
	upstream.once('socket', () => {
		cancel();
		cancel = clock.after(overdueMs, late);
	});
	try {
		const answer = await answerTo(upstream, caller);
		hasAnswer = true;
		if (answer.headers[refusedHeader] !== undefined && rest === undefined) {
			answer.resume();
			return {type: 'failed', message: 'every instance that was tried takes no calls just now', isRepeatable: true};
		}
		await caller.take(answer);
		counted.ends((answer.statusCode ?? 502) >= 500 ? 'failed' : 'answered');
		return {type: 'answered'};
	} catch (error) {
		// An answer that has begun may take long since its client does not read it.
		if (isLate && !hasAnswer) await replaceStuck(control, key, slot);
		if (caller.hasBegun() || caller.isGone()) {
			// What has begun as an answer cannot become another one: the client has to see that it is not whole.
			counted.ends('failed');
			caller.cut();
			return {type: 'answered'};
		}
		if (error instanceof AppError) throw error;
		if (isLate) throw new AppError('ERR_TIMEOUT', {address: `functions/${slot.pod}`, deadlineMs: timeoutMs}, error);
		if (error instanceof InstanceNotReached || (rest === undefined && isUnsent(error)))
			return {type: 'failed', message: (error as Error).message, isRepeatable: true};
		return {type: 'failed', message: `the instance ${slot.pod} ended before it answered: ${(error as Error).message}`, isRepeatable: false};
	} finally {
		cancel();
		under.upstream = undefined;
	}
}

/**
 * A runner answers in time, unless its function keeps it from all it does: no call would get through any more. It is another one's turn. A program of
 * its own has no such promise to keep.
 */
async function replaceStuck(control: ControlPlane, key: ObjectKey, {pod, uid}: Slot): Promise<void> {
	const fn = functionAt(control, key);
	if (runtimeOf(fn?.spec ?? {}) === 'program') return;
	const message: DeleteObject = {type: 'delete', uid};
	const cause = `a call of ${key} was not answered in its time`;
	// Whoever hears of the time-out may call again at once.
	await control.ask(objectAddress(objectKey('pods', fn?.metadata.namespace, pod)), message, {deadlineMs: limits.functionOverdueMs, cause});
}

const tooLarge = (): AppError => new AppError('ERR_TOO_LARGE', {message: `the body is larger than ${limits.functionBodyBytes} bytes`});

/** The instance had closed a connection that was kept: what is small enough goes in one write, which the kernel refuses as a whole. */
const isUnsent = (error: unknown): boolean => hasCode(error, 'EPIPE');

function answerTo(upstream: ClientRequest, {beginning, rest}: Caller): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		upstream.once('response', resolve);
		upstream.on('error', reject);
		upstream.once('close', () => reject(new Error('the connection ended')));
		if (rest === undefined) return void upstream.end(beginning);
		upstream.write(beginning);
		let bytes = beginning.length;
		rest.on('data', (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > limits.functionBodyBytes) upstream.destroy(tooLarge());
		});
		rest.pipe(upstream);
	});
}
