// Runs effects, one kind of effect a line. What becomes of each when the process dies is the table in docs/semantics.md.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {Address, ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, Draft} from '../../api/object.js';
import {unreachable, type Effect, type Message, type Pending, type ReplyTo} from './behavior.js';
import type {Cell} from './cell.js';
import type {Envelope} from './mailbox.js';

/** What running effects needs of the system that owns the cell. */
export type Kernel = {
	readonly name: string;
	readonly options: {
		readonly collectionOf?: (draft: Draft) => Address;
		readonly recordOf?: (key: ObjectKey) => Address;
		readonly persistent?: {readonly recordEvent: (key: ObjectKey, event: Extract<Effect, {type: 'event'}>) => void};
	};
	readonly route: (to: Address, envelope: Envelope) => void;
	readonly reply: (to: ReplyTo, outcome: Outcome<unknown>, from: Address, cause: string) => void;
	readonly spawnChild: (parent: Cell, effect: Extract<Effect, {type: 'spawn'}>, cause: string) => void;
	readonly stopChild: (parent: Cell, name: string) => void;
	readonly watch: (cell: Cell, address: Address) => void;
	readonly unwatch: (cell: Cell, address: Address) => void;
	readonly declareGone: (system: string) => void;
	readonly openAsk: (cell: Cell, to: Address, as: string, id: string, deadlineMs: number, cause: string) => boolean;
	readonly perform: (cell: Cell, effect: Extract<Effect, {type: 'perform'}>, cause: string) => void;
	readonly wakeAt: (cell: Cell, effect: Extract<Effect, {type: 'wakeAt'}>, cause: string) => void;
	readonly cancelWake: (cell: Cell, name: string) => void;
};

type Origin = {
	readonly cause: string;
	/** The object as this step committed it. */
	readonly self: ApiObject | undefined;
};

/** Outcomes of `create`, `update` and `delete` arrive under this name. */
export const outcomeType = 'outcome';

export function runEffect(system: Kernel, cell: Cell, effect: Effect, {cause, self}: Origin): void {
	switch (effect.type) {
		case 'tell':
			send(system, cell, effect.to, effect.message, effect.cause ?? cause);
			return;
		case 'ask':
			ask(system, cell, effect.to, effect.message, {as: effect.as, id: effect.id, deadlineMs: effect.deadlineMs}, effect.cause ?? cause);
			return;
		case 'reply':
			system.reply(effect.to, effect.outcome, cell.address, cause);
			return;
		case 'replySelf':
			system.reply(effect.to, self === undefined ? failed('ERR_INTERNAL', {message: 'no object'}) : succeeded(self), cell.address, cause);
			return;
		case 'spawn':
			system.spawnChild(cell, effect, cause);
			return;
		case 'stopChild':
			system.stopChild(cell, effect.name);
			return;
		case 'watch':
			system.watch(cell, effect.address);
			return;
		case 'unwatch':
			system.unwatch(cell, effect.address);
			return;
		case 'declareGone':
			system.declareGone(effect.system);
			return;
		case 'create':
		case 'update':
		case 'delete':
			write(system, cell, effect, cause);
			return;
		case 'perform':
			system.perform(cell, effect, cause);
			return;
		case 'wakeAt':
			system.wakeAt(cell, effect, effect.cause ?? cause);
			return;
		case 'cancelWake':
			system.cancelWake(cell, effect.name);
			return;
		case 'event':
			if (cell.key !== undefined) system.options.persistent?.recordEvent(cell.key, effect);
			return;
		default:
			unreachable(effect);
	}
}

function send(system: Kernel, cell: Cell, to: Address, message: Message, cause: string): void {
	system.route(to, {message, from: cell.address, cause, outside: false});
}

function ask(
	system: Kernel,
	cell: Cell,
	to: Address,
	message: Message,
	{as, id, deadlineMs = limits.askDeadlineMs}: {as: string; id: string; deadlineMs: number | undefined},
	cause: string,
): void {
	if (!system.openAsk(cell, to, as, id, deadlineMs, cause)) return;
	send(system, cell, to, {...message, replyTo: {to: cell.address, as, id}}, cause);
}

/** A write of another object: an ask whose open entry the behaviour sees as `pending`. */
function write(system: Kernel, cell: Cell, effect: Pending, cause: string): void {
	const {to, message} = requestOf(system, effect);
	cell.pending.set(effect.id, effect);
	ask(system, cell, to, message, {as: outcomeType, id: effect.id, deadlineMs: undefined}, cause);
}

function requestOf(system: Kernel, effect: Pending): {to: Address; message: Message} {
	const {collectionOf, recordOf} = system.options;
	if (collectionOf === undefined || recordOf === undefined) throw new Error(`system "${system.name}" has no objects to ${effect.type}`);
	switch (effect.type) {
		case 'create': {
			const message: Message & {object: unknown} = {type: 'create', object: effect.object};
			return {to: collectionOf(effect.object), message};
		}
		case 'update':
			return {to: recordOf(effect.key), message: effect.message};
		case 'delete': {
			const message: Message & {uid: string; graceSeconds: number | undefined} = {
				type: 'delete',
				uid: effect.uid,
				graceSeconds: effect.graceSeconds,
			};
			return {to: recordOf(effect.key), message};
		}
		default:
			return unreachable(effect);
	}
}
