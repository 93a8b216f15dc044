// How much one login may ask of the inspector: so many requests a second, so many questions and streams at a time.

import {failure, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';

export type Stay = {
	/** It is a stream from now on; false: the login has as many as it may. */
	readonly asStream: () => boolean;
	readonly leave: () => void;
};

export type Guests = {
	/** One more question of a login. One that is refused like many before it is not told so any more. */
	readonly enter: (login: string) => Entry;
};

export type Entry = {readonly ok: true; readonly value: Stay} | {readonly ok: false; readonly error: Failure; readonly isTold: boolean};

type Guest = {left: number; atMs: number; open: number; streams: number; refusals: number};

export function createGuests(clock: Pick<Clock, 'monotonicMs'>): Guests {
	const guests = new Map<string, Guest>();
	const ended = (login: string, guest: Guest): void => {
		if (guest.open === 0 && guest.streams === 0 && refill(guest, clock.monotonicMs()) >= limits.inspectsAtOnce) guests.delete(login);
	};
	return {
		enter(login) {
			const nowMs = clock.monotonicMs();
			if (!guests.has(login)) for (const [name, each] of guests) ended(name, each);
			const guest = guests.get(login) ?? newGuest(nowMs);
			guests.set(login, guest);
			const left = refill(guest, nowMs);
			if (left < 1 || guest.open >= limits.inspectsOpen) return refusal(guest);
			guest.left -= 1;
			guest.open += 1;
			return {ok: true, value: stayOf(guest)};
		},
	};
}

const newGuest = (atMs: number): Guest => ({
	left: limits.inspectsAtOnce,
	atMs,
	open: 0,
	streams: 0,
	refusals: limits.inspectRefusalsPerSecond,
});

function refill(guest: Guest, nowMs: number): number {
	const seconds = (nowMs - guest.atMs) / 1_000;
	guest.atMs = nowMs;
	guest.left = Math.min(limits.inspectsAtOnce, guest.left + seconds * limits.inspectsPerSecond);
	guest.refusals = Math.min(limits.inspectRefusalsPerSecond, guest.refusals + seconds * limits.inspectRefusalsPerSecond);
	return guest.left;
}

function refusal(guest: Guest): Entry {
	const isTold = guest.refusals >= 1;
	if (isTold) guest.refusals -= 1;
	const message = `a login has at most ${limits.inspectsPerSecond} requests a second to the inspector, and ${limits.inspectsOpen} under way`;
	return {ok: false, error: failure('ERR_BUSY', {message}), isTold};
}

function stayOf(guest: Guest): Stay {
	let is: 'open' | 'stream' | 'gone' = 'open';
	return {
		asStream() {
			if (is !== 'open' || guest.streams >= limits.inspectStreams) return false;
			is = 'stream';
			guest.open -= 1;
			guest.streams += 1;
			return true;
		},
		leave() {
			if (is === 'open') guest.open -= 1;
			if (is === 'stream') guest.streams -= 1;
			is = 'gone';
		},
	};
}
