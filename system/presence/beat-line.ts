// The connection of a beat. Each beat asks for an answer; when none came for a second another connection is dialled, and the one that
// is silent stays until that works: TCP waits longer with each loss, on a link that comes and goes soon for longer than the grace.
// Nothing goes out while the main loop stands still, no beat and no new connection either: it would look like life.

import {limits} from '../../api/limits.js';
import {isStill as isStillSince, startBeat} from './beat.js';
import {BeatDialler, type BeatConnection, type BeatDiallerOptions, type BeatFound} from './beat-dialler.js';
import type {Cancel} from '../time/clock.js';

export type BeatLineOptions = Pick<BeatDiallerOptions, 'servers' | 'dial' | 'isAway' | 'clock' | 'random'> & {
	readonly node: string;
	readonly boot: string;
	/** How long the main loop has not moved. */
	readonly stillMs: () => number;
	/** The connection stands, or is lost: then others may beat in its place. */
	readonly onLine?: ((stands: boolean) => void) | undefined;
	/** The broker took the connection and then did not answer for a while: it does again, here or on a new one, or was given up. */
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
export function openBeatLine({node, boot, stillMs, onLine, onSilent, ...ways}: BeatLineOptions): Cancel {
	const {clock, random} = ways;
	let line: Line | undefined;
	let askedMs = clock.monotonicMs();
	let cancelWatch: Cancel = () => undefined;
	let cancelSay: Cancel = () => undefined;
	const isStill = (): boolean => isStillSince(stillMs());

	/** Looks again when the answer is late, or so late that the line is of no use. */
	const watch = (): void => {
		cancelWatch();
		if (line === undefined) return;
		if (isStill()) line.heardMs = clock.monotonicMs();
		const silentMs = clock.monotonicMs() - line.heardMs;
		if (silentMs >= limits.beatSilenceMs) return giveUp(line);
		const isLate = silentMs >= line.patienceMs;
		if (isLate) dialler.start(line.heardMs);
		const waitMs = isLate ? limits.beatSilenceMs : line.patienceMs + random.next() * limits.beatSpreadMs;
		cancelWatch = clock.after(waitMs - silentMs, watch);
	};
	const giveUp = ({connection}: Line): void => {
		connection.abandon();
		lose();
		onSilent?.();
	};
	const lose = (): void => {
		line = undefined;
		cancelWatch();
		onLine?.(false);
		dialler.start(clock.monotonicMs(), limits.linkReconnectFirstMs);
	};
	const take = ({connection, lane, tookMs}: BeatFound) => {
		const former = line;
		const taken: Line = {connection, lane, heardMs: clock.monotonicMs(), patienceMs: Math.max(limits.beatAnswerMs, tookMs)};
		line = taken;
		former?.connection.abandon();
		beat.now();
		watch();
		if (former === undefined) onLine?.(true);
		else onSilent?.();
		return {
			heard() {
				taken.heardMs = clock.monotonicMs();
				taken.patienceMs = limits.beatAnswerMs;
				if (!dialler.isOn) return;
				dialler.stop();
				watch();
				onSilent?.();
			},
			closed() {
				if (line === taken) lose();
			},
		};
	};
	const say = (topic: string, payload: string): void => {
		const nowMs = clock.monotonicMs();
		cancelSay();
		if (isStill()) return;
		// What is sent into a cable that is out is lost, and TCP waits longer than the cable is out.
		if (ways.isAway?.() === true) return void (cancelSay = clock.after(limits.beatAwayMs, () => say(topic, payload)));
		// Nothing was asked meanwhile, so nothing was answered.
		if (line !== undefined && nowMs - askedMs > 2 * limits.beatMs) line.heardMs = nowMs;
		askedMs = nowMs;
		line?.connection.say(topic, payload);
	};

	const dialler = new BeatDialler({...ways, isStill, takenLane: () => line?.lane, onFound: take});
	const beat = startBeat({node, boot, clock, stillMs, publish: say});
	dialler.start(clock.monotonicMs());
	return () => {
		beat.end();
		cancelSay();
		cancelWatch();
		dialler.stop();
		line?.connection.close();
	};
}
