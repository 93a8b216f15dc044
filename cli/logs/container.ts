// The log of one container, followed from attempt to attempt until it writes no more.
//
// A connection that is cut is opened again at the byte that comes next, so no line is lost and none comes twice. Of attempts that
// end faster than they are read only the last two are kept; one that was missed is told.

import {AppError} from '../../api/errors.js';
import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {attemptsResource} from '../../api/log-place.js';
import type {Client, Query} from '../client.js';
import type {Terminal} from '../screen/terminal.js';
import type {Patience} from './patience.js';
import type {FollowedPods} from './pods.js';
import type {Signal} from './signal.js';
import type {Sink} from './sink.js';
import {look, statusOf} from './streams.js';
import type {LogWish} from './wish.js';

export type FollowContext = {
	readonly client: Client;
	readonly terminal: Terminal;
	readonly namespace: string;
	readonly wish: LogWish;
	readonly followed: FollowedPods;
	readonly signal: Signal;
	readonly patience: () => Patience;
};

export type One = {
	readonly pod: Pod;
	readonly container: string;
	readonly sink: Sink;
	/** Its notes say of which pod they are. */
	readonly isNamed: boolean;
};

/** Where the reading is. */
type At =
	/** Nothing was read yet. */
	| {readonly type: 'nowhere'}
	| {readonly type: 'within'; readonly attempt: number}
	/** All of it was read, as far as the server knew. */
	| {readonly type: 'after'; readonly attempt: number};

/** Resolves when the container has ended for good, or is gone. Throws what no other try would mend. */
export async function followContainer(around: FollowContext, one: One): Promise<void> {
	const {followed, signal, patience, terminal} = around;
	const {container, sink} = one;
	const {uid, name} = one.pod.metadata;
	const whose = one.isNamed ? `${name}: ` : '';
	let at: At = {type: 'nowhere'};
	let tries = patience();
	let lagMs: number = limits.logAgainFirstMs;
	let said = '';
	for (;;) {
		const pod = followed.pods.get(uid);
		const status = pod === undefined ? undefined : statusOf(pod, container);
		const step = nextStep(at, pod, status);
		if (step.type === 'end') return;
		if (step.type === 'wait') {
			if (step.note !== '' && step.note !== said) terminal.note(`note: ${whose}container ${container} waits: ${step.note}`);
			said = step.note;
			await signal.raised();
			continue;
		}
		if (step.type === 'lag') {
			await signal.raised(lagMs);
			lagMs = Math.min(lagMs * 2, limits.logAgainMaxMs);
		}
		if (step.type === 'restart') {
			terminal.note(`--- ${whose}container ${container} restarted: ${step.why} ---`);
			sink.begin(0);
			at = {type: 'within', attempt: step.attempt};
		}
		try {
			const offsetBefore = sink.offset();
			const looked = await look({...around, pod: name, container, query: queryOf(around.wish, at, offsetBefore)});
			if (at.type === 'nowhere') sink.begin(looked.offset);
			else sink.begin(offsetBefore);
			at = {type: 'within', attempt: looked.attempt};
			for await (const bytes of looked.bytes) {
				await sink.take(bytes);
				tries = patience();
				lagMs = limits.logAgainFirstMs;
			}
			await sink.end();
			at = {type: 'after', attempt: looked.attempt};
		} catch (error) {
			const missed = at.type === 'nowhere' ? undefined : missedOf(error);
			if (missed !== undefined && at.type !== 'nowhere') {
				terminal.note(`note: ${whose}what attempt ${at.attempt} of container ${container} wrote is not kept any more`);
				sink.begin(0);
				at = {type: 'after', attempt: at.attempt};
			} else if (error instanceof AppError && (error.code === 'ERR_NOT_FOUND' || isGoing(error, followed.pods.get(uid)))) return;
			else if (error instanceof AppError && error.code === 'ERR_BAD_REQUEST') await signal.raised(limits.logAgainMaxMs);
			else await tries.wait(error);
		}
	}
}

/** Whether there is nothing to be read any more because the pod is deleted. */
const isGoing = ({code}: AppError, pod: Pod | undefined): boolean =>
	code === 'ERR_INTERNAL' && (pod === undefined || pod.metadata.deletionTimestamp !== undefined);

type LogStep =
	| {readonly type: 'look'}
	/** The log is at its end and the container runs: the news of its end is under way, or the server ended the answer. */
	| {readonly type: 'lag'}
	| {readonly type: 'restart'; readonly attempt: number; readonly why: string}
	| {readonly type: 'wait'; readonly note: string}
	| {readonly type: 'end'};

/** What to do next, as the pod is now; undefined: it is gone. Pure. */
export function nextStep(at: At, pod: Pod | undefined, status: ContainerStatus | undefined): LogStep {
	if (at.type === 'within') return {type: 'look'};
	if (pod === undefined) return {type: 'end'};
	const {state, lastState, restartCount = 0} = status ?? {};
	const isFinal = state?.terminated !== undefined || ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');
	if (at.type === 'nowhere') {
		const hasRun = state?.running ?? state?.terminated ?? lastState?.terminated;
		if (hasRun !== undefined) return {type: 'look'};
		return isFinal ? {type: 'end'} : {type: 'wait', note: whyNot(pod, status)};
	}
	if (restartCount > at.attempt) return {type: 'restart', attempt: at.attempt + 1, why: endOf(lastState?.terminated ?? state?.terminated)};
	if (isFinal) return {type: 'end'};
	return state?.running === undefined ? {type: 'wait', note: ''} : {type: 'lag'};
}

function whyNot({spec}: Pod, status: ContainerStatus | undefined): string {
	const {reason, message} = status?.state?.waiting ?? {};
	if (reason !== undefined) return message === undefined || message === '' ? reason : `${reason}: ${message}`;
	return (spec?.nodeName ?? '') === '' ? 'the pod has no node yet' : 'ContainerCreating';
}

const endOf = (terminated: {readonly exitCode: number} | undefined): string =>
	terminated === undefined || terminated.exitCode < 0 ? 'its exit code is not known' : `exit ${terminated.exitCode}`;

function queryOf({from, timestamps}: LogWish, at: At, offset: number): Query {
	const common = {follow: true, ...(timestamps ? {timestamps} : {})};
	return at.type === 'nowhere' ? {...common, ...from} : {...common, attempt: at.attempt, offset};
}

/** The attempt that is not kept any more, when that is what went wrong. */
function missedOf(error: unknown): string | undefined {
	if (!(error instanceof AppError) || error.code !== 'ERR_NOT_FOUND') return undefined;
	const {kind, name} = error.failure.details;
	return kind === attemptsResource && typeof name === 'string' ? name : undefined;
}
