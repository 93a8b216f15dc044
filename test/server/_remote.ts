// A node's runtime as a test scripts it, and a client that speaks exec's protocol word for word.

import type {SessionAsk} from '../../actors/node/runtime-actor.js';
import type {ExecOutput, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {succeeded, type Outcome} from '../../api/errors.js';
import {remoteProtocol} from '../../api/remote-channels.js';
import {dialWebSocket, type MessageSocket} from '../../system/links/web-socket.js';
import type {TestCluster} from './cluster.js';

export type NodeAsked = SessionAsk | {readonly type: 'readLog'; readonly request: LogRequest};
type Answer = Outcome<unknown> | Promise<Outcome<unknown>>;

/** A pod `web` that runs on node-a. */
export function runningPod(cluster: TestCluster, containers: readonly object[] = [{name: 'main'}], status: object = {}): void {
	const pod = cluster.pod('web');
	const names = containers.map(container => (container as {name: string}).name);
	const containerStatuses = names.map(name => ({name, state: {running: {}}, ready: true, restartCount: 0, image: 'none', imageID: ''}));
	const spec = {nodeName: 'node-a', containers: containers.map(container => ({image: 'none', command: ['x'], ...container}))};
	cluster.put({...pod, spec, status: {phase: 'Running', containerStatuses, ...status}});
}

/** What node-a is asked, and what it answers: null for whatever the test does not answer itself. */
export function scriptNode(cluster: TestCluster, answer: (asked: NodeAsked) => Answer | undefined) {
	const asked: NodeAsked[] = [];
	cluster.answers.set('troupe://node-a/runtime', message => {
		asked.push(message as NodeAsked);
		return answer(message as NodeAsked) ?? succeeded(message.type === 'execOpen' ? {session: 's1'} : null);
	});
	return asked;
}

/** Output that comes when the test says; a look at it waits for that. */
export function output() {
	const ready: ExecOutput[] = [];
	let waiting: ((outcome: Outcome<ExecOutput>) => void) | undefined;
	return {
		read: (): Promise<Outcome<ExecOutput>> =>
			new Promise(resolve => {
				const next = ready.shift();
				if (next === undefined) waiting = resolve;
				else resolve(succeeded(next));
			}),
		put(parts: readonly (readonly ['stdout' | 'stderr', string | Buffer])[], exitCode?: number): void {
			const value = {
				parts: parts.map(([stream, data]) => ({stream, data: Buffer.from(data).toString('base64')})),
				end: exitCode === undefined ? undefined : {exitCode},
			};
			const resolve = waiting;
			waiting = undefined;
			if (resolve === undefined) ready.push(value);
			else resolve(succeeded(value));
		},
		fail(outcome: Outcome<ExecOutput>): void {
			waiting?.(outcome);
		},
	};
}

export type Heard = {
	readonly socket: MessageSocket;
	/** Each message: its channel and its text. */
	readonly messages: (readonly [channel: number, text: string])[];
	readonly closed: Promise<number>;
};

/** Opens a session as kubectl does. Rejects with the Status when it is refused. */
export async function openRemote(url: string, path: string, subprotocol: string = remoteProtocol, token = 'admin'): Promise<Heard> {
	const at = new URL(url + path);
	at.protocol = 'ws:';
	const headers = {authorization: `Bearer ${token}`};
	const dialled = await dialWebSocket(at, {subprotocol, headers, payloadBytes: 1_048_576, timeoutMs: 10_000, rejectUnauthorized: true});
	if (dialled.type === 'answered') {
		let text = '';
		for await (const chunk of dialled.answer) text += String(chunk);
		throw Object.assign(new Error('refused'), {answer: JSON.parse(text) as unknown});
	}
	const {socket} = dialled;
	const messages: [number, string][] = [];
	socket.onMessage(bytes => messages.push([bytes[0] ?? -1, bytes.subarray(1).toString()]));
	return {socket, messages, closed: new Promise(resolve => socket.onClose(resolve))};
}
