// The agent's end of the feed: says what there is, asks whether the other end lives, and hears what it cannot do.

import {connect} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {Clock} from '../../../system/time/clock.js';
import {createDeferred, type Deferred} from '../../../system/time/deferred.js';
import {frameReader, sendFrame} from './frames.js';
import {feedAnswerOf, fedChange, feedProtocol, type FeedAnswer, type FedChange, type FeedMessage, type Program} from './messages.js';

export type FeedClient = {
	readonly identity: string;
	readonly pid: number;
	/** Resolves once it is taken; rejects when that cannot be known any more. */
	readonly feed: (isWhole: boolean, changes: readonly NetworkChange[]) => Promise<void>;
	/** Resolves once the other one serves; rejects with why it does not. */
	readonly handOver: (program: Program) => Promise<void>;
	/** Resolves with why the connection is over. */
	readonly ended: Promise<string>;
	readonly close: () => void;
};

export type FeedNews = {readonly memoryBytes?: number; readonly problems?: readonly string[]};

/** Rejects when none answers there in time, or one of another protocol does. */
export async function connectFeed(path: string, clock: Clock, onNews: (news: FeedNews) => void): Promise<FeedClient> {
	const socket = connect(path);
	const greeting = createDeferred<Extract<FeedAnswer, {type: 'hello'}>>();
	const ended = createDeferred<string>();
	const asked = new Map<number, Deferred>();
	let count = 0;
	let unanswered = 0;
	const take = (answer: FeedAnswer): void => {
		unanswered = 0;
		switch (answer.type) {
			case 'hello':
				return greeting.resolve(answer);
			case 'problems':
				return onNews({problems: answer.problems.slice(0, limits.networkProblems)});
			case 'pong':
				return onNews({memoryBytes: answer.memoryBytes});
			case 'taken':
				if (answer.problem === undefined) asked.get(answer.id)?.resolve();
				else asked.get(answer.id)?.reject(new Error(answer.problem));
				asked.delete(answer.id);
		}
	};
	const end = (why: string): void => {
		socket.destroy();
		ended.resolve(why);
		greeting.reject(new Error(why));
		for (const each of asked.values()) each.reject(new Error(why));
		asked.clear();
		cancelPing();
	};
	const read = frameReader(message => {
		const answer = feedAnswerOf(message);
		if (answer !== undefined) take(answer);
	});
	socket.on('data', data => {
		const problem = read(data);
		if (problem !== undefined) end(problem);
	});
	socket.once('error', error => end(error.message));
	socket.once('close', () => end('it has ended'));
	const ask = (messages: (id: number) => Iterable<FeedMessage>): Promise<void> => {
		const answer = createDeferred();
		if (socket.destroyed) return Promise.reject(new Error('it has ended'));
		const id = ++count;
		asked.set(id, answer);
		for (const message of messages(id)) sendFrame(socket, message);
		return answer.promise;
	};
	// Questions are counted, not time: an agent that itself stood still must not take the other end for dead.
	const ping = (): void => {
		if (++unanswered > limits.feedPings) return end(`it has not answered for ${(limits.feedPings * limits.feedPingMs) / 1_000} s`);
		sendFrame(socket, {type: 'ping', id: 0} satisfies FeedMessage);
		cancelPing = clock.after(limits.feedPingMs, ping);
	};
	let cancelPing = clock.after(limits.feedPingMs, ping);
	const {identity, pid, protocol} = await greeted(greeting.promise, clock, end);
	if (protocol !== feedProtocol) {
		end(`it speaks version ${protocol} of the feed, this agent ${feedProtocol}`);
		throw new Error(await ended.promise);
	}
	return {
		identity,
		pid,
		feed: (isWhole, changes) => ask(id => portionsOf(id, isWhole, changes)),
		handOver: program => ask(id => [{type: 'handOver', id, program}]),
		ended: ended.promise,
		close: () => end('the agent has closed it'),
	};
}

async function greeted<Hello>(greeting: Promise<Hello>, clock: Clock, end: (why: string) => void): Promise<Hello> {
	const cancel = clock.after(limits.feedAnswerMs, () => end(`it has not answered for ${limits.feedAnswerMs / 1_000} s`));
	try {
		return await greeting;
	} finally {
		cancel();
	}
}

function* portionsOf(id: number, isWhole: boolean, changes: readonly NetworkChange[]): Iterable<FeedMessage> {
	let portion: FedChange[] = [];
	let characters = 0;
	for (const change of changes.map(fedChange)) {
		const size = JSON.stringify(change).length;
		if (portion.length > 0 && characters + size > limits.feedPortionBytes) {
			yield {type: 'feed', id, isWhole, isLast: false, changes: portion};
			portion = [];
			characters = 0;
		}
		portion.push(change);
		characters += size;
	}
	yield {type: 'feed', id, isWhole, isLast: true, changes: portion};
}
