import {once} from 'node:events';
import http from 'node:http';
import type {IncomingMessage} from 'node:http';
import test from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {collectionPath, type TestCluster} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';

const pods = collectionPath('pods', 'default');
const running = (name: string, restartCount = 0) => ({
	name,
	state: {running: {}},
	...(restartCount > 0 ? {lastState: {terminated: {exitCode: 1}}} : {}),
	ready: true,
	restartCount,
	image: 'none',
	imageID: '',
});

function runningPod(cluster: TestCluster, containers: readonly string[] = ['main'], restartCount = 0): void {
	const pod = cluster.pod('web');
	const spec = {nodeName: 'node-a', containers: containers.map(name => ({name, image: 'none', command: ['x']}))};
	cluster.put({...pod, spec, status: {phase: 'Running', containerStatuses: containers.map(name => running(name, restartCount))}});
}

/** A log that is there from the start, read in pieces of at most `piece` bytes. */
function fixedLog(text: string, piece: number, asked: LogRequest[]) {
	return (_node: string, request: LogRequest): Outcome<LogChunk> => {
		asked.push(request);
		const bytes = Buffer.from(text);
		const from = request.offset ?? (request.tailLines === undefined ? 0 : tailOffset(text, request.tailLines));
		const data = bytes.subarray(from, from + Math.min(piece, request.maxBytes));
		return succeeded({
			data: data.toString('base64'),
			nextOffset: from + data.length,
			endOffset: bytes.length,
			end: from + data.length >= bytes.length,
			attempt: 0,
		});
	};
}

const tailOffset = (text: string, lines: number): number =>
	text
		.split('\n')
		.slice(0, -lines - 1)
		.join('\n').length + 1;

test('a log comes as plain text, in as many pieces as it takes', async t => {
	const {call, cluster} = await openDoor(t);
	runningPod(cluster);
	const asked: LogRequest[] = [];
	const text = 'line\n'.repeat(100);
	cluster.onReadLog(fixedLog(text, 64, asked));
	const answer = await call('GET', `${pods}/web/log`);
	t.is(answer.status, 200);
	t.is(answer.text, text);
	t.regex(String(answer.headers['content-type']), /^text\/plain/);
	t.is(asked[0]?.offset, undefined);
	t.deepEqual(
		asked.slice(1, 3).map(({offset, waitMs}) => [offset, waitMs]),
		[
			[64, 0],
			[128, 0],
		],
	);
	t.deepEqual(asked[0]?.id, {uid: cluster.control.index.get('pods/default/web')?.metadata.uid, container: 'main'} as never);
});

test('tailLines and limitBytes cut at both ends', async t => {
	const {call, cluster} = await openDoor(t);
	runningPod(cluster);
	cluster.onReadLog(fixedLog('a\nb\nc\nd\n', 3, []));
	t.is((await call('GET', `${pods}/web/log?tailLines=2`)).text, 'c\nd\n');
	t.is((await call('GET', `${pods}/web/log?limitBytes=5`)).text, 'a\nb\nc');
});

test('a log that is written without pause and not followed ends where it ended when it was asked for', async t => {
	const {call, cluster} = await openDoor(t);
	runningPod(cluster);
	const asked: LogRequest[] = [];
	cluster.onReadLog((_node, request) => {
		asked.push(request);
		if (asked.length > 50) return failed('ERR_RUNTIME', {message: 'it is asked for more and more'});
		// As much as was read has been written meanwhile, and the end of a line is missing.
		const text = Buffer.from(`${'tick\n'.repeat(4 * asked.length)}ti`);
		const {offset = 2, endOffset = text.length} = request;
		const data = text.subarray(offset, Math.min(offset + 10, endOffset));
		return succeeded({data: data.toString('base64'), nextOffset: offset + data.length, endOffset, end: false, attempt: 0});
	});
	const read = async (query = ''): Promise<string> => {
		asked.length = 0;
		return (await call('GET', `${pods}/web/log${query}`)).text;
	};
	t.is(await read(), 'ck\ntick\ntick\ntick\nti');
	t.deepEqual(
		asked.map(({offset, endOffset}) => [offset, endOffset]),
		[
			[undefined, undefined],
			[12, 22],
		],
		'and nobody asks for what is none of it',
	);
	t.is(await read('?limitBytes=12'), 'ck\ntick\ntick');
	t.is(await read('?offset=20'), 'ti', 'where it goes on, too');
});

test('following goes on until the container ends, and asks only when the last piece was taken', async t => {
	const {cluster, url, authorization} = await openDoor(t);
	runningPod(cluster);
	const asked: LogRequest[] = [];
	let more: (chunk: LogChunk) => void = () => undefined;
	cluster.onReadLog((_node, request) => {
		asked.push(request);
		if (request.offset === undefined)
			return succeeded({data: Buffer.from('one\n').toString('base64'), nextOffset: 4, endOffset: 4, end: false, attempt: 0});
		if (request.waitMs === 0) return succeeded({data: '', nextOffset: request.offset, endOffset: request.offset, end: false, attempt: 0});
		return new Promise(resolve => (more = chunk => resolve(succeeded(chunk))));
	});
	const request = http.get(`${url}${pods}/web/log?follow=true`, {headers: {authorization}, agent: false});
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	let text = '';
	response.on('data', (chunk: Buffer) => (text += chunk.toString()));
	const ended = once(response, 'end');
	while (asked.at(-1)?.waitMs !== limits.logFollowMs) await new Promise(resolve => setImmediate(resolve));
	more({data: Buffer.from('two\n').toString('base64'), nextOffset: 8, endOffset: 8, end: true, attempt: 0});
	await ended;
	t.is(text, 'one\ntwo\n');
	t.true(
		asked.every(({endOffset}) => endOffset === undefined),
		'to no end',
	);
	t.is(cluster.asked.at(-1)?.to, 'troupe://node-a/runtime');
	t.is(cluster.asked.at(-1)?.options.cause, 'http root GET pods/default/web/log');
});

test('a reader that goes is not read for any more', async t => {
	const {cluster, url, authorization, json} = await openDoor(t);
	runningPod(cluster);
	let asked = 0;
	let release: () => void = () => undefined;
	cluster.onReadLog((_node, {offset = 0}) => {
		asked++;
		const data = Buffer.from('x').toString('base64');
		const chunk = succeeded({data, nextOffset: offset + 1, endOffset: offset + 1, end: false, attempt: 0});
		if (asked < 3) return chunk;
		return new Promise(resolve => (release = () => resolve(chunk)));
	});
	const request = http.get(`${url}${pods}/web/log?follow=true`, {headers: {authorization}, agent: false});
	await once(request, 'response');
	while (asked < 3) await new Promise(resolve => setImmediate(resolve));
	request.on('error', () => undefined);
	request.destroy();
	await json(200, 'GET', pods);
	release();
	await json(200, 'GET', pods);
	await json(200, 'GET', pods);
	t.is(asked, 3);
});

test('a reader that is slow slows the asking, not the memory', async t => {
	const {cluster, url, authorization} = await openDoor(t);
	runningPod(cluster);
	const piece = Buffer.alloc(limits.logChunkBytes, 'x').toString('base64');
	const pieces = 400;
	let asked = 0;
	cluster.onReadLog((_node, {offset = 0}) => {
		asked++;
		const [nextOffset, endOffset] = [offset + limits.logChunkBytes, pieces * limits.logChunkBytes];
		return succeeded({data: piece, nextOffset, endOffset, end: asked >= pieces, attempt: 0});
	});
	const request = http.get(`${url}${pods}/web/log`, {headers: {authorization}, agent: false});
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	response.pause();
	let before = -1;
	while (before !== asked) {
		before = asked;
		for (let i = 0; i < 50; i++) await new Promise(resolve => setImmediate(resolve));
	}
	t.true(asked < pieces / 2, `${asked} pieces were asked for`);
	let bytes = 0;
	for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
	t.is(bytes, pieces * limits.logChunkBytes);
});

test('a restart between two pieces does not lose the end of the attempt that was begun', async t => {
	const {call, cluster} = await openDoor(t);
	runningPod(cluster, ['main'], 1);
	const chunk = (text: string, attempt: number, end = false) =>
		succeeded({data: Buffer.from(text).toString('base64'), nextOffset: 9, endOffset: 9, end, attempt});
	cluster.onReadLog((_node, {offset, previous}) => {
		if (offset === undefined) return chunk('begun ', 4);
		return previous ? chunk('and ended', 4, true) : chunk('something else', 5);
	});
	t.is((await call('GET', `${pods}/web/log?follow=true`)).text, 'begun and ended');
});

test('what is asked of the log is asked of the node, once: from when on, and with times', async t => {
	const {call, cluster} = await openDoor(t);
	runningPod(cluster);
	const asked: LogRequest[] = [];
	cluster.onReadLog(fixedLog('a\nb\n', 2, asked));
	const nowMs = cluster.control.nowMs();
	for (const [query, sinceMs] of [
		['sinceSeconds=5&timestamps=true', nowMs - 5_000],
		['sinceTime=2024-01-01T00:00:00.5%2B01:00', Date.parse('2023-12-31T23:00:00.500Z')],
	] as const) {
		asked.length = 0;
		t.is((await call('GET', `${pods}/web/log?${query}`)).status, 200);
		t.deepEqual(
			asked.map(request => [request.sinceMs, request.timestamps]),
			[
				[sinceMs, query.includes('timestamps')],
				[undefined, query.includes('timestamps')],
			],
		);
	}
});

test('the answer says where it begins, and whoever was cut off goes on there, in the attempt that was begun', async t => {
	const {call, cluster} = await openDoor(t);
	runningPod(cluster, ['main'], 4);
	const attempts: Record<number, string> = {3: 'third\n', 4: '2026-01-01T00:00:00.000Z fourth\n2026-01-01T00:00:01.000Z end\n'};
	const asked: LogRequest[] = [];
	cluster.onReadLog((_node, request) => {
		asked.push(request);
		const attempt = request.previous ? 3 : 4;
		const text = Buffer.from(attempts[attempt] ?? '');
		const from = request.offset ?? 0;
		const data = text.subarray(from).toString('base64');
		// With times more is sent than the program wrote: "fourth" and "end" and their ends are 11 bytes.
		const nextOffset = request.timestamps === true ? 111 : text.length;
		return succeeded({data, nextOffset, endOffset: nextOffset, end: true, attempt});
	});
	const begin = async (query: string): Promise<readonly unknown[]> => {
		const {status, text, headers} = await call('GET', `${pods}/web/log?${query}`);
		return [status, text, headers['troupe-log-attempt'], headers['troupe-log-offset']];
	};
	t.deepEqual(await begin('timestamps=true'), [200, attempts[4], '4', '100']);
	t.deepEqual(await begin('attempt=3&offset=2'), [200, 'ird\n', '3', '2'], 'the attempt before the current one');
	t.like(asked.at(-1), {previous: true, offset: 2});
	const refused = async (query: string): Promise<StatusBody> =>
		JSON.parse((await call('GET', `${pods}/web/log?${query}`)).text) as StatusBody;
	t.like(await refused('attempt=2'), {code: 404, details: {kind: 'attempts', name: '2'}});
	t.like(await refused('attempt=5'), {code: 400, message: 'attempt 5 of container "main" is waiting to start'});
});

test('the log of a pod that is deleted ends in good order', async t => {
	const {cluster, url, authorization} = await openDoor(t);
	runningPod(cluster);
	cluster.onReadLog((_node, {offset}) => {
		const data = Buffer.from('all').toString('base64');
		if (offset === undefined) return succeeded({data, nextOffset: 3, endOffset: 3, end: false, attempt: 0});
		cluster.drop('pods/default/web');
		return failed('ERR_NOT_FOUND', {resource: 'sandboxes', name: 'x'});
	});
	const request = http.get(`${url}${pods}/web/log?follow=true`, {headers: {authorization}, agent: false});
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	let text = '';
	for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString();
	t.deepEqual([text, response.complete], ['all', true]);
});

test('what cannot be read is refused in kubectl words', async t => {
	const {json, cluster} = await openDoor(t);
	const refused = async (query = '') => (await json<StatusBody>(400, 'GET', `${pods}/web/log${query}`)).message;
	const pod = cluster.pod('web');
	t.is(await refused(), 'pod web does not have a host assigned');
	cluster.put({...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}});
	t.is(await refused(), 'container "main" in pod "web" is waiting to start: ContainerCreating');
	const waiting = {...running('main'), state: {waiting: {reason: 'NoCommand'}}};
	cluster.put({...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}, status: {containerStatuses: [waiting]}});
	t.is(await refused(), 'container "main" in pod "web" is waiting to start: NoCommand');
	const told = {...waiting, state: {waiting: {reason: 'CreateContainerConfigError', message: 'configmap "menu" not found'}}};
	cluster.put({...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}, status: {containerStatuses: [told]}});
	t.is(await refused(), 'container "main" in pod "web" is waiting to start: CreateContainerConfigError (configmap "menu" not found)');
	runningPod(cluster, ['a', 'b']);
	t.is(await refused(), 'a container name must be specified for pod web, choose one of: [a b]');
	t.is(await refused('?container=nobody'), 'container nobody is not valid for pod web');
	t.is(await refused('?container=a&previous=true'), 'previous terminated container "a" in pod "web" not found');
	t.regex(await refused('?container=a&stream=Stdout'), /^stream must be All/);
	t.is(await refused('?container=a&sinceSeconds=0'), 'sinceSeconds must be greater than 0');
	t.regex(await refused('?container=a&sinceTime=yesterday'), /^sinceTime must be a time such as .*, got "yesterday"/);
	t.regex(await refused('?container=a&sinceTime=2024-01-01T00:00:00Z&sinceSeconds=5'), /^at most one of/);
	t.is(await refused('?container=a&limitBytes=0'), 'limitBytes must be greater than 0');
	t.regex(await refused('?container=a&tailLines=x'), /^tailLines must be/);
	await json(404, 'GET', `${pods}/nobody/log`);
	t.is((await json<StatusBody>(503, 'GET', `${pods}/web/log?container=a`)).reason, 'ServiceUnavailable');
	cluster.onReadLog(() => failed('ERR_OUTCOME_UNKNOWN', {address: 'troupe://node-a/runtime'}));
	t.regex((await json<StatusBody>(503, 'GET', `${pods}/web/log?container=a`)).message, /^the node "node-a" is not reachable/);
	cluster.onReadLog(() => failed('ERR_RUNTIME', {message: 'the log cannot be read'}));
	t.is((await json<StatusBody>(500, 'GET', `${pods}/web/log?container=a`)).message, 'the log cannot be read');
});
