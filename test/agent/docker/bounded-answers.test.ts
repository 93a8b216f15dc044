import {mkdtemp, rm} from 'node:fs/promises';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Readable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {openEngine} from '../../../agent/docker/engine/engine.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

/** An Engine that answers with this status, and with ever more of a text until nobody listens. */
async function talkative(t: ExecutionContext, status: number) {
	const folder = await mkdtemp(path.join(tmpdir(), 'engine-'));
	const socketPath = path.join(folder, 's');
	const piece = Buffer.alloc(1_048_576, 'x');
	let hungUp: () => void = () => undefined;
	const closed = new Promise<void>(resolve => (hungUp = resolve));
	const server = http.createServer((_request, response) => {
		response.writeHead(status, {'content-type': 'application/json'});
		const say = (): void => {
			while (!response.destroyed && response.write(piece));
		};
		response.on('drain', say).once('close', hungUp).on('error', hungUp);
		say();
	});
	await new Promise<void>(resolve => server.listen(socketPath, resolve));
	t.teardown(async () => {
		server.closeAllConnections();
		await new Promise(resolve => server.close(resolve));
		await rm(folder, {recursive: true});
	});
	// It is about bytes: no machine is too slow for it.
	return {engine: openEngine({socketPath}, new ManualClock()), closed};
}

const tooLarge = {message: new RegExp(`: the answer is larger than ${limits.engineAnswerBytes} bytes$`)};

test('an answer without end is refused, and the connection is closed', async t => {
	for (const status of [200, 500]) {
		const {engine, closed} = await talkative(t, status);
		await t.throwsAsync(
			engine.call('ask for its version', limits.engineAnswerMs, docker => docker.version()),
			tooLarge,
		);
		await closed;
	}
});

test('so is one that is given instead of a stream; a stream has no end', async t => {
	const refused = await talkative(t, 500);
	await t.throwsAsync(
		refused.engine.open('follow events', limits.engineAnswerMs, docker => docker.getEvents()),
		tooLarge,
	);
	await refused.closed;
	const {engine} = await talkative(t, 200);
	const stream = (await engine.open('follow events', limits.engineAnswerMs, docker => docker.getEvents())) as Readable;
	let size = 0;
	for await (const part of stream as AsyncIterable<Buffer>) if ((size += part.length) > limits.engineAnswerBytes + 1) break;
	t.true(size > limits.engineAnswerBytes);
});
