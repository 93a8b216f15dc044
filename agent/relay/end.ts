// One end of a relayed connection: a stream of this node, and the words by which it and the end on the other node are one connection.
//
// What it keeps true: bytes come in order and once, or the connection breaks at both ends; each direction ends by itself; of what this side has sent and
// the reader over there has not taken there is only so much; an end whose other one is gone does not stay.

import type {Duplex} from 'node:stream';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {PassedStep, RelayStep} from '../../actors/protocol/relay-message.js';
import type {Cancel, Clock} from '../../system/time/clock.js';

export type EndOptions = {
	readonly clock: Clock;
	readonly stream: Duplex;
	/** To the other end. */
	readonly say: (step: RelayStep) => Promise<Outcome<unknown>>;
	/** Called once, when nothing is left of it. */
	readonly onOver: () => void;
};

export type End = {
	/** The other end has the connection: it begins. */
	readonly start: () => void;
	/** What the other end says. */
	readonly take: (step: Exclude<PassedStep, {step: 'open'}>) => Outcome<null>;
	/** It breaks. */
	readonly cut: () => void;
};

export function createEnd({clock, stream, say, onOver}: EndOptions): End {
	let isOver = false;
	let isSettled = false;
	let unanswered = 0;
	/** Numbers of the last message in each direction. */
	let sent = 0;
	let taken = 0;
	let unread = 0;
	let uncredited = 0;
	let held = 0;
	/** What was said of the end of each direction. */
	let hasSaidAll = false;
	let hasHeardAll = false;
	let unkept = 0;
	let isCutThere = false;
	let cancelKeep: Cancel = () => undefined;

	const cut = (): void => void stream.destroy();
	const isWhole = (): boolean => hasSaidAll && hasHeardAll;
	/** A message that may not have come makes all that follow it worthless. */
	const sure = (outcome: Promise<Outcome<unknown>>): void => {
		unanswered += 1;
		void outcome.then(({ok}) => {
			unanswered -= 1;
			if (!ok) cut();
			settle();
		});
	};
	/** What was said last is on its way still after the stream is over: until then the other end is not told that there is nothing here. */
	const settle = (): void => {
		if (!isOver || unanswered > 0 || isSettled) return;
		isSettled = true;
		onOver();
	};
	const sendData = (chunk: Buffer): void => {
		for (let at = 0; at < chunk.length; at += limits.relayChunkBytes) {
			const part = chunk.subarray(at, at + limits.relayChunkBytes);
			unread += part.length;
			sure(say({step: 'data', number: ++sent, data: part.toString('base64')}));
		}
		if (unread >= limits.relayWindowBytes) stream.pause();
	};
	const takeData = (data: string, number: number): Outcome<null> => {
		const bytes = Buffer.from(data, 'base64');
		held += bytes.length;
		// Only an end that keeps to nothing sends more than there is room for.
		if (number !== taken + 1 || hasHeardAll || held > limits.relayWindowBytes + limits.relayChunkBytes) return wrong();
		taken = number;
		stream.write(bytes, error => {
			held -= bytes.length;
			if (error === null || error === undefined) credit(bytes.length);
		});
		return succeeded(null);
	};
	const credit = (bytes: number): void => {
		uncredited += bytes;
		if (uncredited < limits.relayWindowBytes / 4 || isOver) return;
		const bytesNow = uncredited;
		uncredited = 0;
		void say({step: 'credit', bytes: bytesNow}).then(({ok}) => {
			// One that has said all needs none, and may be over.
			if (!ok && !hasHeardAll) cut();
		});
	};
	const wrong = (): Outcome<null> => {
		cut();
		return failed('ERR_BAD_REQUEST', {message: 'of a relayed connection something is missing; it was ended'});
	};
	const keep = (): void => {
		cancelKeep = clock.after(limits.relayKeepMs, () => {
			// What is left is between this end and its own side.
			if (isWhole()) return;
			void say({step: 'keep'}).then(outcome => {
				if (outcome.ok) unkept = 0;
				else if (isWhole()) return;
				else if (outcome.error.code === 'ERR_NOT_FOUND' || ++unkept >= limits.relayKeeps) cut();
			});
			keep();
		});
	};
	stream.on('error', () => undefined);
	stream.once('close', () => {
		isOver = true;
		cancelKeep();
		if (!isCutThere && !isWhole()) void say({step: 'reset'});
		settle();
	});
	return {
		start() {
			if (isOver) return;
			keep();
			stream.on('data', sendData);
			stream.once('end', () => {
				hasSaidAll = true;
				sure(say({step: 'end', number: ++sent}));
			});
		},
		take(step) {
			if (stream.destroyed && isWhole()) return succeeded(null);
			if (stream.destroyed) return failed('ERR_NOT_FOUND', {resource: 'relayed connections', name: 'this one'});
			switch (step.step) {
				case 'data':
					return takeData(step.data, step.number);
				case 'end':
					if (step.number !== taken + 1 || hasHeardAll) return wrong();
					taken = step.number;
					hasHeardAll = true;
					stream.end();
					return succeeded(null);
				case 'credit':
					unread -= step.bytes;
					if (unread < limits.relayWindowBytes) stream.resume();
					return succeeded(null);
				case 'keep':
					return succeeded(null);
				case 'reset':
					isCutThere = true;
					cut();
					return succeeded(null);
			}
		},
		cut,
	};
}
