// Two nodes with their ends of relayed connections, and between them something that passes on what they say, as control does.

import {mkdtempSync, rmSync} from 'node:fs';
import {once} from 'node:events';
import net, {type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {failed, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {NodeRelay, SayToNode} from '../../../actors/node/runtime/relay-port.js';
import type {Runtime, RuntimeCommand} from '../../../actors/node/runtime/runtime-port.js';
import {createSessions, sessionHandlers, type Sessions} from '../../../agent/exec-sessions.js';
import {createConnections} from '../../../agent/forward/connections.js';
import {createDial, type Dial} from '../../../agent/relay/dial.js';
import type {FramedSocket} from '../../../agent/relay/framed-socket.js';
import {createNodeRelay} from '../../../agent/relay/relay.js';
import {systemClock, type Clock} from '../../../system/time/clock.js';
import {systemRandom} from '../../../system/time/random.js';

export type RelayedNode = {readonly relay: NodeRelay; readonly sessions: Sessions; readonly dial: Dial; readonly folder: string};

export type TwoNodes = {
	readonly near: RelayedNode;
	readonly far: RelayedNode;
	/** Bytes of what was said, in characters; by step. */
	readonly said: Map<string, number>;
	/** While it is cut nothing is passed on, and the time for an answer goes by. */
	readonly cut: (isCut: boolean) => void;
	/** A connection of a data plane on `near` to that port of the pod on `far`. Rejects with what was wrong. */
	readonly connect: (port: number) => Promise<FramedSocket>;
};

/** The runtime of a node whose only pod has the addresses of this host's loopback. */
function runtimeOf(sessions: Sessions, clock: Clock): Pick<Runtime, 'run'> & {readonly end: () => void} {
	const connections = createConnections(sessions, clock);
	const handlers = sessionHandlers(sessions);
	type Run = (command: RuntimeCommand, done: (outcome: Outcome<never>) => void) => void;
	const others = handlers as unknown as {readonly [type: string]: Run};
	const run: Run = (command, done) => {
		if (command.type !== 'forward.open') return others[command.type]?.(command, done);
		const answer = done as (outcome: Outcome<{readonly session: string}>) => void;
		if (command.request.uid === 'pod') connections.open(command.request, () => Promise.resolve(['127.0.0.1']), answer);
		else done(failed('ERR_NOT_FOUND', {resource: 'sandboxes', name: command.request.uid}));
	};
	return {run, end: connections.end};
}

export function twoNodes(t: ExecutionContext, clock: Clock = systemClock): TwoNodes {
	const said = new Map<string, number>();
	let isCut = false;
	const nodeOf = (): RelayedNode => {
		const folder = mkdtempSync(path.join(tmpdir(), 'relay-'));
		const sessions = createSessions(clock);
		const runtime = runtimeOf(sessions, clock);
		const relay = createNodeRelay({runtime, clock, random: systemRandom, folder, onWarning: t.log});
		t.teardown(async () => {
			await relay.close();
			runtime.end();
			sessions.closeAll();
			rmSync(folder, {recursive: true, force: true});
		});
		return {relay, sessions, dial: createDial(folder, clock), folder};
	};
	const nodes = {near: nodeOf(), far: nodeOf()};
	const sayFrom =
		(from: string): SayToNode =>
		({to, session, step}, done) => {
			said.set(step.step, (said.get(step.step) ?? 0) + 1);
			if (isCut) {
				const deadlineMs = limits.relayAnswerMs;
				return void clock.after(deadlineMs, () => done(failed('ERR_TIMEOUT', {address: to, deadlineMs})));
			}
			const passed = step.step === 'open' ? {step: step.step, uid: step.address, port: step.port} : step;
			setImmediate(() => {
				const node = to === 'near' || to === 'far' ? nodes[to] : undefined;
				if (node === undefined) done(failed('ERR_NO_SUCH_ACTOR', {address: to}));
				else node.relay.take({type: 'relay.take', from, session, step: passed}, done);
			});
		};
	nodes.near.relay.join(sayFrom('near'));
	nodes.far.relay.join(sayFrom('far'));
	return {
		...nodes,
		said,
		cut: is => void (isCut = is),
		async connect(port) {
			const socket = nodes.near.dial({node: 'far', address: 'pod', port});
			await once(socket, 'connect');
			t.teardown(() => void socket.on('error', () => undefined).destroy());
			return socket;
		},
	};
}

/** A server of this process; its port. */
export async function serve(t: ExecutionContext, answer: (socket: net.Socket) => void): Promise<number> {
	const sockets = new Set<net.Socket>();
	const server = net.createServer({allowHalfOpen: true}, socket => {
		sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
		answer(socket);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	return (server.address() as AddressInfo).port;
}
