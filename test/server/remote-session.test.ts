import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import type {ExecOutput} from '../../actors/node/runtime/runtime-port.js';
import {succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {runSession} from '../../server/http/remote-session.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import type {MessageSocket} from '../../system/links/web-socket.js';

test('a session is kept while a piece of it is under way to its reader, and no longer', async t => {
	const clock = new ManualClock();
	let kept = 0;
	let isTaken: (taken: boolean) => void = () => undefined;
	let looks = 0;
	const socket = {
		onMessage: () => undefined,
		onClose: () => undefined,
		send: () => new Promise<boolean>(resolve => (isTaken = resolve)),
	} as unknown as MessageSocket;
	const done = (): Promise<Outcome<unknown>> => Promise.resolve(succeeded(null));
	const remote = {
		read: () => {
			looks++;
			const piece: Outcome<ExecOutput> = succeeded({parts: [{stream: 'stdout', data: 'eA=='}], end: undefined});
			return looks === 1 ? Promise.resolve(piece) : new Promise<Outcome<ExecOutput>>(() => undefined);
		},
		keep: () => {
			kept++;
			return Promise.resolve();
		},
		write: done,
		resize: done,
		close: done,
	};
	runSession(socket, remote, {stdin: false, stdout: true, stderr: true, tty: false}, clock);
	await nextTurn();
	clock.advance(3 * limits.execAliveMs);
	t.is(kept, 3);
	isTaken(true);
	await nextTurn();
	t.is(looks, 2, 'its reader has taken the piece');
	clock.advance(10 * limits.execAliveMs);
	t.is(kept, 3);
	t.is(clock.nextAtMs(), undefined);
});
