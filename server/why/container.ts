// Why a container is as it is: how it ended and how often, what it waits for, which probe fails.

import type {Container, ContainerStateTerminated, ContainerStatus, Pod, Probe} from '../../api/kinds/pod.js';
import type {ObjectEvent} from '../control-plane.js';
import {lengthText, newestEvent, timeOf, timesText, type Link, type LogWanted, type NextAction} from './finding.js';
import type {Troubled} from './trouble.js';

/** What is told of one container: `what` follows the words that name it. */
export type ContainerFinding = {
	readonly what: string;
	readonly link: Link;
	readonly next: NextAction | undefined;
};

type Look = {
	readonly pod: Pod;
	readonly container: Troubled;
	readonly events: readonly ObjectEvent[];
	readonly nowMs: number;
};

/** `container app`, `init container setup`. */
export const containerTitle = ({status, isInit}: Troubled): string => `${isInit ? 'init container' : 'container'} ${status.name}`;

export const fieldPathOf = ({status, isInit}: Troubled): string => `spec.${isInit ? 'initContainers' : 'containers'}{${status.name}}`;

const specOf = ({spec}: Pod, {status, isInit}: Troubled): Container | undefined =>
	(isInit ? spec?.initContainers : spec?.containers)?.find(({name}) => name === status.name);

/** How it ended last: of one that runs again, the run before. */
export const lastEnd = ({state, lastState}: ContainerStatus): ContainerStateTerminated | undefined =>
	state?.terminated ?? lastState?.terminated;

/** It ended, and did so before, or for good. */
export function crashFinding(look: Look): ContainerFinding {
	const {pod, container, nowMs} = look;
	const {status} = container;
	const end = lastEnd(status);
	const what = end === undefined ? 'ended' : endOf(end, look);
	const words = end === undefined ? undefined : wordsOf(end);
	const times = end === undefined ? '' : timesText(endsAlike(end, look));
	const finishedMs = timeOf(end?.finishedAt);
	return {
		what: what + times,
		link: {
			about: containerTitle(container),
			says: `${what}${times}${nowText(status, nowMs)}`,
			...(finishedMs === undefined ? {} : {atMs: finishedMs}),
			...(words === undefined ? logOf(pod, container) : {lines: words}),
		},
		next: restartOf(status) ?? nothingNext(pod),
	};
}

/** What the record keeps of its log. */
function wordsOf({message, reason}: ContainerStateTerminated): readonly string[] | undefined {
	if (message === undefined || message.trim() === '' || reason === 'NeverStarted') return undefined;
	return message.split('\n');
}

/** Where its log is; nothing where the pod has no node. */
export function logOf({metadata, spec}: Pod, {status: {name}}: Troubled): {readonly log?: LogWanted} {
	if (spec?.nodeName === undefined) return {};
	const {namespace = '', name: pod, uid} = metadata;
	return {log: {namespace, pod, uid, node: spec.nodeName, container: name}};
}

/** How often it ended so, as its events count it. */
function endsAlike({exitCode, reason}: ContainerStateTerminated, {container, events}: Look): number {
	const path = fieldPathOf(container);
	const aspect = `exit ${exitCode}${reason === 'OOMKilled' ? ` (${reason})` : ''}`;
	const event = events.findLast(each => each.fieldPath === path && each.aspect === aspect);
	return event?.count ?? container.status.restartCount;
}

const signals: {readonly [signal: number]: string} = {
	1: 'SIGHUP',
	2: 'SIGINT',
	3: 'SIGQUIT',
	4: 'SIGILL',
	6: 'SIGABRT',
	7: 'SIGBUS',
	8: 'SIGFPE',
	9: 'SIGKILL',
	11: 'SIGSEGV',
	13: 'SIGPIPE',
	15: 'SIGTERM',
};

/** What a shell means by it. */
const meanings: {readonly [code: number]: string} = {
	126: ', which a shell says of a file that it may not run',
	127: ', which a shell says of a program that it does not find',
};

function endOf(end: ContainerStateTerminated, look: Look): string {
	const asked = askedFor(look);
	return asked ?? `${endText(end, specOf(look.pod, look.container))}${afterText(end)}`;
}

function endText({exitCode, signal = 0, reason}: ContainerStateTerminated, spec: Container | undefined): string {
	switch (reason ?? '') {
		case 'OOMKilled': {
			const limit = spec?.resources?.limits?.['memory'];
			return `was killed for using more memory than ${limit === undefined ? 'there was for it' : `its limit of ${limit}`}`;
		}
		case 'LostOnReboot':
			return 'ended with a restart of its host';
		case 'NeverStarted':
			return 'was stopped before it ever ran';
	}
	if (exitCode < 0) return 'ended while its agent was away, and its exit code is not known';
	if (signal > 0) return `was killed by ${signalText(signal)}`;
	const after = exitCode > 128 && signals[exitCode - 128] !== undefined ? `, as after ${signalText(exitCode - 128)}` : '';
	return exitCode === 0 ? 'ended by itself with 0' : `exited with ${exitCode}${meanings[exitCode] ?? after}`;
}

const signalText = (signal: number): string => `signal ${signal}${signals[signal] === undefined ? '' : ` (${signals[signal]})`}`;

function afterText({startedAt, finishedAt}: ContainerStateTerminated): string {
	const [from, to] = [timeOf(startedAt), timeOf(finishedAt)];
	return from === undefined || to === undefined || to < from ? '' : ` after ${lengthText(to - from)}`;
}

/** How long after an end was asked for it may come. */
const askedMs = 60_000;

/** A probe or a hook asked for the end; undefined: nothing did. */
function askedFor({container, events}: Look): string | undefined {
	const path = fieldPathOf(container);
	const crashed = newestEvent(events, ['Crashed', 'Completed'], path);
	const asked = newestEvent(events, ['Killing', 'FailedPostStartHook'], path);
	if (crashed === undefined || asked === undefined) return undefined;
	const byMs = crashed.lastAtMs - asked.lastAtMs;
	if (byMs < 0 || byMs > askedMs) return undefined;
	const probe = /failed its (startup|liveness) probe/.exec(asked.message)?.[1];
	if (probe === undefined)
		return asked.reason === 'FailedPostStartHook' ? `was ended since its postStart hook failed: ${reasonIn(asked.message)}` : undefined;
	const told = events.findLast(each => each.reason === 'Unhealthy' && each.fieldPath === path && each.aspect === probe);
	return `was ended since its ${probe} probe failed${told === undefined ? '' : ` (${told.message})`}`;
}

const reasonIn = (message: string): string => message.split('it is ended: ').at(-1) ?? message;

/** What it does at the moment. */
function nowText({state}: ContainerStatus, nowMs: number): string {
	const sinceMs = timeOf(state?.running?.startedAt);
	return sinceMs === undefined ? '' : `; it has run again for ${lengthText(nowMs - sinceMs)}`;
}

export function restartOf({state, restartCount}: ContainerStatus): NextAction | undefined {
	const atMs = timeOf(state?.waiting?.retryAt);
	if (atMs === undefined) return undefined;
	const number = state?.waiting?.retry ?? restartCount + 1;
	return {says: state?.waiting?.reason === 'CrashLoopBackOff' ? `restart attempt ${number}` : `attempt ${number} to start it`, atMs};
}

function nothingNext({spec, metadata}: Pod): NextAction | undefined {
	const isOwned = metadata.ownerReferences?.some(({controller}) => controller === true) === true;
	return spec?.restartPolicy === 'Never' && !isOwned ? {says: 'nothing: its restartPolicy is Never'} : undefined;
}

/** It waits, and says for what. */
export function waitFinding({container}: Look): ContainerFinding {
	const {status} = container;
	const {reason = 'ContainerCreating', message = ''} = status.state?.waiting ?? {};
	const what = waitText(reason, message);
	return {what, link: {about: containerTitle(container), says: `${what} (${reason})`}, next: restartOf(status)};
}

function waitText(reason: string, message: string): string {
	switch (reason) {
		case 'ContainerCreating':
			return 'is being started';
		case 'PodInitializing':
			return 'waits for the init containers';
		case 'Stopping':
			return 'is being stopped';
		case 'CreateContainerConfigError':
			return `waits: ${message}`;
		case 'FailedMount':
			return `waits for a volume: ${message}`;
		case 'SandboxFailed':
			return `gets no sandbox: ${message}`;
		case 'LeaseLost':
			return `waits: ${message}`;
	}
	return message === '' ? `cannot start (${reason})` : `cannot start: ${withoutName(message)}`;
}

/** Messages of a node name the container once more. */
const withoutName = (message: string): string => message.replace(/^container "[^"]*" (cannot start: )?/, '');

// ---- probes --------------------------------------------------------------------------------------------------------------

/** It runs and is not ready: a probe says so, or has not said anything yet. */
export function unreadyFinding(look: Look): ContainerFinding & {readonly isWrong: boolean} {
	const {pod, container, events, nowMs} = look;
	const {status} = container;
	const spec = specOf(pod, container);
	const kind = status.started === true || spec?.startupProbe === undefined ? 'readiness' : 'startup';
	const probe = kind === 'startup' ? spec?.startupProbe : spec?.readinessProbe;
	const sinceMs = timeOf(status.state?.running?.startedAt);
	const told = events.findLast(each => each.reason === 'Unhealthy' && each.fieldPath === fieldPathOf(container) && each.aspect === kind);
	const isOld = told !== undefined && sinceMs !== undefined && told.lastAtMs < sinceMs;
	const failing = isOld ? undefined : told;
	const what =
		failing === undefined
			? `${sinceMs === undefined ? 'runs' : `has run for ${lengthText(nowMs - sinceMs)}`}, and its ${kind} probe has not passed yet`
			: `runs, and its ${kind} probe fails${timesText(failing.count)}: ${probeMessage(failing.message)}`;
	return {
		what,
		link: {
			about: containerTitle(container),
			says: what,
			...(failing === undefined ? {} : {atMs: failing.lastAtMs}),
			...logOf(pod, container),
		},
		next: probe === undefined ? undefined : {says: probeNext(kind, probe)},
		isWrong: failing !== undefined,
	};
}

const probeMessage = (message: string): string => message.replace(/^(Startup|Readiness|Liveness) probe (failed: |errored: )?/, '');

function probeNext(kind: 'startup' | 'readiness', {periodSeconds = 10, failureThreshold = 3}: Probe): string {
	const again = `the ${kind} probe is tried every ${periodSeconds} s`;
	return kind === 'startup' ? `${again}; after ${failureThreshold} failures in a row the container is restarted` : again;
}
