// Looks at one actor: its state, what waits for it, what it waits for, how it is supervised.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {LinksLook, MailboxLook, MessageLook, StateLook, SuperviseLook} from '../../api/inspect.js';
import {address as addressOf, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Message, Pending} from '../kernel/behavior.js';
import type {Cell, FarWatcher, FarWatch} from '../kernel/cell.js';
import type {Kernel} from '../kernel/kernel.js';
import type {IsSecret} from './portable.js';
import {partOf, shownOf} from './shown.js';
import {cut} from './tree-look.js';

export function stateLook(
	{options: {clock}}: Kernel,
	cell: Cell,
	{at = [], depth}: {readonly at?: readonly string[] | undefined; readonly depth?: number | undefined},
	isSecret: IsSecret,
): Outcome<StateLook> {
	const {address, spec, state} = cell;
	const part = partOf(state, at, isSecret);
	if (!part.ok) return failed('ERR_BAD_REQUEST', {message: part.problem});
	return succeeded({address, behavior: spec.behavior, atMs: clock.nowMs(), state: shownOf(part.value, {depth, isSecret})});
}

export const shownMessage = (message: Message, isSecret: IsSecret, bytes: number = limits.shownMessageBytes): MessageLook['message'] => ({
	type: '',
	...(shownOf(message, {depth: limits.shownMessageDepth, bytes, isSecret}) as object),
});

export function mailboxLook({mailbox}: Cell, isSecret: IsSecret): MailboxLook {
	const messages = firstOf(mailbox.messages()).map(({message, from, cause}): MessageLook => {
		return {message: shownMessage(message, isSecret), from: cut(from), cause: cut(cause)};
	});
	return {waiting: mailbox.length, signals: firstOf(mailbox.signals).map(({type}) => type), messages};
}

export function linksLook({options: {clock}}: Kernel, cell: Cell): LinksLook {
	const {parent, children, watchers, watching, asks, timers, pending} = cell;
	const nowMs = clock.nowMs();
	return {
		counts: {watchers: watchers.size, watching: watching.size, asks: asks.size, timers: timers.size, pending: pending.size},
		parent: parent?.address,
		childCount: children.size,
		watchers: firstOf(watchers).map(watcherAddress),
		watching: firstOf(watching).map(({address}: Cell | FarWatch) => address),
		asks: firstOf(asks.values()).map(({as, id, address, cause}) => ({as: cut(as), id: cut(id), to: cut(address), cause: cut(cause)})),
		timers: firstOf(timers.values()).map(({name, atMs}) => ({name: cut(name), inMs: Math.max(0, Math.round(atMs - nowMs))})),
		pending: firstOf(pending.entries()).map(([id, write]) => ({id: cut(id), type: write.type, what: cut(whatOf(write))})),
	};
}

/** What another system has told is which actor of this one it watches. */
const watcherAddress = (watcher: Cell | FarWatcher): Address => ('mailbox' in watcher ? watcher.address : addressOf(watcher.system, ''));

function whatOf(write: Pending): string {
	if (write.type !== 'create') return write.key;
	const {kind, metadata} = write.object;
	return `${kind} ${metadata.name ?? `${metadata.generateName ?? ''}…`}`;
}

/** How many more crashes are borne at this monotonic time; where children are restarted together, of all of them. */
export function restartsLeft({parent, window}: Cell, nowMs: number): number {
	const isGrouped = parent !== undefined && (parent.behavior.strategy ?? 'oneForOne') !== 'oneForOne';
	const recent = (isGrouped ? parent.groupWindow : window).filter(at => nowMs - at <= limits.restartWindowMs);
	return Math.max(0, limits.restartIntensity - recent.length);
}

export function superviseLook({options: {clock}}: Kernel, cell: Cell): SuperviseLook {
	const {spec, behavior, parent, failure, parked} = cell;
	const nowMs = clock.monotonicMs();
	return {
		restart: parent === undefined ? 'permanent' : (spec.restart ?? 'transient'),
		strategy: behavior.strategy ?? 'oneForOne',
		pastIntensity: behavior.parking !== undefined ? 'park' : (behavior.pastIntensity ?? 'escalate'),
		intensity: limits.restartIntensity,
		periodMs: limits.restartWindowMs,
		left: restartsLeft(cell, nowMs),
		restarts: cell.restarts,
		lastCrash:
			failure === undefined ? undefined : {message: cut(failure.message), agoMs: Math.max(0, Math.round(nowMs - cell.crashedAtMs))},
		parked: parked === undefined ? undefined : {error: cut(parked.error.message), retries: parked.retries},
		supervisor: parent?.address,
		shutdown: spec.shutdownMs ?? limits.shutdownMs,
	};
}

function firstOf<Item>(items: Iterable<Item>): readonly Item[] {
	const first: Item[] = [];
	for (const item of items) if (first.push(item) >= limits.lookItems) break;
	return first;
}
