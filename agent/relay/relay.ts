// The relayed connections of a node: those that its data plane asks for, and those to its own pods that other nodes ask for.
//
// What it keeps true: a connection belongs to the one node that shares it, and no other hears or says anything of it; to its pods connects the runtime,
// which knows them, and never to anything else; with the agent all of them end.

import {chmodSync, rmSync} from 'node:fs';
import {createServer, type Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import type {NodeRelay, RelayCommand} from '../../actors/node/runtime/relay-port.js';
import type {Runtime} from '../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../system/time/clock.js';
import type {Random} from '../../system/time/random.js';
import {explained} from '../os/explained.js';
import {relaySocketOf, type RelayAnswer, type RelayHead} from './dial.js';
import {createEnd, type End} from './end.js';
import {FramedSocket} from './framed-socket.js';
import {createOutbox} from './outbox.js';
import {podStream} from './pod-stream.js';

export type RelayOptions = {
	readonly runtime: Pick<Runtime, 'run'>;
	readonly clock: Clock;
	readonly random: Pick<Random, 'uuid'>;
	/** That of the data plane; it is there, for its own user alone. */
	readonly folder: string;
	/** What the person who runs the agent is to know. */
	readonly onWarning: (message: string) => void;
};

export function createNodeRelay({runtime, clock, random, folder, onWarning}: RelayOptions): NodeRelay {
	const ends = new Map<string, End>();
	/** Those that are just being connected to a pod. */
	const opening = new Set<string>();
	const outbox = createOutbox();
	const clients = new Set<Socket>();
	let isClosed = false;

	const join = (node: string, session: string, stream: Duplex): End => {
		const key = keyOf(node, session);
		const end = createEnd({
			clock,
			stream,
			say: step => outbox.say({to: node, session, step}),
			onOver: () => void ends.delete(key),
		});
		ends.set(key, end);
		return end;
	};
	const openPod = ({from, session, step}: RelayCommand & {step: {step: 'open'}}, done: (outcome: Outcome<null>) => void): void => {
		const key = keyOf(from, session);
		if (ends.has(key) || opening.has(key)) return done(failed('ERR_ALREADY_EXISTS', {resource: 'relayed connections', name: session}));
		if (isClosed) return done(failed('ERR_NOT_REACHABLE', {message: 'the agent stops'}));
		opening.add(key);
		const {uid, port} = step;
		runtime.run<'forward.open'>({type: 'forward.open', request: {uid, port, relayedFor: from}}, outcome => {
			const isWanted = opening.delete(key) && !isClosed;
			if (!outcome.ok) return done(outcome);
			const stream = podStream(runtime.run, clock, outcome.value.session);
			if (!isWanted) {
				stream.destroy();
				return done(failed('ERR_NOT_REACHABLE', {message: 'the connection was given up'}));
			}
			const end = join(from, session, stream);
			done(succeeded(null));
			end.start();
		});
	};
	const take: NodeRelay['take'] = (command, done) => {
		const {from, session, step} = command;
		if (step.step === 'open') return openPod({...command, step}, done);
		const key = keyOf(from, session);
		const end = ends.get(key);
		if (end !== undefined) return done(end.take(step));
		if (step.step === 'reset') opening.delete(key);
		done(failed('ERR_NOT_FOUND', {resource: 'relayed connections', name: session}));
	};

	/** A data plane has asked for one. */
	const openFrom = async (framed: FramedSocket, head: JsonObject): Promise<void> => {
		const answer = (said: RelayAnswer): void => framed.say(said);
		const place = placeOf(head);
		if (place === undefined) return void framed.destroy();
		const {node, address, port} = place;
		const session = random.uuid();
		// From here on the other node may send: what comes waits in the stream.
		const end = join(node, session, framed);
		const outcome = await outbox.say({to: node, session, step: {step: 'open', address, port}});
		if (outcome.ok) {
			answer({});
			return end.start();
		}
		answer({problem: outcome.error.message});
		framed.end();
		framed.destroy();
	};
	const server = createServer(socket => {
		clients.add(socket);
		socket.once('close', () => clients.delete(socket));
		const cancel = clock.after(limits.relayHeadMs, () => void framed.destroy());
		const framed = new FramedSocket(socket, clock, head => {
			cancel();
			void openFrom(framed, head);
		});
		framed.on('error', () => undefined);
		framed.once('close', cancel);
	});
	server.maxConnections = limits.relaySessions;
	server.on('error', error => onWarning(`connections to nodes that are not reached cannot be relayed: ${explained(error)}`));
	const path = relaySocketOf(folder);
	// Of an agent of before.
	rmSync(path, {force: true});
	server.listen(path, () => chmodSync(path, 0o600));
	return {
		take,
		join: outbox.join,
		open: () => ends.size,
		close() {
			isClosed = true;
			server.close();
			for (const end of [...ends.values()]) end.cut();
			for (const client of clients) client.destroy();
			return Promise.resolve();
		},
	};
}

/** A node alone says anything of its own connections. */
const keyOf = (node: string, session: string): string => `${node}/${session}`;

/** Undefined: it is none. What is asked for is judged by control. */
function placeOf({node, address, port}: JsonObject): RelayHead | undefined {
	return typeof node === 'string' && typeof address === 'string' && typeof port === 'number' ? {node, address, port} : undefined;
}
