// A resolver in this process on a free port, and other resolvers that say what a test wants.

import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {connect, createServer, type AddressInfo} from 'node:net';
import {Resolver} from 'node:dns/promises';
import {setTimeout as after} from 'node:timers/promises';
import {decode, encode, type Answer, type DecodedPacket, type Packet} from 'dns-packet';
import type {ExecutionContext} from 'ava';
import {openDns} from '../../../../agent/network/dns/dns.js';
import {framed} from '../../../../agent/network/dns/framed.js';
import {createNetworkIndex} from '../../../../agent/network/index/network-index.js';
import {openListeners} from '../../../../agent/network/listeners/open-listeners.js';
import type {NetworkChange} from '../../../../actors/node/runtime/network-port.js';
import type {HostPort} from '../../../../api/host-port.js';
import {systemClock, type Clock} from '../../../../system/time/clock.js';
import {seededRandom} from '../../../../system/time/random.js';

/** Its timers keep no process waiting. */
export const patientClock: Clock = {
	...systemClock,
	after(delayMs, callback) {
		const timer = setTimeout(callback, delayMs).unref();
		return () => clearTimeout(timer);
	},
};

export async function dnsWorld(
	t: ExecutionContext,
	changes: readonly NetworkChange[],
	upstreams: readonly HostPort[] = [],
	clock: Clock = patientClock,
) {
	const index = createNetworkIndex();
	index.replace(changes);
	const problems = new Map<string, string | undefined>();
	const listeners = openListeners({clock, held: [], onProblem: (key, problem) => void problems.set(key, problem)});
	const dns = openDns({
		index,
		listeners,
		clock,
		random: seededRandom(1),
		node: 'here',
		place: {host: '127.0.0.1', port: 0},
		router: {host: '0.0.0.0', port: 8080},
		onProblem: (key, problem) => void problems.set(key, problem),
		upstreams: () => upstreams,
	});
	t.teardown(() => {
		dns.close();
		listeners.close(() => undefined);
	});
	while (dns.place() === undefined) await after(5);
	const port = dns.place()?.port ?? 0;
	const resolver = new Resolver({timeout: 10_000, tries: 2});
	resolver.setServers([`127.0.0.1:${port}`]);
	return {index, port, problems, resolver};
}

export const questionOf = (name: string, type: 'A' | 'AAAA' | 'SRV' | 'TXT', more: Partial<Packet> = {}): Buffer =>
	encode({type: 'query', id: 77, flags: 0x100, questions: [{name, type, class: 'IN'}], ...more});

/** Asks over UDP. */
export async function askUdp(port: number, query: Buffer): Promise<DecodedPacket> {
	const socket = createSocket('udp4');
	try {
		socket.send(query, port, '127.0.0.1');
		const [data] = (await once(socket, 'message', {signal: AbortSignal.timeout(20_000)})) as [Buffer];
		return decode(data);
	} finally {
		socket.close();
	}
}

/** Asks over TCP; undefined: it was closed without an answer. */
export async function askTcp(port: number, bytes: Buffer): Promise<DecodedPacket | undefined> {
	const socket = connect(port, '127.0.0.1');
	let came = Buffer.alloc(0);
	socket.on('error', () => undefined).write(bytes);
	return new Promise(resolve => {
		socket.on('close', () => resolve(undefined));
		socket.on('data', data => {
			came = Buffer.concat([came, data]);
			if (came.length < 2 || came.length < 2 + came.readUInt16BE(0)) return;
			resolve(decode(came.subarray(2)));
			socket.destroy();
		});
	});
}

export type Said = {readonly answers?: readonly Answer[]; readonly authorities?: readonly Answer[]; readonly flags?: number} | undefined;

/** Another resolver: `say` is called with each name that it is asked, over UDP or TCP; undefined: it says nothing. */
export async function otherResolver(t: ExecutionContext, say: (name: string, way: 'udp' | 'tcp') => Said): Promise<HostPort> {
	const reply = (data: Buffer, way: 'udp' | 'tcp'): Buffer | undefined => {
		const {id = 0, questions = []} = decode(data);
		const said = say(questions[0]?.name ?? '', way);
		if (said === undefined) return undefined;
		const {answers = [], authorities = [], flags = 0} = said;
		return encode({type: 'response', id, flags, questions: [...questions], answers: [...answers], authorities: [...authorities]});
	};
	const server = createServer(socket => {
		socket
			.on('error', () => undefined)
			.on('data', data => {
				const answer = reply(data.subarray(2), 'tcp');
				if (answer !== undefined) socket.write(framed(answer));
			});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	const socket = createSocket('udp4', (data, from) => {
		const answer = reply(data, 'udp');
		if (answer !== undefined) socket.send(answer, from.port, from.address);
	});
	socket.bind(port, '127.0.0.1');
	await once(socket, 'listening');
	t.teardown(() => {
		server.close();
		socket.close();
	});
	return {host: '127.0.0.1', port};
}
