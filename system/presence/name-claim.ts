// How a run of a user's system comes by its name, and keeps it: one run at a time has it.
//
// A run that wants the name asks on its presence topic, twice. When its questions have come back and no other run has said by then that it has
// the name, it claims it (`online`); a run that hears another's claim before its own comes back yields. A presence that is retained says only
// that a run had the name: the one that asks waits for its answer, or for its last will, which may be on its way, and takes the name when
// neither comes. The run that has the name says so again every few seconds, and at once when another message comes on the topic; should two
// have it after all (a broker may hand on what is retained late), the one that began later yields.
//
// MQTT is transport here, too: each message may be lost, so each is sent again.

import {limits} from '../../api/limits.js';
import {formatTopic} from '../../api/topics.js';
import {formatUserPresence, parseUserPresence, type UserPresence, type UserSystem} from '../../api/user-system.js';
import type {PubSub} from '../links/pubsub.js';
import type {Cancel, Clock} from '../time/clock.js';

export type NameClaimOptions = {
	readonly system: UserSystem;
	readonly self: Omit<UserPresence, 'state'>;
	readonly clock: Pick<Clock, 'after'>;
	readonly publish: PubSub['publish'];
	/** This run has the name: now, and each time again when the connection was lost. */
	readonly onHeld: () => void;
	/** Another run has it. Nothing more is sent then. */
	readonly onTaken: (by: UserPresence) => void;
};

export type NameClaim = {
	readonly topic: string;
	/** What the broker publishes when the connection breaks. */
	readonly will: {readonly topic: string; readonly payload: string; readonly retain: true};
	/** The connection stands, and the topic is subscribed. */
	readonly connected: () => void;
	readonly disconnected: () => void;
	/** A message on the topic. `isRetained`: the broker had it, and whoever said it may be gone. */
	readonly hear: (payload: string, isRetained: boolean) => void;
	/** Whether this run has the name, and heard so on the connection that stands. */
	readonly isHeld: () => boolean;
	/** Gives the name back, if this run has it. */
	readonly release: () => void;
};

/** `claiming`: it has published its claim, and did not hear it yet. */
type Phase = 'away' | 'asking' | 'claiming' | 'held' | 'over';

export function createNameClaim({system, self, clock, publish, onHeld, onTaken}: NameClaimOptions): NameClaim {
	const topic = formatTopic({type: 'userPresence', ...system});
	let phase: Phase = 'away';
	/** Claims of other runs since this one last sent its own unasked. */
	let contests = 0;
	/** The run that has the name, as far as is known; and whether it said so since this one asks, or only the broker did. */
	let other: UserPresence | undefined;
	let hasSpoken = false;
	/** Questions that came back. */
	let returned = 0;
	let cancel: Cancel = () => undefined;

	const say = (state: UserPresence['state']): void => publish(topic, formatUserPresence({state, ...self}), {retain: state === 'online'});

	return {
		topic,
		will: {topic, payload: '', retain: true},
		connected() {
			if (phase !== 'over') enter('asking');
		},
		disconnected() {
			if (phase === 'over') return;
			other = undefined;
			enter('away');
		},
		hear(payload, isRetained) {
			if (phase === 'over') return;
			// What is retained may come before it is known that the topic is subscribed.
			const heard = parseUserPresence(payload);
			if (heard === undefined) hearNone();
			else if (heard.boot === self.boot) hearSelf(heard.state);
			else hearOther(heard, isRetained);
		},
		isHeld: () => phase === 'held',
		release() {
			const isOurs = phase === 'held' || phase === 'claiming';
			enter('over');
			if (isOurs) publish(topic, '', {retain: true});
		},
	};

	function enter(next: Phase): void {
		cancel();
		phase = next;
		if (next === 'asking') {
			hasSpoken = false;
			returned = 0;
			ask(limits.userSystemClaimMs);
		}
		if (next === 'claiming' || next === 'held') sayOnline();
	}

	/** Again and again, until the questions come back; the run that has the name has so long to be gone, or to answer. */
	function ask(leftMs: number): void {
		if (other !== undefined && leftMs <= 0) return hasSpoken ? yieldTo(other) : enter('claiming');
		say('asking');
		cancel = clock.after(askAgainMs, () => ask(leftMs - askAgainMs));
	}

	function sayOnline(): void {
		contests = 0;
		say('online');
		cancel = clock.after(phase === 'held' ? limits.userSystemPresenceMs : askAgainMs, sayOnline);
	}

	function yieldTo(by: UserPresence): void {
		const hasClaimed = phase === 'claiming';
		enter('over');
		// Its claim may be what is retained now; the run that has the name says so again when it hears this.
		if (hasClaimed) publish(topic, '', {retain: true});
		onTaken(by);
	}

	/** The topic was cleared: by the will of the run that had the name, or by a late one. */
	function hearNone(): void {
		other = undefined;
		hasSpoken = false;
		if (phase === 'held') say('online');
	}

	function hearSelf(state: UserPresence['state']): void {
		if (phase === 'asking' && state === 'asking' && other === undefined) return hearQuestion();
		if (phase !== 'claiming' || state !== 'online') return;
		enter('held');
		onHeld();
	}

	/** The second goes once round while the run that has the name answers the first. */
	function hearQuestion(): void {
		returned += 1;
		if (returned >= questions) enter('claiming');
		else say('asking');
	}

	function hearOther(heard: UserPresence, isRetained: boolean): void {
		const isSaid = heard.state === 'online' && !isRetained;
		if (heard.state === 'online') other = heard;
		hasSpoken ||= isSaid;
		if (phase === 'claiming' && isSaid) return yieldTo(heard);
		if (phase !== 'held') return;
		// A run that yields may have sent its claim before; one that has the name sends it each time it hears this.
		if (isSaid) contests += 1;
		if (contests >= contestsBorne && isBefore(heard, self)) return yieldTo(heard);
		say('online');
	}
}

const askAgainMs = 500;
const contestsBorne = 4;
const questions = 2;

const isBefore = (a: Omit<UserPresence, 'state'>, b: Omit<UserPresence, 'state'>): boolean =>
	a.sinceMs === b.sinceMs ? a.boot < b.boot : a.sinceMs < b.sinceMs;
