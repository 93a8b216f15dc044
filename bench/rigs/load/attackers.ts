// Clients of the broker that mean harm: each sends one sort of packet as fast as it is taken, or comes and goes as fast as it can.

import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {
	ackPacket,
	connectPacket,
	disconnectPacket,
	pingPacket,
	publishPacket,
	subscribePacket,
	unsubscribePacket,
} from '../mqtt/packets.js';
import {flowing} from './peers.js';
import {serve} from '../remote.js';

/** What each sends again and again on one connection. */
const floods = {
	publishes: () => publishPacket('a', ''),
	qos1: () => publishPacket('a', '', {qos: 1}),
	qos2: () => Buffer.concat([publishPacket('a', '', {qos: 2}), ackPacket('pubrel', 1)]),
	pings: () => pingPacket,
	all: () => subscribePacket(1, ['#', 0]),
	filters: () => subscribePacket(1, ...Array.from({length: 1_000}, (_, at) => [`troupe/v1/objects/pods/${at}/+`, 0] as const)),
	wildcards: () => subscribePacket(1, ...wildcards.map(filter => [filter, 0] as const)),
	unsubscribes: () => unsubscribePacket(1, '#'),
	onAndOff: () => Buffer.concat([subscribePacket(1, ['#', 0]), unsubscribePacket(2, '#')]),
	acknowledgements: () => ackPacket('puback', 7),
} as const;

/** What each does with one connection after the other. */
const visits = {
	strangers: ({user}: Attack, at: number) => connectPacket({id: `${user}-${at}`, user, password: `wrong-${at}`}),
	guests: ({user, password}: Attack, at: number) => Buffer.concat([connectPacket({id: `${user}-${at}`, user, password}), disconnectPacket]),
} as const;

/** Those of up to seven levels that match every object. */
const wildcards: readonly string[] = ['troupe', 'v1', 'objects']
	.reduce<readonly string[]>((heads, level) => heads.flatMap(head => [`${head}${level}/`, `${head}+/`]), [''])
	.flatMap(head => ['#', '+/#', '+/+/#', '+/+/+', '+/+/+/#'].map(tail => head + tail));

export type Flood = keyof typeof floods;
export type Visit = keyof typeof visits;
export const attacks = [...Object.keys(floods), ...Object.keys(visits)] as readonly (Flood | Visit)[];

export type Attack = {
	readonly port: number;
	readonly user: string;
	readonly password: string;
	readonly what: Flood | Visit;
	readonly connections: number;
};

/** Since the start: bytes that the broker took, and connections that it ended. */
export type Damage = {readonly bytes: number; readonly ended: number};

const chunkBytes = 65_536;
const isFlood = (what: Flood | Visit): what is Flood => what in floods;

function openAttackers() {
	const sockets = new Set<Socket>();
	let isOver = false;
	let [bytes, ended] = [0, 0];

	const dial = async (port: number): Promise<Socket> => {
		const socket = connect({port, host: '127.0.0.1', noDelay: true});
		socket.on('error', () => undefined);
		sockets.add(socket);
		socket.once('close', () => sockets.delete(socket));
		await Promise.race([once(socket, 'connect'), closed(socket)]);
		return socket;
	};

	/** An attacker that is cut comes again. */
	const flood = async (attack: Attack, packet: Buffer, at: number): Promise<void> => {
		const chunk = Buffer.concat(Array.from({length: Math.max(1, Math.floor(chunkBytes / packet.length))}, () => packet));
		for (let round = 0; !isOver; round += 1) {
			const socket = await dial(attack.port);
			socket.write(connectPacket({id: `${attack.user}-${at}-${round}`, user: attack.user, password: attack.password}));
			socket.on('data', () => undefined);
			await Promise.race([once(socket, 'data'), closed(socket)]);
			while (!isOver && !socket.destroyed) {
				bytes += chunk.length;
				if (!socket.write(chunk)) await flowing(socket);
			}
			if (!isOver) ended += 1;
			await new Promise(resolve => setTimeout(resolve, 5));
		}
	};

	const visit = async (attack: Attack, hello: (attack: Attack, at: number) => Buffer): Promise<void> => {
		for (let at = 0; !isOver; at += 1) {
			const socket = await dial(attack.port);
			const hi = hello(attack, at);
			bytes += hi.length;
			socket.write(hi);
			socket.resume();
			await closed(socket);
			ended += 1;
		}
	};

	return {
		start(attack: Attack): void {
			for (let at = 0; at < attack.connections; at += 1) {
				if (isFlood(attack.what)) void flood(attack, floods[attack.what](), at);
				else void visit(attack, visits[attack.what]);
			}
		},
		damage: (): Damage => ({bytes, ended}),
		stop(): Damage {
			isOver = true;
			for (const socket of sockets) socket.destroy();
			return {bytes, ended};
		},
	};
}

export type Attackers = ReturnType<typeof openAttackers>;

const closed = (socket: Socket): Promise<void> =>
	new Promise(resolve => {
		if (socket.destroyed) resolve();
		else socket.once('close', () => resolve());
	});

if (process.argv[1] === import.meta.filename && process.send !== undefined) serve(openAttackers());
