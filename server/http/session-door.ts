// What sessions of every sort have in common at the door: exec, attach, and images that are brought to a node. Each is a WebSocket.

import {AppError, failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {remoteProtocol} from '../../api/remote-channels.js';
import {isWebSocket, messageUpgrader, offeredSubprotocols} from '../../system/links/web-socket.js';
import type {Backend, Exchange} from './exchange.js';
import {refusal} from './outcome.js';
import {runSession, type Remote, type Wanted} from './remote-session.js';
import type {Streams} from './stream.js';

/** One of ours is enough: it keeps nothing of a connection but what `close` needs, and sessions are closed by their door. */
const upgrader = messageUpgrader({subprotocol: remoteProtocol, payloadBytes: limits.execMessageBytes});

/** Throws `ERR_BAD_REQUEST` for a request that is no WebSocket of ours, `ERR_BUSY` where there are too many already. */
export function requireSession({streams}: Backend, {request, upgrade}: Exchange): void {
	const isOurs = upgrade !== undefined && isWebSocket(request) && offeredSubprotocols(request).includes(remoteProtocol);
	if (!isOurs) throw refusal(`this is a WebSocket with the subprotocol ${remoteProtocol}; SPDY and older subprotocols are not spoken here`);
	requireRoom(streams);
}

/** Throws `ERR_BUSY` where there are too many sessions already. */
export function requireRoom(streams: Streams): void {
	if (streams.sessions() >= limits.remoteSessions)
		throw new AppError('ERR_BUSY', {address: 'exec, attach and port-forward', waiting: streams.sessions()});
}

const endedHere = 'the session was ended by the control plane: it stops, or the login is not good any more';

/** Makes the connection the session's. */
export function takeOver({streams, clock}: Backend, exchange: Exchange, remote: Remote, wanted: Wanted): void {
	const taken = exchange.upgrade?.take();
	let isOpen = false;
	if (taken !== undefined)
		upgrader.upgrade(exchange.request, taken.socket, taken.head, socket => {
			isOpen = true;
			const session = runSession(socket, remote, wanted, clock);
			const why = failure('ERR_NOT_REACHABLE', {message: endedHere});
			streams.addSession(taken.socket, exchange.identity.name, () => session.end(why));
		});
	// The client has gone while the node was asked.
	if (!isOpen) void remote.close();
}
