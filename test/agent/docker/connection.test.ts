import {writeFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openConnection, type EngineState} from '../../../agent/docker/engine/connection.js';
import type {EngineAddress} from '../../../agent/docker/engine/engine-url.js';
import {EngineError, openEngine} from '../../../agent/docker/engine/engine.js';
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
	t.deepEqual(states[0], {
		is: 'hangs',
		message:
			"Docker's Engine did not answer within 10000 ms: follow events; its log may say why (journalctl -u docker), and it may have to be restarted",
	});
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
	t.deepEqual(states[1], {is: 'gone', message: "Docker's Engine closed the connection: look whether it runs (systemctl status docker)"});
});

const words: readonly (readonly [title: string, make: (socket: string) => void, says: RegExp])[] = [
	['not there', () => undefined, /there is nothing at unix:\/\/.*: start Docker, or say where it listens \(--docker\)$/],
	['a file', socket => writeFileSync(socket, ''), /no Engine listens at unix:\/\/.*: start Docker, or say where it listens \(--docker\)$/],
];

for (const [title, make, says] of words) {
	test(`a socket that is ${title} is told with what to do`, async t => {
		const folder = await mkdtemp(path.join(tmpdir(), 'engine-'));
		t.teardown(() => rm(folder, {recursive: true, force: true}));
		const socketPath = path.join(folder, 's');
		make(socketPath);
		const engine = openEngine({socketPath}, new ManualClock(0));
		const error = await t.throwsAsync(
			engine.call('ping', 1_000, docker => docker.ping()),
			{instanceOf: EngineError},
		);
		t.regex(error.message, says);
		t.is(error.fault, 'unreachable');
	});
}

test('a socket that this user may not use is told with what to do, and a port as people write it', async t => {
	const denied = (): Promise<never> => Promise.reject(Object.assign(new Error('connect EACCES'), {code: 'EACCES'}));
	const said = (address: EngineAddress) => t.throwsAsync(openEngine(address, new ManualClock(0)).call('ping', 1_000, denied));
	t.regex((await said({socketPath: '/s'})).message, /this user may not use unix:\/\/\/s: be in the group that may/);
	t.regex((await said({host: '::1', port: 2375})).message, /tcp:\/\/\[::1\]:2375/);
});
