// The connection of a beat. Each beat asks for an answer; when none came for a second another connection is dialled, and the one that
// is silent stays until that works: TCP waits longer with each loss, on a link that comes and goes soon for longer than the grace.
// Nothing goes out while the main loop stands still, no beat and no new connection either: it would look like life.

import {limits} from '../../api/limits.js';
import {isStill as isStillSince, startBeat, type Beat} from './beat.js';
import {BeatDialler, type BeatConnection, type BeatDiallerOptions, type BeatFound} from './beat-dialler.js';
import {usualPace, type Pace} from './pace.js';
import type {Cancel} from '../time/clock.js';

export type BeatLineOptions = Pick<BeatDiallerOptions, 'servers' | 'dial' | 'isAway' | 'clock' | 'random'> & {
	readonly node: string;
	readonly boot: string;
	/** How long the main loop has not moved. */
	readonly stillMs: () => number;
	/** How quickly it has to be heard. */
	readonly pace?: () => Pace;
	/** The connection stands, or is lost: then others may beat in its place. */
	readonly onLine?: ((stands: boolean) => void) | undefined;
	/** The broker took the connection and then did not answer for a while: it does again, here or on a new one, or for long not. */
	readonly onSilent?: (() => void) | undefined;
};

type Line = {
	readonly connection: BeatConnection;
	readonly lane: string;
	heardMs: number;
	/** The first answer may take as long as the connection did. */
	patienceMs: number;
};

/** Beats until cancelled. */
export function openBeatLine(options: BeatLineOptions): Cancel {
	const line = new BeatLine(options);
	return () => line.close();
}

class BeatLine {
	readonly #options: BeatLineOptions;
	readonly #pace: () => Pace;
	readonly #dialler: BeatDialler;
	readonly #beat: Beat;
	#line: Line | undefined;
	#askedMs: number;
	#cancelWatch: Cancel = () => undefined;
	#cancelSay: Cancel = () => undefined;

	constructor(options: BeatLineOptions) {
		const {node, boot, clock, stillMs} = options;
		this.#pace = options.pace ?? (() => usualPace);
		this.#options = options;
		this.#askedMs = clock.monotonicMs();
		this.#dialler = new BeatDialler({
			...options,
			isStill: () => this.#isStill(),
			takenLane: () => this.#line?.lane,
			onFound: found => this.#take(found),
		});
		this.#beat = startBeat({node, boot, clock, stillMs, pace: this.#pace, publish: (topic, payload) => this.#say(topic, payload)});
		this.#dialler.start(clock.monotonicMs());
	}

	close(): void {
		this.#beat.end();
		this.#cancelSay();
		this.#cancelWatch();
		this.#dialler.stop();
		this.#line?.connection.close();
	}

	/** Looks again when the answer is late, or so late that the line is of no use. */
	#watch(): void {
		const {clock, random} = this.#options;
		const line = this.#line;
		this.#cancelWatch();
		if (line === undefined) return;
		if (this.#isStill()) line.heardMs = clock.monotonicMs();
		const silentMs = clock.monotonicMs() - line.heardMs;
		if (silentMs >= limits.beatSilenceMs) return this.#giveUp(line);
		const isLate = silentMs >= line.patienceMs;
		if (isLate) this.#dialler.start(line.heardMs);
		// By the time that one of the others may beat in its place it has answered, or is gone: this host may hear nothing.
		const isDoubted = isLate && silentMs >= limits.beatDoubtMs;
		if (isDoubted) this.#options.onSilent?.();
		const nextMs = isDoubted ? limits.beatSilenceMs : isLate ? limits.beatDoubtMs : line.patienceMs + random.next() * limits.beatSpreadMs;
		this.#cancelWatch = clock.after(nextMs - silentMs, () => this.#watch());
	}

	#giveUp({connection}: Line): void {
		connection.abandon();
		this.#lose();
	}

	#lose(): void {
		this.#line = undefined;
		this.#cancelWatch();
		this.#options.onLine?.(false);
		this.#dialler.start(this.#options.clock.monotonicMs(), limits.linkReconnectFirstMs);
	}

	#take({connection, lane, tookMs}: BeatFound): ReturnType<BeatDiallerOptions['onFound']> {
		const {clock, onLine, onSilent} = this.#options;
		const former = this.#line;
		const taken: Line = {connection, lane, heardMs: clock.monotonicMs(), patienceMs: Math.max(this.#pace().beatAnswerMs, tookMs)};
		this.#line = taken;
		former?.connection.abandon();
		this.#beat.now();
		this.#watch();
		if (former === undefined) onLine?.(true);
		else onSilent?.();
		return {
			heard: () => this.#hear(taken),
			closed: () => {
				if (this.#line === taken) this.#lose();
			},
		};
	}

	#hear(line: Line): void {
		line.heardMs = this.#options.clock.monotonicMs();
		line.patienceMs = this.#pace().beatAnswerMs;
		if (!this.#dialler.isOn) return;
		this.#dialler.stop();
		this.#watch();
		this.#options.onSilent?.();
	}

	#say(topic: string, payload: string): void {
		const {clock, isAway} = this.#options;
		const nowMs = clock.monotonicMs();
		this.#cancelSay();
		if (this.#isStill()) return;
		// What is sent into a cable that is out is lost, and TCP waits longer than the cable is out.
		if (isAway?.() === true) return void (this.#cancelSay = clock.after(limits.beatAwayMs, () => this.#say(topic, payload)));
		// Nothing was asked meanwhile, so nothing was answered.
		if (this.#line !== undefined && nowMs - this.#askedMs > 2 * this.#pace().beatMs) this.#line.heardMs = nowMs;
		this.#askedMs = nowMs;
		this.#line?.connection.say(topic, payload);
	}

	#isStill(): boolean {
		return isStillSince(this.#options.stillMs());
	}
}
