// Clients of the broker under load: readers that count, readers that read nothing, a writer that floods, and a node that asks how long a
// message to control and back takes.

import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {serve} from '../remote.js';
import {connectPacket, publishPacket, subscribePacket} from '../mqtt/packets.js';
import {createCounter} from './publish-counter.js';

export type Readers = {
	readonly port: number;
	readonly count: number;
	/** What their logins begin with: `tool` are tools, others are nodes. */
	readonly name: string;
	readonly filter: string;
	/** They take nothing after the subscription. */
	readonly stuck: boolean;
};

export type Counts = {readonly fewest: number; readonly most: number; readonly closed: number; readonly bytes: number};

export type Probe = {readonly port: number; readonly ms: number; readonly everyMs: number};

/** Of one probe: how long each round trip took; those that never came back are counted. */
export type Trips = {readonly ms: readonly number[]; readonly lost: number; readonly longestGapMs: number};

async function dial(port: number): Promise<Socket> {
	const socket = connect({port, host: '127.0.0.1', noDelay: true});
	socket.on('error', () => undefined);
	await once(socket, 'connect');
	return socket;
}

async function login(port: number, name: string): Promise<Socket> {
	const socket = await dial(port);
	socket.write(connectPacket({id: name, user: name, password: 'x'}));
	await once(socket, 'data');
	return socket;
}

/** The socket takes more, or it is gone. */
export const flowing = (socket: Socket): Promise<void> =>
	new Promise(resolve => {
		const end = (): void => {
			socket.off('drain', end).off('close', end);
			resolve();
		};
		socket.on('drain', end).on('close', end);
	});

const ms = (time: number): Promise<void> => new Promise(resolve => setTimeout(resolve, time));

export function openPeers() {
	const sockets: Socket[] = [];
	const counted: {messages: number; bytes: number; closed: boolean}[] = [];
	let probe: Socket | undefined;

	const read = async ({port, name, filter, stuck}: Readers, at: number): Promise<void> => {
		const socket = await login(port, `${name}-${at}`);
		sockets.push(socket);
		const one = {messages: 0, bytes: 0, closed: false};
		counted.push(one);
		socket.once('close', () => (one.closed = true));
		socket.write(subscribePacket(1, [filter, 0]));
		const counter = createCounter();
		const take = (chunk: Buffer): void => {
			one.bytes += chunk.length;
			one.messages += counter.feed(chunk);
		};
		const [first] = (await once(socket, 'data')) as [Buffer];
		take(first);
		if (stuck) socket.pause();
		else socket.on('data', take);
	};

	return {
		async open(readers: Readers): Promise<void> {
			for (let at = 0; at < readers.count; at += 1) await read(readers, at);
		},
		counts(): Counts {
			const messages = counted.map(each => each.messages);
			return {
				fewest: Math.min(...messages),
				most: Math.max(...messages),
				closed: counted.filter(({closed}) => closed).length,
				bytes: counted.reduce((sum, {bytes}) => sum + bytes, 0),
			};
		},
		/** Waits until every reader that is there has so many; the time it took. False: not within the time. */
		async until({messages, withinMs}: {readonly messages: number; readonly withinMs: number}): Promise<boolean> {
			const endMs = performance.now() + withinMs;
			while (performance.now() < endMs) {
				if (counted.every(each => each.closed || each.messages >= messages)) return true;
				await ms(5);
			}
			return false;
		},
		/** Writes as fast as the broker takes it; the time it took. */
		async flood(wanted: {port: number; name: string; topic: string; count: number; bytes: number}): Promise<number> {
			const socket = await login(wanted.port, wanted.name);
			sockets.push(socket);
			const packet = publishPacket(wanted.topic, Buffer.alloc(wanted.bytes, 'x'));
			const startedAt = performance.now();
			for (let at = 0; at < wanted.count && !socket.destroyed; at += 1) if (!socket.write(packet)) await flowing(socket);
			return performance.now() - startedAt;
		},
		/** Sends again and again for some time, whatever comes back. */
		async trips({port, ms: forMs, everyMs}: Probe): Promise<Trips> {
			probe ??= await probing(port, sockets);
			return take(probe, forMs, everyMs);
		},
		end(): void {
			for (const socket of sockets) socket.destroy();
		},
	};
}

export type Peers = ReturnType<typeof openPeers>;

async function probing(port: number, sockets: Socket[]): Promise<Socket> {
	const socket = await login(port, 'probe');
	sockets.push(socket);
	socket.write(subscribePacket(1, ['troupe/v1/actors/probe/inbox/control', 0]));
	await once(socket, 'data');
	return socket;
}

async function take(socket: Socket, forMs: number, everyMs: number): Promise<Trips> {
	const times: number[] = [];
	const sent = new Map<string, number>();
	let lastMs = performance.now();
	let longestGapMs = 0;
	let rest = '';
	const hear = (chunk: Buffer): void => {
		const nowMs = performance.now();
		longestGapMs = Math.max(longestGapMs, nowMs - lastMs);
		lastMs = nowMs;
		rest += chunk.toString('latin1');
		for (const [whole, id = ''] of rest.matchAll(/<(\d+)>/g)) {
			const sentMs = sent.get(id);
			if (sentMs !== undefined) times.push(nowMs - sentMs);
			sent.delete(id);
			rest = rest.slice(rest.indexOf(whole) + whole.length);
		}
	};
	socket.on('data', hear);
	const endMs = performance.now() + forMs;
	for (let at = 0; performance.now() < endMs; at += 1) {
		const id = String(at);
		sent.set(id, performance.now());
		socket.write(publishPacket('troupe/v1/actors/control/inbox/probe', `<${id}>`));
		await ms(everyMs);
	}
	for (let turn = 0; turn < 400 && sent.size > 0; turn += 1) await ms(5);
	socket.off('data', hear);
	return {ms: times, lost: sent.size, longestGapMs};
}

if (process.argv[1] === import.meta.filename && process.send !== undefined) serve(openPeers());
