import {mkdtemp, rm} from 'node:fs/promises';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openConnection, type EngineState} from '../../../agent/docker/engine/connection.js';
import {openEngine} from '../../../agent/docker/engine/engine.js';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {whenTrue} from '../process-world.js';

/** An Engine that is asked for its events, and answers when the test wants. */
async function world(t: ExecutionContext, clock: Clock) {
	const folder = await mkdtemp(path.join(tmpdir(), 'engine-'));
	const socketPath = path.join(folder, 's');
	const asked: http.ServerResponse[] = [];
	const server = http.createServer((_request, answer) => void asked.push(answer));
	await new Promise<void>(resolve => server.listen(socketPath, resolve));
	const states: EngineState[] = [];
	const connection = openConnection({
		engine: openEngine({socketPath}, clock),
		clock,
		owner: 'o',
		compare: () => Promise.resolve(),
		hear: () => undefined,
		changed: state => void states.push(state),
	});
	t.teardown(async () => {
		await connection.close();
		server.closeAllConnections();
		await new Promise(resolve => server.close(resolve));
		await rm(folder, {recursive: true, force: true});
	});
	return {asked, states, connection};
}

test('what an Engine opens after nobody waits for it any more is closed', async t => {
	const clock = new ManualClock(0);
	const {asked, states} = await world(t, clock);
	await whenTrue(() => asked.length === 1);
	clock.advance(limits.engineAnswerMs);
	await whenTrue(() => states.length === 1);
	t.is(states[0]?.is, 'hangs');
	await whenTrue(() => asked[0]?.closed === true);
	t.is(asked.length, 1, 'nothing else was asked meanwhile');
});

test('a question that is open ends with the connection', async t => {
	const {asked, connection} = await world(t, new ManualClock(0));
	await whenTrue(() => asked.length === 1);
	await connection.close();
	await whenTrue(() => asked[0]?.closed === true);
	t.is(asked.length, 1, 'it is not asked again');
});

test('an Engine that breaks off is gone, and what is told says so', async t => {
	const {asked, states} = await world(t, new ManualClock(0));
	await whenTrue(() => asked.length === 1);
	asked[0]?.writeHead(200).flushHeaders();
	await whenTrue(() => states.length === 1);
	t.deepEqual(states, [{is: 'up'}]);
	asked[0]?.destroy();
	await whenTrue(() => states.length === 2);
	t.deepEqual(states[1], {is: 'gone', message: "Docker's Engine closed the connection"});
});
