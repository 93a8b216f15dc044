// Runs effects, one kind of effect a line. What becomes of each when the process dies is the table in docs/semantics.md.

import {failed, succeeded} from '../../api/errors.js';
import type {Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {unreachable, type Effect, type Message, type Pending} from './behavior.js';
import type {Cell} from './cell.js';
import {answer, deliver, failAsksOf, mayAct, openAsk, reply, route, type Question} from './delivery.js';
import type {Kernel} from './kernel.js';
import {withSpan, type Timer} from './mailbox.js';

type EffectOf<Type extends Effect['type']> = Extract<Effect, {type: Type}>;

/** Outcomes of `create`, `update` and `delete` arrive under this name. */
export const outcomeType = 'outcome';

/** `self`: the object as this step committed it. */
export function runEffect(kernel: Kernel, cell: Cell, effect: Effect, cause: string, self: ApiObject | undefined): void {
	switch (effect.type) {
		case 'tell':
			send(kernel, cell, effect.to, effect.message, effect.cause ?? cause);
			return;
		case 'ask':
			ask(kernel, cell, effect, effect.cause ?? cause);
			return;
		case 'reply':
			reply(kernel, effect.to, effect.outcome, cell.address, cause);
			return;
		case 'replySelf':
			reply(kernel, effect.to, self === undefined ? failed('ERR_INTERNAL', {message: 'no object'}) : succeeded(self), cell.address, cause);
			return;
		case 'spawn':
			if (cell.status === 'running' && !cell.children.has(effect.name)) kernel.spawn(cell, effect, cause);
			return;
		case 'stopChild': {
			const child = cell.children.get(effect.name);
			if (child !== undefined) kernel.stop(child, {type: 'stopped'});
			return;
		}
		case 'watch':
			kernel.deathWatch.watch(cell, effect.address, kernel.span);
			return;
		case 'unwatch':
			kernel.deathWatch.unwatch(cell, effect.address);
			return;
		case 'declareGone':
			failAsksOf(kernel, effect.system, () => true);
			kernel.deathWatch.peerGone(effect.system);
			return;
		case 'create':
		case 'update':
		case 'delete':
			write(kernel, cell, effect, cause);
			return;
		case 'perform':
			perform(kernel, cell, effect, cause);
			return;
		case 'wakeAt':
			wakeAt(kernel, cell, effect, effect.cause ?? cause);
			return;
		case 'cancelWake':
			cell.timers.get(effect.name)?.cancel();
			cell.timers.delete(effect.name);
			return;
		case 'event':
			if (cell.key !== undefined) kernel.options.persistent?.recordEvent(cell.key, effect);
			return;
		default:
			unreachable(effect);
	}
}

function send(kernel: Kernel, cell: Cell, to: Address, message: Message, cause: string): void {
	route(kernel, to, {message, from: cell.address, cause, outside: false});
}

function ask(kernel: Kernel, cell: Cell, effect: Omit<EffectOf<'ask'>, 'type'>, cause: string): void {
	const {to, message, as, id, deadlineMs = limits.askDeadlineMs} = effect;
	// Of the question as long as it is open, not of the message.
	if (!openAsk(kernel, cell, to, {as, id}, deadlineMs, cause)) return;
	send(kernel, cell, to, {...message, replyTo: {to: cell.address, as, id}}, cause);
}

/** A write of another object: an ask whose open entry the behaviour sees as `pending`. */
function write(kernel: Kernel, cell: Cell, effect: Pending, cause: string): void {
	const {to, message} = requestOf(kernel, effect);
	cell.pending.set(effect.id, effect);
	ask(kernel, cell, {to, message, as: outcomeType, id: effect.id}, cause);
}

function requestOf({options: {name, collectionOf, recordOf}}: Kernel, effect: Pending): {to: Address; message: Message} {
	if (collectionOf === undefined || recordOf === undefined) throw new Error(`system "${name}" has no objects to ${effect.type}`);
	switch (effect.type) {
		case 'create': {
			const message: Message & {object: unknown} = {type: 'create', object: effect.object};
			return {to: collectionOf(effect.object), message};
		}
		case 'update':
			return {to: recordOf(effect.key), message: effect.message};
		case 'delete': {
			const {uid, graceSeconds} = effect;
			const message: Message & {uid: string; graceSeconds: number | undefined} = {type: 'delete', uid, graceSeconds};
			return {to: recordOf(effect.key), message};
		}
		default:
			return unreachable(effect);
	}
}

/** Runs a command, or joins the run of the same key. */
function perform(kernel: Kernel, cell: Cell, effect: EffectOf<'perform'>, cause: string): void {
	const {key, as, command, deadlineMs = limits.performDeadlineMs} = effect;
	const question: Question = {as, id: key};
	if (!openAsk(kernel, cell, `edge:${command.type}`, question, deadlineMs, cause) || !mayAct(kernel)) return;
	const {instance} = cell;
	const {span} = kernel;
	kernel.performs.run(key, command, deadlineMs, outcome => {
		if (cell.instance === instance) answer(kernel, cell, question, outcome, cause, span);
	});
}

/** The message of a timer that is replaced or cancelled does not come, even where it waits in the mailbox already. */
function wakeAt(kernel: Kernel, cell: Cell, effect: EffectOf<'wakeAt'>, cause: string): void {
	const {name, atMs, atMostMs = Number.POSITIVE_INFINITY, message} = effect;
	const {clock} = kernel.options;
	cell.timers.get(name)?.cancel();
	const nowMs = clock.nowMs();
	const delayMs = Math.min(atMs - nowMs, atMostMs);
	// What comes round for a reason of its own is no part of what set it.
	const span = effect.cause === undefined ? kernel.span : undefined;
	const cancel = clock.after(delayMs, () =>
		deliver(kernel, cell, withSpan({message, from: cell.address, cause, outside: false, timer}, span)),
	);
	const timer: Timer = {name, cancel, atMs: nowMs + delayMs};
	cell.timers.set(name, timer);
}
