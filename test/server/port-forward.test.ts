import {duplexPair} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {channels, framed, remoteProtocol} from '../../api/remote-channels.js';
import {limits} from '../../api/limits.js';
import type {ExecOutput} from '../../actors/node/runtime/runtime-port.js';
import {serveSpdy} from '../../server/spdy/connection.js';
import {dataFrame, synStreamFrame} from '../../server/spdy/frames.js';
import {createHeaderWriter} from '../../server/spdy/header-blocks.js';
import {runTunnel} from '../../server/http/port-forward-tunnel.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {collectionPath} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';
import {openRemote, runningPod, scriptNode, type NodeAsked} from './_remote.js';
import {speak, tunnelBySpdy, tunnelByWebSocket, type Tunnel} from './_tunnel.js';

const path = `${collectionPath('pods', 'default')}/web/portforward`;

/**
 * A node whose pod says back what it hears, in capitals, and ends when its client has; nothing listens at port 9, at 10 the pod speaks first and ends,
 * at 11 the connection breaks at the first word, at 12 nothing is taken.
 */
function echoing() {
	const open = new Map<
		string,
		{readonly waiting: ((outcome: Outcome<ExecOutput>) => void)[]; readonly ready: ExecOutput[]; port: number}
	>();
	let count = 0;
	const tell = (id: string, output: ExecOutput): void => {
		const session = open.get(id);
		const resolve = session?.waiting.shift();
		if (resolve === undefined) session?.ready.push(output);
		else resolve(succeeded(output));
	};
	const parts = (text: string): ExecOutput['parts'] => [{stream: 'stdout', data: Buffer.from(text, 'latin1').toString('base64')}];
	return {
		open,
		opened: () => count,
		answer: (asked: NodeAsked): Outcome<unknown> | Promise<Outcome<unknown>> | undefined => {
			switch (asked.type) {
				case 'forwardOpen': {
					const port = Number(asked.request.port);
					if (port === 9) return failed('ERR_NOT_REACHABLE', {message: `port ${port} of the pod cannot be reached: connection refused`});
					const session = `s${++count}`;
					open.set(session, {waiting: [], ready: port === 10 ? [{parts: parts('first'), end: undefined, isLast: true}] : [], port});
					return succeeded({session});
				}
				case 'execWrite': {
					const {session, data, isLast} = asked;
					const port = open.get(session)?.port;
					if (port === 12) return new Promise(() => undefined);
					if (port === 11) tell(session, {parts: [], end: {exitCode: 1}});
					else if (port === 10 && isLast) tell(session, {parts: [], end: {exitCode: 0}});
					else if (port !== 10) {
						const text = Buffer.from(data, 'base64').toString('latin1').toUpperCase();
						tell(session, {parts: parts(text), end: isLast ? {exitCode: 0} : undefined});
					}
					return succeeded(null);
				}
				case 'execRead': {
					const session = open.get(asked.session);
					const [output] = asked.maxBytes === 0 ? [{parts: [], end: undefined}] : (session?.ready.splice(0, 1) ?? []);
					if (output !== undefined) return succeeded(output);
					return new Promise(resolve => session?.waiting.push(resolve));
				}
				case 'execClose':
					open.delete(asked.session);
					return succeeded(null);
				default:
					return undefined;
			}
		},
	};
}

async function forwarding(t: ExecutionContext) {
	const door = await openDoor(t);
	runningPod(door.cluster);
	const node = echoing();
	const asked = scriptNode(door.cluster, node.answer);
	return {...door, node, asked};
}

const ways: Readonly<Record<string, (url: string) => Promise<Tunnel>>> = {
	'a WebSocket': url => tunnelByWebSocket(url, path),
	'a WebSocket with messages of one byte': url => tunnelByWebSocket(url, path, 1),
	'the connection itself': url => tunnelBySpdy(url, path),
};

for (const [way, dial] of Object.entries(ways))
	test(`over ${way} connections go their ways, and each ends for itself`, async t => {
		const {url, node, asked, cluster, bugs} = await forwarding(t);
		const tunnel = await dial(url);
		const [one, two] = [tunnel.connect(80, '0'), tunnel.connect(81, '1')];
		one.say('hello');
		two.say('there');
		await one.heard('HELLO');
		await two.heard('THERE');
		t.true(one.data.isReplied && one.error.isReplied);
		one.say(' and bye', true);
		await one.ended();
		t.deepEqual(one.data, {text: 'HELLO AND BYE', isOver: true, reset: undefined, isReplied: true});
		t.deepEqual(one.error, {text: '', isOver: true, reset: undefined, isReplied: true});
		two.say('!');
		await two.heard('THERE!');
		const uid = cluster.control.index.get('pods/default/web')?.metadata.uid ?? '';
		const opens = asked.flatMap(each => (each.type === 'forwardOpen' ? [each.request] : []));
		t.deepEqual(opens, [
			{uid, port: 80},
			{uid, port: 81},
		]);
		t.regex(cluster.asked[0]?.options.cause ?? '', /^http root (GET|POST) pods\/default\/web\/portforward$/);
		tunnel.ping(5);
		await eventually('the ping to come back', () => tunnel.pings.includes(5));
		tunnel.cut();
		await eventually('all sessions to be closed', () => node.open.size === 0);
		t.deepEqual(bugs, []);
	});

test('what is wrong with one connection is told on its error stream, and others go on', async t => {
	const {url, node} = await forwarding(t);
	const tunnel = await tunnelByWebSocket(url, path);
	const [good, refused, odd, broken] = [tunnel.connect(80, '0'), tunnel.connect(9, '1'), tunnel.connect('x', '2'), tunnel.connect(11, '3')];
	await refused.ended();
	t.is(refused.error.text, 'port 9 of the pod cannot be reached: connection refused');
	t.is(refused.data.reset, 6);
	await odd.ended();
	t.regex(odd.error.text, /port must be a whole number from 1 to 65535/);
	broken.say('x');
	await broken.ended();
	t.deepEqual([broken.error.text, broken.data.reset], ['', 5], 'kubectl takes a text for the end of the tunnel');
	good.say('still');
	await good.heard('STILL');
	t.deepEqual([...node.open.keys()].length, 1);
});

test('a pod that has said all is still told the rest', async t => {
	const {url, asked, node} = await forwarding(t);
	const tunnel = await tunnelBySpdy(url, path);
	const one = tunnel.connect(10, '0');
	await eventually('its end to come', () => one.data.isOver);
	t.deepEqual([one.data.text, one.error.isOver], ['first', false]);
	one.say('the rest', true);
	await one.ended();
	const written = asked.flatMap(each => (each.type === 'execWrite' ? [Buffer.from(each.data, 'base64').toString()] : []));
	t.is(written.join(''), 'the rest');
	t.is(node.open.size, 0);
});

test('a connection that its client resets is closed at the node, and its error stream ends', async t => {
	const {url, node} = await forwarding(t);
	const tunnel = await tunnelBySpdy(url, path);
	const one = tunnel.connect(80, '0');
	one.say('x');
	await one.heard('X');
	one.reset();
	await eventually('the session to be closed', () => node.open.size === 0);
	await eventually('the error stream to end', () => one.error.isOver);
	t.is(one.error.text, '');
});

test('one connection of our own is a session as that of exec, with both ends told', async t => {
	const {url, node} = await forwarding(t);
	const {socket, messages, closed} = await openRemote(url, `${path}?port=10`);
	await eventually('its end to come', () => messages.length === 2);
	t.deepEqual(messages, [
		[channels.stdout, 'first'],
		[channels.close, String.fromCharCode(channels.stdout)],
	]);
	await socket.send(framed(channels.close, new Uint8Array([channels.stdin])));
	t.is(await closed, 1000);
	t.like(JSON.parse(messages.at(-1)?.[1] ?? ''), {status: 'Success'});
	t.is(node.open.size, 0);
});

test('what cannot be is refused before the upgrade, in both forms with the same words', async t => {
	const {cluster, url, asked, json} = await forwarding(t);
	const refusal = async (opening: Promise<unknown>): Promise<StatusBody> =>
		(await t.throwsAsync<Error & {answer: StatusBody}>(opening)).answer;
	for (const token of ['viewer', 'tool', 'node-a']) {
		t.is((await refusal(tunnelByWebSocket(url, path, 1, token))).code, 403, token);
		t.regex((await refusal(tunnelBySpdy(url, path, token))).message, /cannot create resource "pods\/portforward"|forbidden/, token);
	}
	t.is((await refusal(openRemote(url, `${path}?port=80`, remoteProtocol, 'viewer'))).code, 403);
	t.regex((await json<StatusBody>(400, 'GET', path)).message, /^this is a WebSocket with the subprotocol SPDY\/3\.1\+portforward/);
	t.regex((await refusal(openRemote(url, path, 'v4.channel.k8s.io'))).message, /^this is a WebSocket/);
	for (const port of ['0', '65536', 'x']) t.regex((await refusal(openRemote(url, `${path}?port=${port}`))).message, /port must be/, port);
	t.like(await refusal(openRemote(url, `${path}?port=9`)), {code: 503, message: 'port 9 of the pod cannot be reached: connection refused'});
	runningPod(cluster, [{name: 'main'}], {phase: 'Succeeded'});
	for (const opening of [tunnelByWebSocket(url, path), tunnelBySpdy(url, path)])
		t.regex((await refusal(opening)).message, /cannot forward ports of pod "web", which does not run; current phase is Succeeded/);
	t.is(asked.filter(({type}) => type === 'forwardOpen').length, 1);
});

// ---- bounds ----------------------------------------------------------------------------------------------------------------

/** A tunnel without a door, and a client of it. */
function bare(t: ExecutionContext, addForward: () => (() => void) | undefined = () => () => undefined) {
	const [ours, theirs] = duplexPair();
	const clock = new ManualClock();
	const node = echoing();
	const open = async (port: number) => {
		const outcome = (await node.answer({type: 'forwardOpen', request: {uid: 'u', port}})) as Outcome<{session: string}>;
		if (!outcome.ok) return outcome;
		const {session} = outcome.value;
		const asking = <Value>(message: NodeAsked) => Promise.resolve(node.answer(message)) as Promise<Outcome<Value>>;
		return succeeded({
			read: () => asking<ExecOutput>({type: 'execRead', session, maxBytes: 1_000, waitMs: 1_000}),
			keep: () => Promise.resolve(null),
			write: (bytes: Uint8Array, isLast: boolean) =>
				asking({type: 'execWrite', session, data: Buffer.from(bytes).toString('base64'), isLast}),
			close: () => asking({type: 'execClose', session}),
		});
	};
	const running = runTunnel(ours, {clock, addForward, open});
	const tunnel = speak({
		send: bytes => void theirs.write(bytes),
		onBytes: listener => void theirs.on('data', listener),
		cut: () => theirs.destroy(),
	});
	theirs.on('error', () => undefined);
	t.teardown(() => theirs.destroy());
	return {tunnel, clock, node, running, ours};
}

test('a pod that takes nothing holds the others up for a while, then its connection alone is ended', async t => {
	const {tunnel, clock} = bare(t);
	const [slow, other] = [tunnel.connect(12, '0'), tunnel.connect(80, '1')];
	slow.say('x');
	slow.say(Buffer.alloc(limits.execInputBytes + limits.execChunkBytes));
	other.say('hello');
	await new Promise(setImmediate);
	clock.advance(limits.forwardStallMs - 1);
	t.is(other.data.text, '');
	clock.advance(1);
	await other.heard('HELLO');
	await slow.ended();
	t.is(slow.error.text, 'port 12 of the pod takes nothing of what is sent to it');
});

test('half a connection is given up in time, and one that speaks too early at once', async t => {
	const {tunnel, clock} = bare(t);
	const half = tunnel.on(tunnel.open({streamtype: 'error', port: '80', requestid: '0'}, true));
	const early = tunnel.open({streamtype: 'data', port: '80', requestid: '1'});
	tunnel.send(dataFrame(early, Buffer.from('x'), false));
	await eventually('the early one to be reset', () => tunnel.on(early).reset === 5);
	t.is(half.reset, undefined);
	clock.advance(limits.forwardPairMs);
	await eventually('the half one to be reset', () => half.reset === 5);
	for (const headers of [{}, {streamtype: 'other', requestid: '2'}, {streamtype: 'data', requestid: ''}]) {
		const wrong = tunnel.on(tunnel.open(headers));
		await eventually('it to be reset', () => wrong.reset === 1);
	}
});

test('so many streams in one tunnel, and so many connections in all', async t => {
	const {tunnel} = bare(t);
	const half = Array.from({length: limits.spdyStreams}, (_, i) => tunnel.open({streamtype: 'error', requestid: String(i)}, true));
	const more = tunnel.on(tunnel.open({streamtype: 'error', requestid: 'more'}, true));
	await eventually('the further one to be refused', () => more.reset === 3);
	t.true(half.every(stream => tunnel.on(stream).reset === undefined));
	const full = bare(t, () => undefined);
	const one = full.tunnel.connect(80, '0');
	await one.ended();
	t.regex(one.error.text, /takes no more/);
	t.is(full.node.opened(), 0);
});

test('answers that nobody takes hold the other side up', async t => {
	const [ours, theirs] = duplexPair();
	serveSpdy(ours, () => undefined);
	const pings = Buffer.alloc(12 * 1_000);
	for (let at = 0; at < pings.length; at += 12) pings.write('800300060000000400000001', at, 'hex');
	theirs.on('error', () => undefined);
	let written = 0;
	const more = (): void => {
		while (written < 100 && theirs.write(pings)) written++;
	};
	theirs.on('drain', more);
	more();
	await new Promise(setImmediate);
	t.true(written < 100, String(written));
	t.true(ours.writableLength < 4 * limits.spdyAnswerBytes, String(ours.writableLength));
	theirs.resume();
	await eventually('the rest to be taken', () => written === 100);
});

test('a tunnel that makes no sense is ended with all that is in it', async t => {
	const {tunnel, node, ours} = bare(t);
	const one = tunnel.connect(80, '0');
	one.say('x');
	await one.heard('X');
	tunnel.send(synStreamFrame(1, createHeaderWriter()(new Map()), false));
	await eventually('the tunnel to end', () => tunnel.isAway() && ours.destroyed);
	t.is(node.open.size, 0);
});
