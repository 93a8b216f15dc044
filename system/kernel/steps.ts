// Turns and steps of cells. A step is pure: behaviour, state and message in, new state and effects out. What changes the object is
// committed first; only then is the new state real and do the effects run. A step that throws changes nothing.

import {failure, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import type {CommitOutcome, Submission} from './actor-options.js';
import {isReply, type Next, type Signal} from './behavior.js';
import type {Cell, Hold, Parked} from './cell.js';
import {refuse, reply} from './delivery.js';
import {finish} from './endings.js';
import {following, seen} from './following.js';
import {outcomeType, runEffect} from './interpreter.js';
import type {Kernel} from './kernel.js';
import type {Envelope, WaitingSignal} from './mailbox.js';
import type {Change} from '../index/object-index.js';
import {crashOf, stackOf} from './observer.js';
import type {StepTrigger} from './probe.js';
import {restoredBy, runOn, unchanged, type StepCall} from './step-call.js';
import {StepContext} from './step-context.js';

/** Handles what waits, up to a bound; whether more waits. */
export function turn(kernel: Kernel, cell: Cell): boolean {
	for (let handled = 0; handled < limits.cellBatchMessages; handled++) {
		if (cell.committing || cell.status !== 'running') return false;
		const signal = cell.mailbox.takeSignal();
		if (signal !== undefined) {
			handleSignal(kernel, cell, signal);
			continue;
		}
		const envelope = cell.held === undefined ? cell.mailbox.take() : takeHeld(cell, cell.held);
		if (envelope === undefined) return false;
		handle(kernel, cell, envelope);
	}
	return !cell.mailbox.isEmpty;
}

/** A message that a paused actor may take all the same. */
function takeHeld(cell: Cell, held: Hold): Envelope | undefined {
	if (held.left === 0) return undefined;
	const envelope = cell.mailbox.take();
	if (envelope !== undefined) held.left--;
	return envelope;
}

function handleSignal(kernel: Kernel, cell: Cell, waiting: WaitingSignal): void {
	if (cell.behavior.signal === undefined || cell.state === undefined) return;
	const {span} = waiting;
	const signal: Signal = span === undefined ? waiting : withoutSpan(waiting);
	const from = signal.type === 'down' ? signal.address : cell.address;
	const trigger: StepTrigger = {message: signal, from, cause: `signal ${signal.type}`};
	step(kernel, cell, span === undefined ? trigger : {...trigger, span}, {type: 'signal', signal});
}

const withoutSpan = ({span: _span, ...signal}: WaitingSignal): Signal => signal;

function handle(kernel: Kernel, cell: Cell, envelope: Envelope): void {
	const {message, timer} = envelope;
	if (timer !== undefined) {
		if (cell.timers.get(timer.name) !== timer) return; // Cancelled or replaced after it fell due.
		cell.timers.delete(timer.name);
	}
	kernel.counters.messages++;
	cell.handled++;
	if (message.type === outcomeType && isReply(message)) cell.pending.delete(message.id);
	if (cell.parked !== undefined && isHeldBack(kernel, cell, cell.parked, envelope)) return;
	step(kernel, cell, envelope, {type: 'receive', message});
}

const meanwhile: StepCall = {type: 'meanwhile'};

/** Whether the message is not for `receive`, since the actor is parked. */
function isHeldBack(kernel: Kernel, cell: Cell, {error}: Parked, envelope: Envelope): boolean {
	const {parking} = cell.behavior;
	const {message} = envelope;
	if (cell.state === undefined) {
		if (cell.object !== undefined && parking?.forces?.(cell.object, message) === true) removeUnread(kernel, cell, envelope);
		else refuse(kernel, cell.address, envelope, 'crashed', error);
		return true;
	}
	if (parking?.rests(message) !== true) return false;
	if (parking.meanwhile !== undefined) step(kernel, cell, envelope, meanwhile);
	return true;
}

/** Removes an object of which no state can be made: there is no step to ask. */
function removeUnread(kernel: Kernel, cell: Cell, envelope: Envelope): void {
	const {object, key} = cell;
	const {replyTo} = envelope.message;
	if (object === undefined || key === undefined) return;
	commit(kernel, cell, {key, object: undefined}, envelope, outcome => {
		if (replyTo !== undefined) reply(kernel, replyTo, outcome.ok ? {ok: true, value: object} : outcome, cell.address, envelope.cause);
		if (outcome.ok) finish(kernel, cell, {type: 'normal'});
	});
}

/** Runs one pure function of the behaviour and adopts what it returns; a throw crashes the cell. */
export function step(kernel: Kernel, cell: Cell, unseen: StepTrigger, call: StepCall): void {
	const {clock, observer} = kernel.options;
	const trigger = seen(kernel, cell, unseen, call);
	try {
		const startedMs = clock.monotonicMs();
		const context = new StepContext(kernel, cell, trigger.cause);
		if (call.type === 'resume') cell.state = restoredBy(cell.behavior, call);
		const next = runOn(cell.behavior, cell.state, call, trigger.seen === undefined ? context : trigger.seen.context(context));
		const tookMs = clock.monotonicMs() - startedMs;
		cell.stepMicros += Math.round(tookMs * 1_000);
		trigger.seen?.ran(next ?? unchanged(cell.state), tookMs);
		if (tookMs > limits.slowStepMs) {
			kernel.counters.slowSteps++;
			observer?.slowStep?.({address: cell.address, messageType: trigger.message.type, ms: tookMs});
		}
		if (next === undefined) notUnderstood(kernel, cell, trigger);
		else adopt(kernel, cell, next, trigger);
	} catch (error) {
		stepFailed(kernel, cell, trigger, error);
	}
}

/** Nothing has happened but that the message came. */
function notUnderstood(kernel: Kernel, cell: Cell, {message, from, cause, seen: watched}: StepTrigger): void {
	const error = failure('ERR_BAD_REQUEST', {message: `"${cell.address}" knows no message ${shown(message.type)}`});
	watched?.notUnderstood(error);
	refuse(kernel, cell.address, {message, from, cause, outside: false}, 'notUnderstood', error);
}

/** A bug in a step, be it in the behaviour or in what its effects set going, harms this actor alone. */
function stepFailed(kernel: Kernel, cell: Cell, {message, from, cause, seen: watched}: StepTrigger, error: unknown): void {
	const crashed = crashOf(cell.address, error);
	watched?.crashed(crashed);
	cell.committing = false; // A commit that was taken throws nothing here.
	following(kernel, watched?.span ?? kernel.span, () => {
		refuse(kernel, cell.address, {message, from, cause, outside: false}, 'crashed', crashed);
		kernel.crash(cell, crashed, message.type, stackOf(error));
	});
}

/** Makes the outcome of a step real: at once, or after its commit. */
export function adopt(kernel: Kernel, cell: Cell, next: Next<unknown>, trigger: StepTrigger): void {
	const {persistence} = cell.behavior;
	const candidate = persistence?.objectOf(next.state);
	const {beside} = next;
	const isSame = candidate === cell.object && beside === undefined;
	if (persistence === undefined || kernel.options.persistent === undefined || isSame) {
		cell.state = next.state;
		trigger.seen?.real(false);
		finishStep(kernel, cell, next, cell.object, trigger);
		return;
	}
	const key = candidate === undefined ? persistence.key(cell.state ?? next.state) : persistence.key(next.state);
	commit(kernel, cell, {key, object: candidate, beside}, trigger, outcome => {
		if (outcome.ok) committed(kernel, cell, next, outcome.change, trigger);
		else notCommitted(kernel, cell, next, outcome.error, trigger);
	});
}

/** Until the commit is decided the cell takes no further message. */
function commit(
	kernel: Kernel,
	cell: Cell,
	write: Omit<Submission, 'done'>,
	trigger: StepTrigger,
	done: (outcome: CommitOutcome) => void,
): void {
	const {instance} = cell;
	const {message, from, cause} = trigger;
	cell.key = write.key;
	cell.committing = true;
	kernel.options.persistent?.submit({
		...write,
		origin: {cause, from, type: message.type, span: trigger.seen?.span},
		done: outcome => {
			if (kernel.isClosed) return;
			cell.committing = false;
			// Whatever a bug does here, the pipeline goes on: it has others to answer.
			try {
				if (cell.instance !== instance) committedLate(kernel, cell, outcome);
				else if (!cell.isGone) done(outcome);
			} catch (error) {
				stepFailed(kernel, cell, trigger, error);
			}
			cell.afterCommit();
		},
	});
}

/** The instance was killed meanwhile; the next one begins with what became of its commit. */
function committedLate(kernel: Kernel, cell: Cell, outcome: CommitOutcome): void {
	if (!outcome.ok || cell.isGone) return;
	const {after} = outcome.change;
	if (after === undefined) finish(kernel, cell, {type: 'normal'});
	else cell.object = after.object;
}

function committed(kernel: Kernel, cell: Cell, next: Next<unknown>, change: Change, trigger: StepTrigger): void {
	kernel.counters.commits++;
	const before = cell.object;
	const object = change.after?.object;
	cell.object = object;
	cell.state = object === undefined ? next.state : (cell.behavior.persistence?.withObject(next.state, object) as unknown);
	trigger.seen?.real(true);
	finishStep(kernel, cell, object === undefined ? {...next, stop: true} : next, object ?? before, trigger);
	if (object !== undefined && before !== undefined && object.metadata.generation !== before.metadata.generation) kernel.unpark(cell);
}

/** The candidate is dropped; those that wait for an answer of this step get the error. */
function notCommitted(kernel: Kernel, cell: Cell, next: Next<unknown>, error: Failure, trigger: StepTrigger): void {
	const {message, cause} = trigger;
	trigger.seen?.notCommitted(error);
	following(kernel, trigger.seen?.span, () => {
		for (const effect of next.effects) {
			if (effect.type === 'reply' || effect.type === 'replySelf') reply(kernel, effect.to, {ok: false, error}, cell.address, cause);
		}
		if (cell.state !== undefined) cell.signal({type: 'commitFailed', error}, kernel.span);
		else if (cell.spec.restart === 'permanent') kernel.crash(cell, error, message.type, '');
		else finish(kernel, cell, {type: 'crashed', error});
	});
}

function finishStep(kernel: Kernel, cell: Cell, next: Next<unknown>, self: ApiObject | undefined, trigger: StepTrigger): void {
	trigger.whenReal?.();
	if (kernel.probe === undefined) runEffects(kernel, cell, next, self, trigger.cause);
	else following(kernel, trigger.seen?.span, () => runEffects(kernel, cell, next, self, trigger.cause));
}

function runEffects(kernel: Kernel, cell: Cell, next: Next<unknown>, self: ApiObject | undefined, cause: string): void {
	const {instance} = cell;
	for (const effect of next.effects) {
		runEffect(kernel, cell, effect, cause, self);
		// One of them was its end: the rest is no business of the next instance, should there be one.
		if (cell.instance !== instance || cell.isGone) return;
	}
	if (next.stop === true) kernel.ended(cell);
}
