// Names that are not the cluster's: the resolvers of the host are asked, one after the other, and what they say is kept.
//
// What it keeps true: each question has a socket and an id of its own, and an answer counts only if it is to that very question; questions that wait
// are bounded in number and time; who asks the same at the same time waits for one answer.

import {randomInt} from 'node:crypto';
import {createSocket} from 'node:dgram';
import {connect, isIPv6} from 'node:net';
import {decode, encode, type Answer, type DecodedPacket} from 'dns-packet';
import type {HostPort} from '../../../api/host-port.js';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';
import {createCache} from './cache.js';
import {framed} from './framed.js';
import {failed, rcodes, type Question, type Rcode, type Resolved} from './resolved.js';

export type Upstream = {
	/** Never rejects: `SERVFAIL` where nobody has a good answer. */
	readonly ask: (question: Question) => Promise<Resolved>;
};

export type UpstreamOptions = {
	/** Whom to ask, in this order. */
	readonly servers: () => readonly HostPort[];
	readonly clock: Clock;
};

type Asked = {readonly packet: DecodedPacket; readonly bytes: number};

export function createUpstream({servers, clock}: UpstreamOptions): Upstream {
	const cache = createCache(clock);
	const waiting = new Map<string, Promise<Resolved>>();
	let pending = 0;

	const askAll = async (key: string, question: Question): Promise<Resolved> => {
		for (const server of servers().slice(0, limits.dnsUpstreams)) {
			const asked = await askOne(server, question, randomInt(65_536), clock);
			const rcode = asked === undefined ? undefined : rcodeOf(asked.packet);
			if (asked === undefined || rcode === undefined) continue;
			const resolved = resolvedOf(asked.packet, rcode);
			cache.set(key, resolved, asked.bytes);
			return resolved;
		}
		return failed;
	};

	return {
		async ask(question) {
			const key = `${question.type} ${question.name}`;
			const cached = cache.get(key);
			if (cached !== undefined) return cached;
			if (pending >= limits.dnsPending) return failed;
			const answer = waiting.get(key) ?? askAll(key, question).finally(() => waiting.delete(key));
			waiting.set(key, answer);
			pending++;
			try {
				return await answer;
			} finally {
				pending--;
			}
		},
	};
}

/** Undefined: the server knows no answer, another one may. */
const rcodeOf = ({flags = 0}: DecodedPacket): Rcode | undefined =>
	(['NOERROR', 'NXDOMAIN'] as const).find(rcode => (flags & 15) === rcodes[rcode]);

const isRecord = (answer: Answer): boolean => answer.type !== 'OPT';

const resolvedOf = ({answers = [], authorities = [], additionals = []}: DecodedPacket, rcode: Rcode): Resolved => ({
	rcode,
	isAuthoritative: false,
	answers: answers.filter(isRecord),
	authorities: authorities.filter(isRecord),
	additionals: additionals.filter(isRecord),
});

async function askOne(server: HostPort, question: Question, id: number, clock: Clock): Promise<Asked | undefined> {
	const query = encode({
		type: 'query',
		id,
		flags: 0x100, // Recursion desired.
		questions: [{...question, class: 'IN'}],
		additionals: [
			{
				type: 'OPT',
				name: '.',
				udpPayloadSize: limits.dnsDatagramBytes,
				extendedRcode: 0,
				ednsVersion: 0,
				flags: 0,
				flag_do: false,
				options: [],
			},
		],
	});
	const read = (data: Buffer): Asked | undefined => {
		const packet = valueOr(undefined, () => decode(data));
		return packet !== undefined && isAnswerTo(packet, question, id) ? {packet, bytes: data.length} : undefined;
	};
	const asked = await overUdp(server, query, read, clock);
	return asked?.packet.flag_tc === true ? overTcp(server, query, read, clock) : asked;
}

function isAnswerTo({type, id, questions = []}: DecodedPacket, {name, type: wanted}: Question, asked: number): boolean {
	const [question] = questions;
	return type === 'response' && id === asked && questions.length === 1 && question?.name.toLowerCase() === name && question.type === wanted;
}

type Read = (data: Buffer) => Asked | undefined;

function overUdp({host, port}: HostPort, query: Buffer, read: Read, clock: Clock): Promise<Asked | undefined> {
	return new Promise(resolve => {
		const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
		let isOver = false;
		const settle = (asked: Asked | undefined): void => {
			if (isOver) return;
			isOver = true;
			cancel();
			socket.close();
			resolve(asked);
		};
		const cancel = clock.after(limits.dnsUpstreamMs, () => settle(undefined));
		socket.on('error', () => settle(undefined));
		socket.on('message', data => {
			const asked = read(data);
			if (asked !== undefined) settle(asked);
		});
		socket.once('connect', () => void socket.send(query, error => void (error !== null && settle(undefined))));
		socket.connect(port, host);
	});
}

function overTcp({host, port}: HostPort, query: Buffer, read: Read, clock: Clock): Promise<Asked | undefined> {
	return new Promise(resolve => {
		const socket = connect({host, port});
		const settle = (asked: Asked | undefined): void => {
			cancel();
			socket.destroy();
			resolve(asked);
		};
		const cancel = clock.after(limits.dnsUpstreamMs, () => settle(undefined));
		let came = Buffer.alloc(0);
		socket.on('error', () => settle(undefined)).on('close', () => settle(undefined));
		socket.on('data', data => {
			came = Buffer.concat([came, data]);
			if (came.length >= 2 && came.length >= 2 + came.readUInt16BE(0)) settle(read(came.subarray(2, 2 + came.readUInt16BE(0))));
		});
		socket.write(framed(query));
	});
}
