import {createServer, type AddressInfo, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../../api/limits.js';
import {openBeatLine, type BeatLineOptions} from '../../../system/presence/beat-line.js';
import {beatSockets} from '../../../system/presence/beat-socket.js';
import {systemClock} from '../../../system/time/clock.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {systemRandom} from '../../../system/time/random.js';
import {passwordOf, startBroker} from '../broker/broker-rig.js';

const beatTopic = 'troupe/v1/nodes/node-a/beat';

function beating(t: ExecutionContext, servers: readonly string[], options: Partial<BeatLineOptions> = {}): void {
	const login = {node: 'node-a', password: passwordOf('node-a'), boot: 'boot-1'};
	const {clock = systemClock} = options;
	const sockets = beatSockets({...login, clock});
	t.teardown(openBeatLine({...login, servers: () => servers, ...sockets, clock, random: systemRandom, stillMs: () => 0, ...options}));
}

/** A server that is no broker. */
async function aServer(t: ExecutionContext, onConnection: (socket: Socket, count: number) => void): Promise<string> {
	const sockets = new Set<Socket>();
	let count = 0;
	const server = createServer(socket => {
		sockets.add(socket);
		socket.on('error', () => undefined);
		onConnection(socket, (count += 1));
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.close();
		for (const socket of sockets) socket.destroy();
	});
	return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('whatever the others answer, a beat gets to the broker that takes it', async t => {
	const {broker, port} = await startBroker(t);
	const beats: string[] = [];
	const third = new Promise<void>(resolve =>
		broker.subscribe(beatTopic, (_topic, payload) => {
			beats.push(payload.toString());
			if (beats.length === 3) resolve();
		}),
	);
	const refused = [0x20, 2, 0, 3];
	const answers = [[0x20], refused, [0], [...refused, ...refused], Array.from({length: 100_000}, (_, i) => i % 256), []];
	const rude = await aServer(t, (socket, count) => socket.end(Buffer.from(answers[count % answers.length] ?? [])));
	beating(t, ['no address at all', 'mqtt://127.0.0.1:1', rude, `mqtt://127.0.0.1:${port}`]);
	await third;
	const [first = 0, ...rest] = beats.map(beat => (JSON.parse(beat) as {sequence: number}).sequence);
	t.deepEqual(rest, [first + 1, first + 2]);
	t.deepEqual(broker.connected(), ['node-a']);
	t.is(broker.counters().cutMalformed, 0);
});

test('a broker that takes the connection and answers no more is left, and that is told', async t => {
	const clock = new ManualClock();
	let silent = 0;
	let onData: (() => void) | undefined;
	const data = (): Promise<void> => new Promise(resolve => (onData = resolve));
	const closed = new Promise<void>(resolve => {
		const onConnection = (socket: Socket): void => {
			socket.once('data', () => {
				socket.write(Buffer.from([0x20, 2, 0, 0]));
				socket.on('data', () => onData?.());
			});
			socket.once('close', () => resolve());
		};
		void aServer(t, onConnection).then(url => beating(t, [url], {clock, onSilent: () => (silent += 1)}));
	});
	await data();
	clock.advance(limits.beatDoubtMs - 1);
	t.is(silent, 0);
	clock.advance(1);
	t.is(silent, 1);
	clock.advance(limits.beatSilenceMs - limits.beatDoubtMs);
	await closed;
	t.is(silent, 1);
});

test('the connection that is silent is cut off when another one works, and the beat goes on there', async t => {
	const clock = new ManualClock();
	const connack = Buffer.from([0x20, 2, 0, 0]);
	let onSecond: (beat: Buffer) => void = () => undefined;
	const second = new Promise<Buffer>(resolve => (onSecond = resolve));
	let onFirst: () => void = () => undefined;
	const first = new Promise<void>(resolve => (onFirst = resolve));
	let onEnd: (problem: string | undefined) => void = () => undefined;
	const end = new Promise<string | undefined>(resolve => (onEnd = resolve));
	const url = await aServer(t, (socket, count) => {
		socket.once('data', () => {
			socket.write(connack);
			socket.on('data', chunk => (count === 1 ? onFirst() : onSecond(chunk)));
		});
		if (count === 1) socket.once('error', (error: NodeJS.ErrnoException) => onEnd(error.code));
	});
	const told: string[] = [];
	beating(t, [url], {clock, onLine: stands => told.push(stands ? 'stands' : 'lost'), onSilent: () => told.push('silent')});
	await first;
	clock.advance(limits.beatAnswerMs + limits.beatSpreadMs);
	t.true((await second).includes(beatTopic));
	t.is(await end, 'ECONNRESET', 'what was not acknowledged is not sent again');
	t.deepEqual(told, ['stands', 'silent']);
});

test('while the main loop stands still nothing is said, asked or dialled', async t => {
	const clock = new ManualClock();
	let connections = 0;
	let stillMs = 2 * limits.stillAgentMs;
	let onConnection: (() => void) | undefined;
	const url = await aServer(t, () => {
		connections += 1;
		onConnection?.();
	});
	beating(t, [url], {clock, stillMs: () => stillMs, random: {...systemRandom, next: () => 0.5}});
	clock.advance(60_000);
	t.is(connections, 0);
	const connected = new Promise<void>(resolve => (onConnection = resolve));
	stillMs = 0;
	clock.advance(limits.movementMs);
	await connected;
	t.is(connections, 1);
});
