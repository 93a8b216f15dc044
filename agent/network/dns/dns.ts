// The resolver of a node: it listens, for datagrams and connections, and answers from what the node knows. What it is made of is imported with the
// first question.

import type {Socket} from 'node:net';
import {formatHostPort, type HostPort} from '../../../api/host-port.js';
import {limits} from '../../../api/limits.js';
import {isLoopback} from '../../../api/loopback.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import type {NetworkIndex} from '../index/network-index.js';
import type {Listeners} from '../listeners/listeners.js';
import {framed} from './framed.js';
import {hostResolvers} from './host-resolvers.js';
import type {Zone} from './zone.js';

export type DnsOptions = {
	readonly index: NetworkIndex;
	readonly listeners: Listeners;
	readonly clock: Clock;
	readonly random: Random;
	/** The name of the node. */
	readonly node: string;
	readonly place: HostPort;
	/** Where hosts of Dnses are served. */
	readonly router: HostPort | undefined;
	/** By which pods with a network of their own ask, and reach the router; undefined: there are none. */
	readonly gateway?: string | undefined;
	/** A text for people, by its key; undefined: it is over. */
	readonly onProblem: (key: string, problem: string | undefined) => void;
	/** Whom to ask for names that are not the cluster's: those of the host if left out. */
	readonly upstreams?: () => readonly HostPort[];
};

export type Dns = {
	/** Where it listens; undefined while it does not. */
	readonly place: () => HostPort | undefined;
	/** Takes nothing new. */
	readonly close: () => void;
};

/** `from`: the address of who asks. At once where nothing has to be looked up. */
type Answer = (data: Buffer, way: 'udp' | 'tcp', from: string) => Buffer | Promise<Buffer | undefined>;
type Closer = {readonly close: () => void};

export function openDns(options: DnsOptions): Dns {
	const {listeners, clock, onProblem, place: asked} = options;
	let place: HostPort | undefined;
	let open: readonly Closer[] = [];
	let cancel: (() => void) | undefined;
	let isClosed = false;
	let opening: Promise<Answer> | undefined;
	let answering: Answer | undefined;
	const opened = async (): Promise<Answer> => (answering = await (opening ??= answerer(options)));
	const first = async (...question: Parameters<Answer>): Promise<Buffer | undefined> => (await opened())(...question);
	const answer: Answer = (data, way, from) => (answering ?? first)(data, way, from);

	const listen = async (): Promise<void> => {
		const opened: Closer[] = [];
		try {
			const udp = await listeners.udp({address: asked.host, port: asked.port}, (data, {address, port}) => {
				const send = (answered: Buffer | undefined): void => {
					if (answered !== undefined) udp.send(answered, {address, port});
				};
				const answered = answer(data, 'udp', address);
				if (answered instanceof Promise) void answered.then(send, () => undefined);
				else send(answered);
			});
			opened.push(udp);
			const {port} = udp.place;
			opened.push(await listeners.tcp({address: asked.host, port}, socket => void converse(socket, answer, clock)));
			place = {host: udp.place.address, port};
			open = opened;
			onProblem('dns', undefined);
			if (isClosed) closeAll(open);
		} catch (error) {
			closeAll(opened);
			onProblem('dns', portProblem(error, asked));
			if (!isClosed) cancel = clock.after(limits.dnsPortMs, () => void listen());
		}
	};
	void listen();
	return {
		place: () => place,
		close() {
			isClosed = true;
			cancel?.();
			closeAll(open);
		},
	};
}

const closeAll = (closers: readonly Closer[]): void => {
	for (const {close} of closers) close();
};

async function answerer({index, node, router, clock, random, place, gateway, upstreams}: DnsOptions): Promise<Answer> {
	const [{createZone}, {createUpstream}, {createResolver}, {answerTo}, {createKeptAnswers}] = await Promise.all([
		import('./zone.js'),
		import('./upstream.js'),
		import('./resolver.js'),
		import('./answer.js'),
		import('./kept-answers.js'),
	]);
	const upstream = createUpstream({servers: upstreams ?? hostResolvers(place, clock), clock});
	const answererOf = (zone: Zone): Answer => {
		const resolver = createResolver({zone, upstream, random});
		const kept = createKeptAnswers();
		index.onChange(kept.drop);
		return (data, way) => answerTo(data, way, resolver, kept);
	};
	const ofHost = answererOf(createZone({index, node, routerAddress: addressOfRouter(router), isTranslated: false}));
	if (gateway === undefined) return ofHost;
	const routerAddress = addressOfRouter(router) === undefined ? undefined : gateway;
	const ofPods = answererOf(createZone({index, node, routerAddress, isTranslated: true}));
	return (data, way, from) => (isLoopback(from.replace(/^::ffff:/, '')) ? ofHost : ofPods)(data, way, from);
}

/** Where programs of this node reach it. */
function addressOfRouter(router: HostPort | undefined): string | undefined {
	if (router === undefined) return undefined;
	if (/^\d+(\.\d+){3}$/.test(router.host)) return router.host === '0.0.0.0' ? '127.0.0.1' : router.host;
	return router.host === '::' || router.host === 'localhost' ? '127.0.0.1' : undefined;
}

/** One question after the other: who does not take an answer is asked for no more, and is cut off in time. */
async function converse(socket: Socket, answer: Answer, clock: Clock): Promise<void> {
	let cancel: Cancel = () => undefined;
	// From one answer to the next: bytes that trickle in gain nothing.
	const wait = (): void => {
		cancel();
		cancel = clock.after(limits.dnsIdleMs, () => socket.destroy());
	};
	wait();
	const from = socket.remoteAddress ?? '';
	let came = Buffer.alloc(0);
	try {
		for await (const data of socket as AsyncIterable<Buffer>) {
			came = Buffer.concat([came, data]);
			while (came.length >= 2) {
				const length = came.readUInt16BE(0);
				if (length > limits.dnsQuestionBytes) return void socket.destroy();
				if (came.length < 2 + length) break;
				const answered = await answer(came.subarray(2, 2 + length), 'tcp', from);
				came = came.subarray(2 + length);
				if (answered === undefined) return void socket.destroy();
				await written(socket, answered);
				wait();
			}
		}
		socket.end();
	} catch {
		socket.destroy();
	} finally {
		cancel();
	}
}

const written = (socket: Socket, message: Buffer): Promise<void> =>
	new Promise((resolve, reject) => {
		socket.write(framed(message), error => (error === null || error === undefined ? resolve() : reject(error)));
	});

function portProblem(error: unknown, place: HostPort): string {
	const where = formatHostPort(place);
	if (hasCode(error, 'EADDRINUSE'))
		return `the resolver cannot listen on ${where}: another program does; free it, or choose another with --dns HOST:PORT`;
	if (hasCode(error, 'EACCES')) return `the resolver may not listen on ${where}; choose a port above 1023 with --dns HOST:PORT`;
	return `the resolver cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`;
}
