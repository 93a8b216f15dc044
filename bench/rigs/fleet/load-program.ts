// Clients of a web app, in a process of the network from which they ask: each way to it is asked again and again, and what becomes of each request
// is told. A part (bench/rigs/remote.ts).
//
// A request that finds its kept connection closed before a byte of an answer is sent once more on a new one, as HTTP clients do with a GET
// (RFC 9110, 9.2.2); all else that is not answered with 200 in time counts as lost.

import {Agent, request, type ClientRequest} from 'node:http';
import {serve} from '../remote.js';
import type {Loss, LossesOfWay, Question, Way} from './load.js';

/** More are counted and not told. */
const mostTold = 200;

type Running = {readonly end: () => Promise<LossesOfWay>};

type Outcome = {readonly answer: string; readonly isAgain: boolean} | {readonly error: string};

const nowMs = (): number => performance.timeOrigin + performance.now();

/** One request; resolves in any case. */
function ask({url, host, timeoutMs}: Question, agent: Agent | false): Promise<Outcome> {
	return new Promise(resolve => {
		let sent: ClientRequest | undefined;
		const settle = (outcome: Outcome): void => {
			clearTimeout(late);
			resolve(outcome);
		};
		const late = setTimeout(() => {
			settle({error: `no answer within ${timeoutMs} ms`});
			sent?.destroy();
		}, timeoutMs);
		const send = (by: Agent | false, isAgain: boolean): void => {
			let answered = false;
			const its = request(url, {agent: by, headers: host === undefined ? {} : {host}}, response => {
				answered = true;
				let text = '';
				response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
				response.on('error', error => settle({error: `broken off: ${error.message}`}));
				response.on('end', () => settle(response.statusCode === 200 ? {answer: text, isAgain} : {error: `status ${response.statusCode}`}));
			});
			sent = its;
			its.on('error', (error: NodeJS.ErrnoException) => {
				if (its.reusedSocket && !answered && !isAgain) send(false, true);
				else settle({error: error.code ?? error.message});
			});
			its.end();
		};
		send(agent, false);
	});
}

/** New connections each on its time, however long others take; a kept one when the request before it is answered. */
function keepAsking(way: Way): Running {
	const agent = way.isKept ? new Agent({keepAlive: true, maxSockets: 1}) : false;
	const counts = {sent: 0, answered: 0, again: 0, lostCount: 0, slowestMs: 0};
	const lost: Loss[] = [];
	const under = new Set<Promise<void>>();
	let running = true;
	const one = async (): Promise<void> => {
		const atMs = nowMs();
		counts.sent += 1;
		const outcome = await ask(way, agent);
		const afterMs = nowMs() - atMs;
		if ('answer' in outcome) {
			counts.answered += 1;
			if (outcome.isAgain) counts.again += 1;
			counts.slowestMs = Math.max(counts.slowestMs, Math.round(afterMs));
			return;
		}
		counts.lostCount += 1;
		if (lost.length < mostTold) lost.push({way: way.name, atMs: Math.round(atMs), afterMs: Math.round(afterMs), error: outcome.error});
	};
	const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, way.everyMs));
	const loop = async (): Promise<void> => {
		while (running) {
			const asked = one();
			under.add(asked);
			void asked.then(() => under.delete(asked));
			if (way.isKept) await asked;
			await pause();
		}
	};
	const looping = loop();
	return {
		async end() {
			running = false;
			await looping;
			await Promise.all(under);
			if (agent !== false) agent.destroy();
			return {way: way.name, ...counts, lost};
		},
	};
}

let all: readonly Running[] = [];

const part = {
	begin(ways: readonly Way[]): void {
		all = ways.map(keepAsking);
	},
	/** Resolves when all that was asked is answered or lost. */
	end: async (): Promise<readonly LossesOfWay[]> => Promise.all(all.map(each => each.end())),
	/** One after the other, each on a connection of its own: the answers, or why there is none. */
	async ask({count, ...question}: Question & {readonly count: number}): Promise<readonly string[]> {
		const said: string[] = [];
		for (let at = 0; at < count; at++) {
			const outcome = await ask(question, false);
			said.push('answer' in outcome ? outcome.answer : `none: ${outcome.error}`);
		}
		return said;
	},
};

export type LoadPart = typeof part;

serve(part);
