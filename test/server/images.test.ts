// Images of nodes at the door: who may list them and bring some, and what of that reaches the node.

import test from 'ava';
import {succeeded} from '../../api/errors.js';
import {channels, framed} from '../../api/remote-channels.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {openDoor, type StatusBody} from './door.js';
import {openRemote, output, scriptNode, type NodeAsked} from './_remote.js';

const nodeA = {
	apiVersion: 'v1',
	kind: 'Node',
	metadata: {name: 'node-a', uid: 'n', resourceVersion: '1', creationTimestamp: '', generation: 1},
	spec: {},
};
const images = '/troupe/v1/nodes/node-a/images';

const refusing =
	(t: {throwsAsync: (work: Promise<unknown>) => Promise<unknown>}, url: string) =>
	async (path: string, token?: string): Promise<StatusBody> =>
		((await t.throwsAsync(openRemote(url, path, undefined, token))) as {answer: StatusBody}).answer;

test('images of a node are listed for every reader', async t => {
	const {cluster, json} = await openDoor(t);
	cluster.put(nodeA);
	const listed = [{id: 'sha256:1', names: ['a:1'], bytes: 1, createdAtMs: 1, inUse: false}];
	const asked = scriptNode(cluster, ask => (ask.type === 'imageList' ? succeeded({images: listed}) : undefined));
	for (const token of ['viewer', 'editor', 'admin'])
		t.deepEqual(await json(200, 'GET', images, undefined, {authorization: `Bearer ${token}`}), {images: listed});
	t.is(asked.length, 3);
	await json(403, 'GET', images, undefined, {authorization: 'Bearer node-a'});
	await json(404, 'GET', '/troupe/v1/nodes/nosuch/images');
	t.is(asked.length, 3);
});

test('an archive goes to the node byte by byte, and what the node says comes back', async t => {
	const {cluster, url} = await openDoor(t);
	cluster.put(nodeA);
	const written = output();
	const asked = scriptNode(cluster, ask => {
		if (ask.type === 'imageOpen') return succeeded({session: 's1'});
		return ask.type === 'execRead' ? written.read() : undefined;
	});
	const {socket, messages, closed} = await openRemote(url, `${images}/load`, undefined, 'editor');
	await socket.send(framed(channels.stdin, Buffer.from('archive')));
	await socket.send(framed(channels.close, new Uint8Array([channels.stdin])));
	const writes = (): readonly NodeAsked[] => asked.filter(({type}) => type === 'execWrite');
	await eventually('the archive to arrive', () => writes().length === 2);
	t.like(writes()[0], {session: 's1', data: Buffer.from('archive').toString('base64'), isLast: false});
	t.like(writes()[1], {session: 's1', data: '', isLast: true});
	written.put(
		[
			['stdout', '{"image":"a:1"}\n'],
			['stderr', 'words'],
		],
		1,
	);
	t.is(await closed, 1000);
	t.deepEqual(messages.slice(0, 2), [
		[1, '{"image":"a:1"}\n'],
		[2, 'words'],
	]);
	t.like(JSON.parse(messages.at(-1)?.[1] ?? ''), {status: 'Failure', reason: 'NonZeroExitCode'});
	t.is(asked.filter(({type}) => type === 'execClose').length, 1);
});

test('what is asked for reaches the node as it was said', async t => {
	const {cluster, url} = await openDoor(t);
	cluster.put(nodeA);
	const asked = scriptNode(cluster, ask => {
		if (ask.type === 'imageOpen') return succeeded({session: 's1'});
		return ask.type === 'execRead' ? succeeded({parts: [], end: {exitCode: 0}}) : undefined;
	});
	await (
		await openRemote(url, `${images}/pull?image=a%3A1`)
	).closed;
	await (
		await openRemote(url, `${images}/build?tag=b&dockerfile=x%2FD&target=t&arg=A%3D1%3D2&arg=B%3D&label=l%3Dv&offline=true&pull=true`)
	).closed;
	t.deepEqual(
		asked.flatMap(ask => (ask.type === 'imageOpen' ? [ask.request] : [])),
		[
			{action: 'pull', image: 'a:1'},
			{
				action: 'build',
				tag: 'b',
				dockerfile: 'x/D',
				target: 't',
				args: {A: '1=2', B: ''},
				labels: {l: 'v'},
				isOffline: true,
				noCache: false,
				pulls: true,
			},
		],
	);
});

test('who may only look brings nothing, and what makes no sense reaches no node', async t => {
	const {cluster, url, json} = await openDoor(t);
	cluster.put(nodeA);
	const asked = scriptNode(cluster, () => undefined);
	const refused = refusing(t, url);
	for (const action of ['pull?image=a', 'load', 'build?tag=a'])
		for (const token of ['viewer', 'tool', 'node-a']) t.is((await refused(`${images}/${action}`, token)).code, 403, `${action} ${token}`);
	t.is((await refused(`${images}/load`, 'stranger')).code, 401);
	t.regex((await refused(`${images}/load`, 'viewer')).message, /User "eve" cannot create "troupe\/images"/);
	t.is((await refused('/troupe/v1/nodes/nosuch/images/load')).code, 404);
	t.is((await refused(`${images}/push`)).code, 404);
	t.regex((await refused(`${images}/pull`)).message, /image must be given/);
	t.regex((await refused(`${images}/build`)).message, /tag must be given/);
	t.regex((await refused(`${images}/build?tag=a&arg=x`)).message, /arg must be KEY=VALUE/);
	t.regex((await refused(`${images}/build?tag=a&pull=maybe`)).message, /pull must be true or false/);
	t.regex((await json<StatusBody>(400, 'POST', `${images}/load`)).message, /WebSocket/);
	t.deepEqual(asked, []);
});
