// What triggers of workflows see starts runs: each is a Run that is made, and taken once that is committed.
//
// The run of a time has a name that says which, so that no time has two. Nobody says a time or a change again, so a run for one that cannot be made just
// now is tried for a while; a message is sent again by its client.

import {isUtf8} from 'node:buffer';
import {controllerOf, ownerReferenceTo} from '../../actors/control/objects/owners.js';
import type {CreateObject} from '../../actors/control/objects/object-message.js';
import {underWayTerm} from '../../actors/control/workflows/run.js';
import {AppError} from '../../api/errors.js';
import {collectionAddress, objectKey} from '../../api/keys.js';
import type {Workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import {hashName} from '../../api/names.js';
import type {ApiObject, Draft, Json} from '../../api/object.js';
import {dataProblem} from '../../api/states-language/data-bounds.js';
import {causesAnnotations, scheduledTimeAnnotation, triggerLabel} from '../../api/triggered-run.js';
import {workflowLabel} from '../../api/workflow-label.js';
import type {Clock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import type {ControlPlane} from '../control-plane.js';
import {mayPass} from '../may-pass.js';
import type {Occasion, Seen, Taker} from '../triggers/occasion.js';
import type {OnGivenUp} from '../triggers/triggers.js';
import {termOver} from './task-parts.js';
import {untilBegun} from './try-again.js';

export type RunStartsOptions = {
	readonly control: Pick<ControlPlane, 'ask'> & {readonly index: Pick<ControlPlane['index'], 'get' | 'countByTerm'>};
	readonly clock: Clock;
	/** No run was started for what a trigger has seen. */
	readonly onGivenUp: OnGivenUp;
	/** The same, since another run of that trigger is under way and it allows none beside it. */
	readonly onPassedOver: (occasion: Occasion) => void;
};

export type RunStarts = Taker & {
	/** Nothing is tried any more. */
	readonly close: () => void;
};

type Parts = RunStartsOptions & {
	readonly closing: AbortController;
	/** Runs that are being made, by the key of their workflow, and by that and the trigger. */
	readonly coming: Map<string, number>;
	bytes: number;
};

export function createRunStarts(options: RunStartsOptions): RunStarts {
	const parts: Parts = {...options, closing: new AbortController(), coming: new Map(), bytes: 0};
	return {
		accept: occasion => accept(parts, occasion),
		checkRoom(occasions) {
			refuseClosed(parts);
			for (const occasion of occasions) {
				if (workflowOf(parts, occasion) === undefined) continue;
				refuseFull(parts, occasion);
				refuseTooMany(parts, occasion, 0);
			}
		},
		giveUp: ({target, trigger}, error) => options.onGivenUp({target, trigger: trigger.name}, error.message),
		close: () => parts.closing.abort(termOver),
	};
}

async function accept(parts: Parts, occasion: Occasion): Promise<void> {
	refuseClosed(parts);
	if (isBeside(parts, occasion)) return parts.onPassedOver(occasion);
	refuseFull(parts, occasion);
	const release = reserve(parts, occasion);
	try {
		const name = nameOf(occasion);
		await (occasion.seen.type === 'message' ? started(parts, occasion, name) : startedInTime(parts, occasion, name));
	} finally {
		release();
	}
}

function refuseClosed({closing}: Parts): void {
	if (closing.signal.aborted) throw new AppError('ERR_NOT_REACHABLE', {message: termOver.message});
}

/** One that is being deleted starts nothing any more. */
function workflowOf({control}: Parts, {target}: Occasion): Workflow | undefined {
	const workflow = control.index.get(objectKey(target.plural, target.namespace, target.name));
	return workflow === undefined || workflow.metadata.deletionTimestamp !== undefined ? undefined : (workflow as Workflow);
}

// ---- bounds ------------------------------------------------------------------------------------------------------------------

const workflowId = ({target}: Occasion): string => `${target.namespace}/${target.name}`;
const triggerId = (occasion: Occasion): string => `${workflowId(occasion)}/${occasion.trigger.name}`;

/** Whether it may begin beside no other, and there is one. */
function isBeside({control, coming}: Parts, occasion: Occasion): boolean {
	const {target, trigger} = occasion;
	if (trigger.concurrencyPolicy !== 'Forbid') return false;
	return (
		coming.has(triggerId(occasion)) || control.index.countByTerm('runs', underWayTerm(target.namespace, target.name, trigger.name)) > 0
	);
}

const busy = (message: string): AppError => new AppError('ERR_BUSY', {message: `${message}; try again`});

function refuseFull({coming, bytes}: Parts, occasion: Occasion): void {
	const {name} = occasion.target;
	if ((coming.get(workflowId(occasion)) ?? 0) >= limits.workflowStarts)
		throw busy(`${limits.workflowStarts} runs of the workflow "${name}" are being made because of triggers, as many as may`);
	if (bytes + bytesOf(occasion.seen) > limits.workflowStartsBytes)
		throw busy(
			`runs are being made because of triggers that begin with ${bytes} bytes together, and at most ${limits.workflowStartsBytes} may`,
		);
}

/** `own` are those of this one that are counted as coming already. */
function refuseTooMany({control, coming}: Parts, occasion: Occasion, own: 0 | 1): void {
	const {namespace, name} = occasion.target;
	const count = control.index.countByTerm('runs', underWayTerm(namespace, name)) + (coming.get(workflowId(occasion)) ?? 0) - own;
	if (count >= limits.workflowRunsUnderWay)
		throw busy(`${limits.workflowRunsUnderWay} runs of the workflow "${name}" are under way, as many as may`);
}

function reserve(parts: Parts, occasion: Occasion): () => void {
	const {coming} = parts;
	const ids = [workflowId(occasion), triggerId(occasion)];
	const bytes = bytesOf(occasion.seen);
	parts.bytes += bytes;
	for (const id of ids) coming.set(id, (coming.get(id) ?? 0) + 1);
	return () => {
		parts.bytes -= bytes;
		for (const id of ids) {
			const left = (coming.get(id) ?? 1) - 1;
			if (left === 0) coming.delete(id);
			else coming.set(id, left);
		}
	};
}

/** What one is in memory besides what it begins with. */
const aroundBytes = 1_024;

function bytesOf(seen: Seen): number {
	switch (seen.type) {
		case 'time':
			return aroundBytes + seen.params.length;
		case 'change':
			return aroundBytes + seen.object.length;
		case 'message':
			return aroundBytes + seen.payload.length;
	}
}

// ---- making ------------------------------------------------------------------------------------------------------------------

function startedInTime(parts: Parts, occasion: Occasion, name: string): Promise<true> {
	const {clock, closing} = parts;
	const untilMs = clock.monotonicMs() + limits.workflowStartMs;
	return untilBegun(clock, closing.signal, async () => {
		try {
			await started(parts, occasion, name);
			return true;
		} catch (error) {
			if (error instanceof AppError && mayPass(error.failure) && clock.monotonicMs() < untilMs) return undefined;
			throw error;
		}
	});
}

/** Resolves when there is the run. Throws AppError. */
async function started(parts: Parts, occasion: Occasion, name: string): Promise<void> {
	const {index, ask} = parts.control;
	const {target, trigger} = occasion;
	const workflow = workflowOf(parts, occasion);
	if (workflow === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'workflows.troupe.dev', name: target.name});
	refuseTooMany(parts, occasion, 1);
	const login = occasion.seen.type === 'message' ? occasion.seen.login : undefined;
	const cause = `trigger ${triggerId(occasion)}${login === undefined ? '' : ` mqtt ${login}`}`;
	// Another object may have the name by chance: a run that somebody made, or one of another workflow and trigger whose names come to the same.
	for (const candidate of [name, `${name}-${hashName(`${workflow.metadata.uid} ${trigger.name}`)}`]) {
		const key = objectKey('runs', target.namespace, candidate);
		if (index.get(key) === undefined) {
			const message: CreateObject = {type: 'create', object: draftOf(workflow, occasion, candidate)};
			const outcome = await ask(collectionAddress('runs'), message, {deadlineMs: limits.askDeadlineMs, cause});
			if (outcome.ok) return;
			if (outcome.error.code !== 'ERR_ALREADY_EXISTS') throw AppError.of(outcome.error);
		}
		if (isOf(index.get(key), workflow, trigger.name)) return;
	}
	throw new AppError('ERR_ALREADY_EXISTS', {resource: 'runs.troupe.dev', name});
}

const isOf = (run: ApiObject | undefined, {metadata: {uid}}: Workflow, trigger: string): boolean =>
	run !== undefined && run.metadata.labels?.[triggerLabel] === trigger && controllerOf(run)?.uid === uid;

/** Of a time always the same. */
const nameOf = ({target, trigger, seen}: Occasion): string =>
	`${target.name}-${trigger.name}-${seen.type === 'time' ? Math.floor(seen.atMs / 60_000) : randomName()}`;

const randomName = (): string => systemRandom.uuid().replaceAll('-', '').slice(0, 12);

function draftOf(workflow: Workflow, {target, trigger, seen}: Occasion, name: string): Draft {
	const input = inputOf(seen);
	const problem = dataProblem(input);
	if (problem !== undefined) throw new AppError('ERR_TOO_LARGE', {message: `what the run would begin with ${problem}`});
	return {
		apiVersion: 'troupe.dev/v1',
		kind: 'Run',
		metadata: {
			name,
			namespace: target.namespace,
			labels: {[workflowLabel]: target.name, [triggerLabel]: trigger.name},
			annotations: annotationsOf(seen),
			ownerReferences: [ownerReferenceTo(workflow)],
		},
		spec: {workflow: target.name, input},
	};
}

function annotationsOf(seen: Seen): {readonly [name: string]: string} {
	switch (seen.type) {
		case 'time':
			return {[scheduledTimeAnnotation]: new Date(seen.atMs).toISOString()};
		case 'change':
			return causesAnnotations(seen.causes);
		case 'message':
			return {};
	}
}

function inputOf(seen: Seen): Json {
	switch (seen.type) {
		case 'time':
			return JSON.parse(seen.params) as Json;
		case 'change':
			return {change: seen.change, object: JSON.parse(seen.object) as Json};
		case 'message':
			return {topic: seen.topic, ...payloadOf(seen)};
	}
}

/** JSON as it is, another text as a text, and what is no text in base64. */
function payloadOf({json, payload}: Extract<Seen, {type: 'message'}>): {readonly payload: Json; readonly encoding?: 'base64'} {
	if (json !== undefined) return {payload: json as Json};
	return isUtf8(payload) ? {payload: payload.toString()} : {payload: payload.toString('base64'), encoding: 'base64'};
}
