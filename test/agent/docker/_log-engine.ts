// An Engine over a unix socket that has the log of one container. What is asked of it is real HTTP; it can break off anywhere.

import {mkdtemp, rm} from 'node:fs/promises';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {openEngine, type Engine} from '../../../agent/docker/engine/engine.js';
import {systemClock} from '../../../system/time/clock.js';

export type Message = {readonly stream: 'stdout' | 'stderr'; readonly stamp: string; readonly text: string};

export type LogEngine = {
	readonly engine: Engine;
	/** What it has kept. */
	messages: Message[];
	/** After so many bytes the connection breaks; undefined: it does not. */
	breakAfter: number | undefined;
	/** After so many messages a log that is followed is ended as if that were all; undefined: it is not. */
	endEarlyAfter: number | undefined;
	/** The container runs. */
	isRunning: boolean;
	/** It has taken the question and says nothing. */
	isSilent: boolean;
	/** `since` of each question. */
	readonly asked: (string | null)[];
	/** Tells those that follow of what is new. */
	readonly tell: () => void;
};

export function frame(stream: 'stdout' | 'stderr', text: string): Buffer {
	const data = Buffer.from(text);
	const head = Buffer.from([stream === 'stdout' ? 1 : 2, 0, 0, 0, 0, 0, 0, 0]);
	head.writeUInt32BE(data.length, 4);
	return Buffer.concat([head, data]);
}

export async function startLogEngine(t: ExecutionContext): Promise<LogEngine> {
	const folder = await mkdtemp(path.join(tmpdir(), 'engine-'));
	const socketPath = path.join(folder, 'socket');
	const followers = new Set<() => void>();
	const fake: LogEngine = {
		engine: openEngine({socketPath}, systemClock),
		messages: [],
		breakAfter: undefined,
		endEarlyAfter: undefined,
		isRunning: true,
		isSilent: false,
		asked: [],
		tell() {
			for (const follower of followers) follower();
		},
	};
	const server = http.createServer((request, answer) => {
		const since = new URL(request.url ?? '/', 'http://engine').searchParams.get('since');
		fake.asked.push(since);
		if (!fake.isSilent) send(fake, since, answer, followers);
	});
	await new Promise<void>(resolve => server.listen(socketPath, resolve));
	t.teardown(async () => {
		server.closeAllConnections();
		await new Promise(resolve => server.close(resolve));
		await rm(folder, {recursive: true, force: true});
	});
	return fake;
}

function send(fake: LogEngine, since: string | null, answer: http.ServerResponse, followers: Set<() => void>): void {
	let next = 0;
	let left = fake.breakAfter;
	answer.writeHead(200);
	answer.flushHeaders();
	const follow = (): void => {
		for (; next < fake.messages.length; next++) {
			if (next === fake.endEarlyAfter) return end();
			const message = fake.messages[next];
			if (message === undefined || (since !== null && secondsOf(message.stamp) < Number(since))) continue;
			const bytes = frame(message.stream, `${message.stamp} ${message.text}`);
			if (left !== undefined && left < bytes.length) {
				answer.write(bytes.subarray(0, left), () => answer.destroy());
				followers.delete(follow);
				return;
			}
			if (left !== undefined) left -= bytes.length;
			answer.write(bytes);
		}
		if (!fake.isRunning) end();
	};
	const end = (): void => {
		followers.delete(follow);
		answer.end();
	};
	followers.add(follow);
	answer.once('close', () => followers.delete(follow));
	follow();
}

const secondsOf = (stamp: string): number => Date.parse(stamp) / 1_000 + Number(`0.000${stamp.slice(23, 29)}`);
