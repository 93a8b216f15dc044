import {once} from 'node:events';
import http from 'node:http';
import type {IncomingMessage} from 'node:http';
import test from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {LogChunk, LogRequest} from '../../actors/node/runtime-port.js';
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

test('following goes on until the container ends, and asks only when the last piece was taken', async t => {
	const {cluster, url, authorization} = await openDoor(t);
	runningPod(cluster);
	const asked: LogRequest[] = [];
	let more: (chunk: LogChunk) => void = () => undefined;
	cluster.onReadLog((_node, request) => {
		asked.push(request);
		if (request.offset === undefined)
			return succeeded({data: Buffer.from('one\n').toString('base64'), nextOffset: 4, end: false, attempt: 0});
		if (request.waitMs === 0) return succeeded({data: '', nextOffset: request.offset, end: false, attempt: 0});
		return new Promise(resolve => (more = chunk => resolve(succeeded(chunk))));
	});
	const request = http.get(`${url}${pods}/web/log?follow=true`, {headers: {authorization}, agent: false});
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	let text = '';
	response.on('data', (chunk: Buffer) => (text += chunk.toString()));
	const ended = once(response, 'end');
	while (asked.at(-1)?.waitMs !== limits.logFollowMs) await new Promise(resolve => setImmediate(resolve));
	more({data: Buffer.from('two\n').toString('base64'), nextOffset: 8, end: true, attempt: 0});
	await ended;
	t.is(text, 'one\ntwo\n');
	t.is(cluster.asked.at(-1)?.to, 'troupe://node-a/runtime');
	t.is(cluster.asked.at(-1)?.options.cause, 'http root GET pods/default/web/log');
});

test('a reader that goes is not read for any more', async t => {
	const {cluster, url, authorization, json} = await openDoor(t);
	runningPod(cluster);
	let asked = 0;
	let release: () => void = () => undefined;
	cluster.onReadLog((_node, {offset}) => {
		asked++;
		const chunk = succeeded({data: Buffer.from('x').toString('base64'), nextOffset: (offset ?? 0) + 1, end: false, attempt: 0});
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
		return succeeded({data: piece, nextOffset: offset + limits.logChunkBytes, end: asked >= pieces, attempt: 0});
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
		succeeded({data: Buffer.from(text).toString('base64'), nextOffset: 9, end, attempt});
	cluster.onReadLog((_node, {offset, previous}) => {
		if (offset === undefined) return chunk('begun ', 4);
		return previous ? chunk('and ended', 4, true) : chunk('something else', 5);
	});
	t.is((await call('GET', `${pods}/web/log?follow=true`)).text, 'begun and ended');
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
	runningPod(cluster, ['a', 'b']);
	t.is(await refused(), 'a container name must be specified for pod web, choose one of: [a b]');
	t.is(await refused('?container=c'), 'container c is not valid for pod web');
	t.is(await refused('?container=a&previous=true'), 'previous terminated container "a" in pod "web" not found');
	for (const parameter of ['sinceSeconds=5', 'sinceTime=2024-01-01T00:00:00Z', 'timestamps=true'])
		t.regex(await refused(`?container=a&${parameter}`), new RegExp(`^${parameter.split('=', 1).join('')} is not supported yet`));
	t.regex(await refused('?container=a&tailLines=x'), /^tailLines must be/);
	await json(404, 'GET', `${pods}/nobody/log`);
	t.is((await json<StatusBody>(503, 'GET', `${pods}/web/log?container=a`)).reason, 'ServiceUnavailable');
	cluster.onReadLog(() => failed('ERR_OUTCOME_UNKNOWN', {address: 'troupe://node-a/runtime'}));
	t.regex((await json<StatusBody>(503, 'GET', `${pods}/web/log?container=a`)).message, /^the node "node-a" of this pod is not reachable/);
	cluster.onReadLog(() => failed('ERR_RUNTIME', {message: 'the log cannot be read'}));
	t.is((await json<StatusBody>(500, 'GET', `${pods}/web/log?container=a`)).message, 'the log cannot be read');
});
