import {once} from 'node:events';
import {connect} from 'node:net';
import test from 'ava';
import {failed, succeeded, type ErrorCode} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {channels, framed} from '../../api/remote-channels.js';
import type {ExecOutput} from '../../actors/node/runtime/runtime-port.js';
import {collectionPath} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {openRemote, output, runningPod, scriptNode, type NodeAsked} from './_remote.js';

const pod = `${collectionPath('pods', 'default')}/web`;
const exec = `${pod}/exec?command=sh&command=-c&command=exit%203&container=main&stdin=true&stdout=true&stderr=true`;
const stdin = (text: string): Uint8Array => framed(channels.stdin, Buffer.from(text));
const endOfInput = framed(channels.close, new Uint8Array([channels.stdin]));

type Of<Type extends NodeAsked['type']> = Extract<NodeAsked, {type: Type}>;
const of = <Type extends NodeAsked['type']>(asked: readonly NodeAsked[], type: Type): readonly Of<Type>[] =>
	asked.filter((each): each is Of<Type> => each.type === type);

test('a session carries input, both outputs in order, and the exit code, and says goodbye', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const written = output();
	const asked = scriptNode(cluster, ask => (ask.type === 'execRead' ? written.read() : undefined));
	const {socket, messages, closed} = await openRemote(url, exec);
	const uid = cluster.control.index.get('pods/default/web')?.metadata.uid ?? '';
	t.deepEqual(of(asked, 'execOpen')[0]?.request, {
		id: {uid, container: 'main'},
		argv: ['sh', '-c', 'exit 3'],
		tty: false,
		stdin: true,
		rows: 24,
		columns: 80,
	});
	for (const frame of [stdin('one '), stdin('two'), endOfInput, stdin('late')]) await socket.send(frame);
	await eventually('the input to arrive', () => of(asked, 'execWrite').length === 3);
	written.put([
		['stdout', 'a'],
		['stderr', 'b'],
		['stdout', 'c'],
	]);
	written.put([['stdout', 'd']], 3);
	t.is(await closed, 1000);
	t.deepEqual(messages.slice(0, -1), [
		[1, 'a'],
		[2, 'b'],
		[1, 'c'],
		[1, 'd'],
	]);
	const [channel, text] = messages.at(-1) ?? [0, ''];
	t.is(channel, 3);
	t.deepEqual(JSON.parse(text), {
		kind: 'Status',
		apiVersion: 'v1',
		metadata: {},
		status: 'Failure',
		reason: 'NonZeroExitCode',
		message: 'command terminated with non-zero exit code: exit status 3',
		details: {causes: [{reason: 'ExitCode', message: '3'}]},
	});
	t.deepEqual(
		of(asked, 'execWrite').map(({data, isLast}) => [Buffer.from(data, 'base64').toString(), isLast]),
		[
			['one ', false],
			['two', false],
			['', true],
		],
	);
	t.is(of(asked, 'execClose').length, 1);
	t.is(cluster.asked[0]?.options.cause, 'http root GET pods/default/web/exec');
});

test('success is told as such, and a terminal has its size', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const written = output();
	const asked = scriptNode(cluster, ask => (ask.type === 'execRead' ? written.read() : undefined));
	const {socket, messages, closed} = await openRemote(url, `${pod}/exec?command=sh&stdin=true&stdout=true&tty=true&rows=50&columns=120`);
	t.like(of(asked, 'execOpen')[0]?.request, {tty: true, rows: 50, columns: 120});
	for (const size of ['{"Width":100,"Height":30}\n', 'rubbish', '{"Width":0,"Height":30}', '{"Width":"x"}'])
		await socket.send(framed(channels.resize, Buffer.from(size)));
	await eventually('the size to be told', () => of(asked, 'execResize').length > 0);
	written.put([], 0);
	t.is(await closed, 1000);
	t.deepEqual(
		of(asked, 'execResize').map(({rows, columns}) => [rows, columns]),
		[[30, 100]],
	);
	t.like(JSON.parse(messages.at(-1)?.[1] ?? ''), {status: 'Success'});
});

test('whoever may only look, or nobody knows, runs nothing', async t => {
	const {cluster, url, json} = await openDoor(t);
	runningPod(cluster);
	const asked = scriptNode(cluster, ask => (ask.type === 'execRead' ? new Promise(() => undefined) : undefined));
	const refusal = async (token: string): Promise<StatusBody> => {
		const {answer} = await t.throwsAsync<Error & {answer: StatusBody}>(openRemote(url, exec, undefined, token));
		return answer;
	};
	for (const token of ['viewer', 'tool', 'node-a']) t.is((await refusal(token)).code, 403, token);
	t.regex((await refusal('viewer')).message, /User "eve" cannot create resource "pods\/exec" in API group ""/);
	t.is((await refusal('stranger')).code, 401);
	for (const deed of ['exec', 'attach', 'retry']) await json(403, 'POST', `${pod}/${deed}`, undefined, {authorization: 'Bearer viewer'});
	t.deepEqual(asked, []);
	const {closed, socket} = await openRemote(url, exec, undefined, 'editor');
	socket.close(1000);
	await closed;
});

test('what makes no sense is refused before the upgrade, with what would be right', async t => {
	const {cluster, url, json} = await openDoor(t);
	const refused = async (path: string, subprotocol?: string): Promise<StatusBody> => {
		const {answer} = await t.throwsAsync<Error & {answer: StatusBody}>(openRemote(url, path, subprotocol));
		return answer;
	};
	t.is((await refused(exec)).code, 404);
	cluster.pod('web');
	t.regex((await refused(exec)).message, /^pod web does not have a host assigned/);
	runningPod(cluster, [{name: 'main'}, {name: 'side'}]);
	const message = async (query: string): Promise<string> => (await refused(`${pod}/exec?${query}`)).message;
	t.regex(await message('command=ls&stdout=true'), /choose one of: \[main side\]/);
	t.is(await message('command=ls&stdout=true&container=sied'), 'container sied is not valid for pod web; did you mean "side"?');
	t.regex(await message('stdout=true&container=main'), /at least one command/);
	t.regex(await message('command=a%00b&stdout=true&container=main'), /NUL/);
	t.regex(await message('command=ls&container=main'), /at least one of stdin, stdout and stderr/);
	t.regex(await message('command=ls&container=main&tty=true&stderr=true&stdout=true'), /one output/);
	t.regex(await message('command=ls&container=main&stdout=maybe'), /stdout must be true or false/);
	t.regex((await refused(exec, 'v4.channel.k8s.io')).message, /WebSocket with the subprotocol v5\.channel\.k8s\.io/);
	const spdy = {connection: 'upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v5.channel.k8s.io'};
	t.regex((await json<StatusBody>(400, 'POST', exec, undefined, spdy)).message, /SPDY and older subprotocols are not spoken here/);
	t.regex((await json<StatusBody>(400, 'GET', exec)).message, /this is a WebSocket/);
	runningPod(cluster, [{name: 'main'}], {
		containerStatuses: [
			{name: 'main', state: {waiting: {reason: 'CrashLoopBackOff'}}, ready: false, restartCount: 1, image: '', imageID: ''},
		],
	});
	t.is((await refused(exec)).message, 'cannot exec into container "main" in pod "web", which does not run: CrashLoopBackOff');
	runningPod(cluster, [{name: 'main'}], {phase: 'Succeeded'});
	t.is((await refused(exec)).message, 'cannot exec into a container in a completed pod; current phase is Succeeded');
	runningPod(cluster);
	scriptNode(cluster, ask => (ask.type === 'execOpen' ? failed('ERR_BUSY', {address: 'runtime', waiting: 9}) : undefined));
	t.is((await refused(exec)).code, 429);
	for (const code of ['ERR_TIMEOUT', 'ERR_OUTCOME_UNKNOWN', 'ERR_NO_SUCH_ACTOR'] satisfies ErrorCode[]) {
		scriptNode(cluster, () => failed(code));
		t.regex((await refused(exec)).message, /^the node "node-a" is not reachable/);
	}
});

test('a client that goes ends its program, also in the middle of a look or a write', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const never = new Promise<never>(() => undefined);
	const asked = scriptNode(cluster, ask => (ask.type === 'execRead' || ask.type === 'execWrite' ? never : undefined));
	const {socket} = await openRemote(url, exec);
	await socket.send(stdin('x'));
	await eventually('the write to be asked for', () => of(asked, 'execWrite').length === 1);
	socket.cut();
	await eventually('the program to be ended', () => of(asked, 'execClose').length === 1);
	t.deepEqual(
		of(asked, 'execClose').map(({session}) => session),
		['s1'],
	);
});

test('a client that goes while its program is begun leaves none behind', async t => {
	const {cluster, port} = await openDoor(t);
	runningPod(cluster);
	let open: (() => void) | undefined;
	const asked = scriptNode(cluster, ask =>
		ask.type === 'execOpen' ? new Promise(resolve => (open = () => resolve(succeeded({session: 's1'})))) : undefined,
	);
	const socket = connect(port, '127.0.0.1');
	await once(socket, 'connect');
	const key = Buffer.alloc(16).toString('base64');
	socket.write(
		`GET ${exec} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n`,
	);
	await eventually('it to be asked for', () => open !== undefined);
	socket.resetAndDestroy();
	open?.();
	await eventually('the program to be ended', () => of(asked, 'execClose').length === 1);
	t.deepEqual(
		of(asked, 'execClose').map(({session}) => session),
		['s1'],
	);
});

test('a node that goes in the middle is told as the end of the session', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const written = output();
	scriptNode(cluster, ask => (ask.type === 'execRead' ? written.read() : undefined));
	const {messages, closed} = await openRemote(url, exec);
	written.put([['stdout', 'so far']]);
	await eventually('the output', () => messages.length === 1);
	written.fail(failed('ERR_OUTCOME_UNKNOWN', {address: 'troupe://node-a/runtime'}));
	t.is(await closed, 1000);
	const status = JSON.parse(messages.at(-1)?.[1] ?? '') as StatusBody;
	t.like(status, {status: 'Failure', reason: 'ServiceUnavailable'});
	t.regex(status.message, /^the node "node-a" is not reachable/);
});

test('a node that answers with something else than output ends the session, and nothing more', async t => {
	const {cluster, url, bugs} = await openDoor(t);
	runningPod(cluster);
	for (const value of [null, 'x', {parts: null}, {parts: [{stream: 'stdout', data: {}}]}]) {
		scriptNode(cluster, ask => (ask.type === 'execRead' ? succeeded(value) : undefined));
		const {messages, closed} = await openRemote(url, exec);
		t.is(await closed, 1000);
		t.regex(messages.at(-1)?.[1] ?? '', /something that is no output/, JSON.stringify(value));
	}
	t.deepEqual(bugs, []);
});

test('a slow reader slows the asking, and the node hears that it is still there', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const piece = Buffer.alloc(limits.execChunkBytes, 'x').toString('base64');
	const pieces = 200;
	let reads = 0;
	const asked = scriptNode(cluster, ask => {
		if (ask.type !== 'execRead' || ask.maxBytes === 0) return undefined;
		reads++;
		const value: ExecOutput = {parts: [{stream: 'stdout', data: piece}], end: reads === pieces ? {exitCode: 0} : undefined};
		return succeeded(value);
	});
	const {socket, messages, closed} = await openRemote(url, exec);
	socket.pause();
	await eventually('the node to hear that the session is to be kept', () => of(asked, 'execRead').some(({maxBytes}) => maxBytes === 0));
	t.true(reads < pieces / 2, `${reads} pieces were asked for`);
	socket.resume();
	t.is(await closed, 1000);
	t.is(
		messages.reduce((sum, [channel, text]) => sum + (channel === 1 ? text.length : 0), 0),
		pieces * limits.execChunkBytes,
	);
});

test('a program that does not read holds its client up, and gets all of it in the end', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const written = output();
	let release: (() => void) | undefined;
	let taken = '';
	scriptNode(cluster, ask => {
		if (ask.type === 'execRead') return written.read();
		if (ask.type !== 'execWrite') return undefined;
		taken += Buffer.from(ask.data, 'base64').toString();
		if (taken.length > 1) return undefined;
		return new Promise(resolve => (release = () => resolve(succeeded(null))));
	});
	const {socket, closed} = await openRemote(url, exec);
	await socket.send(stdin('0'));
	const block = 'y'.repeat(limits.execInputChunkBytes);
	const blocks = 400;
	let sent = 0;
	const sending = (async () => {
		for (; sent < blocks; sent++) await socket.send(stdin(block));
	})();
	let before = -1;
	while (before !== sent) {
		before = sent;
		for (let i = 0; i < 100; i++) await new Promise(resolve => setImmediate(resolve));
	}
	await eventually('the first write', () => release !== undefined);
	t.true(sent < blocks, 'the client is held up');
	release?.();
	await sending;
	await eventually('everything to arrive', () => taken.length === 1 + blocks * block.length);
	written.put([], 0);
	t.is(await closed, 1000);
});

test('messages of another sort or size end the session', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	const asked = scriptNode(cluster, ask => (ask.type === 'execRead' ? new Promise(() => undefined) : undefined));
	const large = await openRemote(url, exec);
	void large.socket.send(Buffer.alloc(limits.execMessageBytes + 1));
	await large.closed;
	const odd = await openRemote(url, exec);
	for (const frame of [[], [9, 1], [channels.close, 7], [channels.stdin]]) await odd.socket.send(new Uint8Array(frame));
	odd.socket.close(1000);
	t.is(await odd.closed, 1000, 'channels that mean nothing are passed over');
	t.is(of(asked, 'execWrite').length, 0);
	await eventually('both programs to be ended', () => of(asked, 'execClose').length === 2);
});

test('sessions end with the login, with the term and with the door, each with a word', async t => {
	const {cluster, url, gateway} = await openDoor(t);
	runningPod(cluster);
	scriptNode(cluster, ask => (ask.type === 'execRead' ? new Promise(() => undefined) : undefined));
	for (const end of [() => gateway.endOf('root'), () => gateway.endTerm(), () => void gateway.close()]) {
		const {messages, closed} = await openRemote(url, exec);
		end();
		t.is(await closed, 1000);
		t.regex(messages.at(-1)?.[1] ?? '', /the session was ended by the control plane/);
	}
});

test('there are no more sessions than the door can have', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster);
	scriptNode(cluster, ask => (ask.type === 'execRead' ? new Promise(() => undefined) : undefined));
	const open = await Promise.all(Array.from({length: limits.remoteSessions}, () => openRemote(url, exec)));
	const {answer} = await t.throwsAsync<Error & {answer: StatusBody}>(openRemote(url, exec));
	t.is(answer.code, 429);
	open[0]?.socket.cut();
	await eventually('room for another', async () => (await openRemote(url, exec).catch(() => undefined)) !== undefined);
});

test('attach is the output from now on, and the input of what reads it', async t => {
	const {cluster, url} = await openDoor(t);
	runningPod(cluster, [{name: 'main', stdin: true, stdinOnce: true}, {name: 'more', stdin: true}, {name: 'deaf'}]);
	const chunk = (text: string, nextOffset: number, more: object = {}) =>
		succeeded({data: Buffer.from(text).toString('base64'), nextOffset, endOffset: nextOffset, end: false, attempt: 2, ...more});
	let tell: (() => void) | undefined;
	const asked = scriptNode(cluster, ask => {
		if (ask.type !== 'readLog') return undefined;
		if (ask.request.offset === undefined) return chunk('', 100);
		if (ask.request.offset === 100) return new Promise(resolve => (tell = () => resolve(chunk('hello', 105))));
		return chunk('', 0, {attempt: 3});
	});
	const attach = `${pod}/attach?stdin=true&stdout=true&stderr=true&container=`;
	const {socket, messages, closed} = await openRemote(url, `${attach}main`);
	await socket.send(stdin('x'));
	await socket.send(endOfInput);
	await eventually('the input to arrive', () => of(asked, 'stdinWrite').length === 2);
	t.deepEqual(
		of(asked, 'stdinWrite').map(({id, data, isLast}) => [id.container, data, isLast]),
		[
			['main', 'eA==', false],
			['main', '', true],
		],
	);
	tell?.();
	t.is(await closed, 1000);
	t.deepEqual(messages[0], [1, 'hello']);
	t.like(JSON.parse(messages.at(-1)?.[1] ?? ''), {status: 'Success'});
	t.deepEqual(
		of(asked, 'readLog').map(({request: {offset, tailLines}}) => [offset, tailLines]),
		[
			[undefined, 0],
			[100, undefined],
			[105, undefined],
		],
	);
	// Input that is to be had more than once does not end with whoever goes.
	const other = await openRemote(url, `${attach}more`);
	await other.socket.send(stdin('y'));
	await other.socket.send(endOfInput);
	await eventually('the other input to arrive', () => of(asked, 'stdinWrite').some(({data}) => data === 'eQ=='));
	other.socket.close(1000);
	await other.closed;
	t.false(of(asked, 'stdinWrite').some(({id, isLast}) => id.container === 'more' && isLast));
	const {answer} = await t.throwsAsync<Error & {answer: StatusBody}>(openRemote(url, `${attach}deaf`));
	t.regex(answer.message, /container deaf takes no input: "stdin: true" is missing/);
});

test('a retry names what starts now, and passes the refusal of the node on', async t => {
	const {cluster, json} = await openDoor(t);
	await json(404, 'POST', `${pod}/retry`, {});
	runningPod(cluster, [{name: 'main'}, {name: 'side'}]);
	cluster.answers.set('troupe://node-a/runtime', () => succeeded({containers: ['main']}));
	t.deepEqual(await json(200, 'POST', `${pod}/retry?container=main`, {}), {containers: ['main']});
	const uid = cluster.control.index.get('pods/default/web')?.metadata.uid ?? '';
	t.deepEqual(cluster.asked.at(-1)?.message, {type: 'retryContainer', namespace: 'default', name: 'web', uid, container: 'main'});
	await json(200, 'POST', `${pod}/retry`);
	t.is(cluster.asked.at(-1)?.message['container'], undefined);
	t.regex((await json<StatusBody>(400, 'POST', `${pod}/retry?container=mian`)).message, /did you mean "main"/);
	cluster.answers.set('troupe://node-a/runtime', () => failed('ERR_TIMEOUT'));
	t.regex((await json<StatusBody>(503, 'POST', `${pod}/retry`)).message, /^the node "node-a" is not reachable/);
});
