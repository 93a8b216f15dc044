// How one data plane gives all it has to the next: that is started as its child, gets what is known and each listening socket, and says when it
// serves. Both listen for a moment, so that no connection is refused in between.

import {fork, type ChildProcess} from 'node:child_process';
import {isObject} from '../../../api/object.js';
import {limits} from '../../../api/limits.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {Clock} from '../../../system/time/clock.js';
import {createDeferred} from '../../../system/time/deferred.js';
import {statOf} from '../../os/identity.js';
import {fedChange, type FedChange, type Program} from '../feed/messages.js';
import {recordStarted} from '../feed/record.js';
import type {SocketMark} from '../listeners/listeners.js';
import type {HandedSocket} from '../listeners/open-listeners.js';

/** To the successor. */
export type Handed =
	| {readonly type: 'changes'; readonly changes: readonly FedChange[]}
	| {readonly type: 'socket'; readonly mark: SocketMark}
	/** That was all. */
	| {readonly type: 'serve'};

/** From it: it hears; and, when all is open, it serves. */
export type SuccessorNews = {readonly type: 'began'} | {readonly type: 'serving'};

/** Objects of one message. */
const portion = 100;

type HandOverOptions = {
	readonly folder: string;
	readonly changes: readonly NetworkChange[];
	readonly sockets: readonly HandedSocket[];
	readonly clock: Clock;
};

/** Resolves when the successor serves. Rejects, and nothing is left of it, when it does not. */
export async function handOver({node, flags, main, settings}: Program, {folder, changes, sockets, clock}: HandOverOptions): Promise<void> {
	const child = fork(main, [settings], {
		execPath: node,
		execArgv: [...flags],
		cwd: '/',
		env: {},
		detached: true,
		stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
	});
	const news = newsOf(child, clock);
	try {
		const stat = child.pid === undefined ? undefined : statOf(child.pid);
		if (stat !== undefined) recordStarted(folder, stat);
		await news.began;
		for (let from = 0; from < changes.length; from += portion)
			await send(child, {type: 'changes', changes: changes.slice(from, from + portion).map(fedChange)});
		for (const {mark, socket} of sockets) await send(child, {type: 'socket', mark}, socket);
		await send(child, {type: 'serve'});
		await news.serving;
		child.disconnect();
		child.unref();
	} catch (error) {
		child.kill('SIGKILL');
		throw error;
	} finally {
		news.close();
	}
}

function newsOf(child: ChildProcess, clock: Clock) {
	const began = createDeferred();
	const serving = createDeferred();
	const fail = (why: string): void => {
		for (const each of [began, serving]) each.reject(new Error(why));
	};
	// Whoever waits for the second hears of a failure at the first.
	serving.promise.catch(() => undefined);
	child.on('message', (message: unknown) => {
		if (isObject(message) && message['type'] === 'began') began.resolve();
		if (isObject(message) && message['type'] === 'serving') serving.resolve();
	});
	child.once('error', error => fail(`the new data plane could not be started: ${error.message}`));
	child.once('exit', (code, signal) => fail(`the new data plane ended at its start (${signal ?? `code ${code}`})`));
	const cancel = clock.after(limits.handOverMs, () => fail(`the new data plane did not serve within ${limits.handOverMs / 1_000} s`));
	return {began: began.promise, serving: serving.promise, close: cancel};
}

const send = (child: ChildProcess, message: Handed, socket?: HandedSocket['socket']): Promise<void> =>
	new Promise((resolve, reject) => {
		child.send(message, socket, error => (error === null ? resolve() : reject(error)));
	});
