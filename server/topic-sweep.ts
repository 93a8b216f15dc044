// Keeps what a broker elsewhere retains of our objects equal to the index: after each connection its whole tree is read and compared,
// what differs is written again, what the index does not know is cleared. The broker may have missed changes, lost its memory, or hold
// what a former leader left.
//
// The texts are those that the retained documents are served from everywhere. Epoch and predecessor are not compared: they belong to a
// chain of live messages, and after a change of leader every document would differ.

import {limits} from '../api/limits.js';
import {formatTopic, objectsFilter} from '../api/topics.js';
import type {RetainedMessage, RetainedSource} from '../system/broker/broker.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import type {OutsideBroker} from '../system/links/outside-broker.js';

export type SweepOptions = {
	readonly broker: Pick<OutsideBroker, 'publish' | 'subscribe' | 'onEachConnection' | 'whenIdle'>;
	/** `retainedObjects` of the index. */
	readonly source: RetainedSource;
	/** Of this term: names the message that ends the reading. */
	readonly boot: string;
	readonly clock: Clock;
	readonly onSwept?: (result: SweepResult) => void;
};

export type SweepResult = {
	/** Topics that the broker held. */
	readonly held: number;
	readonly rewritten: number;
	readonly cleared: number;
};

/** Sweeps at each connection, until ended. */
export function startSweeps(options: SweepOptions): () => void {
	let sweeps = 0;
	let end: (() => void) | undefined;
	const cancel = options.broker.onEachConnection(() => {
		end?.();
		sweeps += 1;
		end = sweep(options, formatTopic({type: 'canary', server: `${options.boot}-sweep-${sweeps}`}));
	});
	return () => {
		cancel();
		end?.();
	};
}

/** Reads until the marker comes back: whatever was retained comes before what is published after the subscription. */
function sweep({broker, source, clock, onSwept}: SweepOptions, marker: string): () => void {
	const held = new Map<string, boolean>();
	let reading = true;
	let open = true;
	let cancel: Cancel = () => undefined;
	const ask = (): void => {
		// The subscriptions are before it on the same connection.
		broker.publish(marker, '', {retain: false});
		cancel = clock.after(limits.sweepAgainMs, ask);
	};
	const ends = [
		broker.subscribe(objectsFilter, (topic, payload, retained) => {
			if (reading && retained) held.set(topic, isCurrent(source, topic, payload));
		}),
		broker.subscribe(marker, () => {
			if (!reading) return;
			stopReading();
			mend(
				broker,
				differing(source, held),
				() => open,
				counts => onSwept?.({held: held.size, ...counts}),
			);
		}),
	];
	ask();
	return () => {
		open = false;
		if (reading) stopReading();
	};

	function stopReading(): void {
		reading = false;
		cancel();
		for (const end of ends) end();
	}
}

/** What a document says, epoch and predecessor aside. */
function contentOf(text: string): {readonly version: number; readonly object: string} | undefined {
	const match = /^\{"epoch":\d+,"rv":(\d+),"prev":\d+,"object":/.exec(text);
	return match === null ? undefined : {version: Number(match[1]), object: text.slice(match[0].length)};
}

function isCurrent(source: RetainedSource, topic: string, text: string): boolean {
	const held = contentOf(text);
	const wanted = wantedAt(source, topic);
	const current = wanted === undefined ? undefined : contentOf(wanted.payload().toString());
	return held !== undefined && current !== undefined && held.version === current.version && held.object === current.object;
}

function wantedAt(source: RetainedSource, topic: string): RetainedMessage | undefined {
	if (!source.owns(topic)) return undefined;
	for (const message of source.match(topic)) return message.payload().length === 0 ? undefined : message;
	return undefined;
}

type Repair = {readonly topic: string; readonly payload: () => Buffer};

/** What to write: in the order of versions, so that a subscriber sees what it missed as one gap in a chain; then what to clear. */
function differing(source: RetainedSource, held: ReadonlyMap<string, boolean>): readonly Repair[] {
	const missing = [...source.match(objectsFilter)].filter(({topic}) => held.get(topic) !== true);
	const versions = new Map(missing.map(({topic, payload}) => [topic, contentOf(payload().toString())?.version ?? 0]));
	const stale = [...held.keys()].filter(topic => wantedAt(source, topic) === undefined);
	return [
		...missing.toSorted((a, b) => (versions.get(a.topic) ?? 0) - (versions.get(b.topic) ?? 0)),
		// An object of that name may have been made meanwhile.
		...stale.map(topic => ({topic, payload: () => wantedAt(source, topic)?.payload() ?? nothing})),
	];
}

const nothing = Buffer.alloc(0);

/** Writes in slices, each when nothing of the one before waits any more. */
function mend(
	broker: SweepOptions['broker'],
	repairs: readonly Repair[],
	isWanted: () => boolean,
	onDone: (counts: Pick<SweepResult, 'rewritten' | 'cleared'>) => void,
): void {
	let at = 0;
	let cleared = 0;
	const slice = (): void => {
		if (!isWanted()) return;
		let bytes = 0;
		for (let count = 0; count < limits.brokerReplayMessages && bytes < limits.brokerReplayBytes; count += 1) {
			const repair = repairs[at];
			if (repair === undefined) return onDone({rewritten: repairs.length - cleared, cleared});
			const payload = repair.payload();
			broker.publish(repair.topic, payload, {retain: true});
			at += 1;
			bytes += payload.length;
			if (payload.length === 0) cleared += 1;
		}
		broker.whenIdle(() => setImmediate(slice));
	};
	slice();
}
