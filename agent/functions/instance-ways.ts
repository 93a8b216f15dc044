// Ways to an instance of a function that runs on this node, of either runtime: for this process, and as a session of another one.

import type {Socket} from 'node:net';
import {AppError, failure, type Failure, type Outcome} from '../../api/errors.js';
import type {ForwardRequest} from '../../actors/node/runtime/runtime-port.js';
import type {Connections} from '../forward/connections.js';
import type {Done} from '../handlers.js';
import {explained} from '../os/explained.js';
import {noInstance, noSandbox} from '../refusals.js';
import type {CallsEnd} from './when-listens.js';

type Ends = {readonly callsEndOf: (uid: string) => Outcome<CallsEnd>};

/** Only a node that has the pod connects to it: other nodes connect to ports. */
export function forwardToInstance(
	{callsEndOf, connections}: Ends & {readonly connections: Connections},
	{uid, relayedFor}: ForwardRequest,
	done: Done<{readonly session: string}>,
): void {
	const end = relayedFor === undefined ? callsEndOf(uid) : noInstance(uid);
	if (!end.ok) return done(end);
	const connect = (): Promise<Socket | Failure> =>
		end.value.connect().catch((error: unknown) => failure('ERR_NOT_REACHABLE', {message: explained(error)}));
	connections.openWith(connect, relayedFor, done);
}

/** Rejects with Errors for people. */
export async function connectInstance(
	{callsEndOf, sandboxes}: Ends & {readonly sandboxes: {readonly find: (uid: string) => unknown}},
	uid: string,
): Promise<Socket> {
	const end = sandboxes.find(uid) === undefined ? noSandbox(uid) : callsEndOf(uid);
	if (!end.ok) throw AppError.of(end.error);
	return end.value.connect();
}
