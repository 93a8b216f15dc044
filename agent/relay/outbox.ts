// What this node says to others of its relayed connections, in order, and no more of it at a time than leaves room on the lane for what else is there.

import {failed, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {SayToNode} from '../../actors/node/runtime/relay-port.js';

type Said = Parameters<SayToNode>[0];

export type Outbox = {
	/** Resolves when the other node has taken it, or that is not known; never rejects. */
	readonly say: (message: Said) => Promise<Outcome<unknown>>;
	readonly join: (say: SayToNode) => void;
};

type Waiting = {readonly message: Said; readonly characters: number; readonly done: (outcome: Outcome<unknown>) => void};

export function createOutbox(): Outbox {
	const waiting: Waiting[] = [];
	let messages = 0;
	let characters = 0;
	let send: SayToNode = (_message, done) => done(failed('ERR_NOT_REACHABLE', {message: 'the agent is only starting'}));

	const flush = (): void => {
		for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
			const isFull = messages >= limits.relayUnderWay || characters + first.characters > limits.relayUnderWayBytes;
			if (messages > 0 && isFull) return;
			waiting.shift();
			post(first);
		}
	};
	const post = ({message, characters: own, done}: Waiting): void => {
		messages += 1;
		characters += own;
		send(message, outcome => {
			messages -= 1;
			characters -= own;
			done(outcome);
			flush();
		});
	};
	return {
		say: message =>
			new Promise(done => {
				waiting.push({message, characters: message.step.step === 'data' ? message.step.data.length : 0, done});
				flush();
			}),
		join: say => void (send = say),
	};
}
