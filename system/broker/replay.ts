// Hands the retained messages of a new subscription to its client in slices, each when the client has taken most of the one
// before: a hundred thousand documents neither block the process nor overflow the client's buffer. One filter after another, and one
// client's slice after another's.

import {limits} from '../../api/limits.js';
import {topicMatches} from '../../api/mqtt-filter.js';
import type {Pace} from './pace.js';
import {publishPacket} from './publish-packet.js';

export type ReplayMessage = {readonly topic: string; readonly payload: () => Buffer; readonly qos: 0 | 1 | 2};

export type ReplayTarget = {
	/** All that match, and possibly more. */
	readonly match: (filter: string) => Iterable<ReplayMessage>;
	/** Told how many messages were looked at. */
	readonly onLooked: (messages: number) => void;
	readonly allowed: (topic: string) => boolean;
	/** A message of QoS 1 or 2. */
	readonly send: (topic: string, payload: Buffer, qos: 1 | 2) => void;
	/** Whole packets. */
	readonly write: (packets: Buffer) => void;
	readonly pace: Pace;
	/** Calls back once when less than so many bytes wait for the client; never when it is gone. */
	readonly whenBelow: (bytes: number, callback: () => void) => void;
	/** False: the filter was taken back, or the client is gone. */
	readonly wanted: (filter: string) => boolean;
};

export type Replay = {
	/** Queues the retained messages of a filter; a filter that waits already is not queued twice. */
	readonly start: (filter: string, qos: 0 | 1 | 2) => void;
};

export function createReplay(target: ReplayTarget): Replay {
	const queued = new Map<string, 0 | 1 | 2>();
	let running = false;

	const slice = (messages: Iterator<ReplayMessage>, filter: string, qos: 0 | 1 | 2): void => {
		const packets: Buffer[] = [];
		let bytes = 0;
		let isOver = false;
		let count = 0;
		for (; count < limits.brokerReplayMessages && bytes < limits.brokerReplayBytes; count += 1) {
			const step = target.wanted(filter) ? messages.next() : undefined;
			isOver = step === undefined || step.done === true;
			if (step === undefined || step.done === true) break;
			const message = step.value;
			if (!topicMatches(filter, message.topic) || !target.allowed(message.topic)) continue;
			const payload = message.payload();
			if (payload.length === 0) continue;
			const granted = Math.min(message.qos, qos) as 0 | 1 | 2;
			if (granted === 0) packets.push(publishPacket(message.topic, payload, true));
			else target.send(message.topic, payload, granted);
			bytes += payload.length;
		}
		target.onLooked(count);
		if (packets.length > 0) target.write(Buffer.concat(packets));
		// The broker writes what was sent in its next turn; only then the buffer says what waits.
		setImmediate(() => {
			if (isOver) next();
			else target.whenBelow(limits.brokerReplayBytes, () => target.pace(() => slice(messages, filter, qos)));
		});
	};

	const next = (): void => {
		const [first] = queued;
		running = first !== undefined;
		if (first === undefined) return;
		const [filter, qos] = first;
		queued.delete(filter);
		const messages = target.match(filter)[Symbol.iterator]();
		target.pace(() => slice(messages, filter, qos));
	};

	return {
		start(filter, qos) {
			queued.set(filter, qos);
			if (!running) next();
		},
	};
}
