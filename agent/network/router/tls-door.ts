// Where the router takes clients that speak TLS: a connection is given on once its handshake is done. A client gets the certificate of the host that
// it names, or the alert that there is none; never one of another host.

import type {Socket} from 'node:net';
import {constants} from 'node:crypto';
import {TLSSocket, createSecureContext} from 'node:tls';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Certificates} from './certificates.js';

type TlsDoorOptions = {
	readonly certificates: Pick<Certificates, 'find'>;
	readonly clock: Clock;
	/** A text for people; undefined: it is over. */
	readonly onProblem: (problem: string | undefined) => void;
};

export type TlsDoor = {
	/** `onSecure` gets a connection whose handshake is done. Others are closed. */
	readonly take: (socket: Socket, onSecure: (socket: TLSSocket) => void) => void;
};

export function createTlsDoor({certificates, clock, onProblem}: TlsDoorOptions): TlsDoor {
	// Tickets would let a client come back without looking for a certificate again, also where there is none any more.
	const secureContext = createSecureContext({minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET});
	let handshakes = 0;
	return {
		take(raw, onSecure) {
			if (handshakes >= limits.routerHandshakes) {
				onProblem(`${handshakes} clients of the router have begun a handshake of TLS and not finished it: others are closed`);
				return void raw.destroy();
			}
			handshakes += 1;
			const socket = new TLSSocket(raw, {
				isServer: true,
				secureContext,
				ALPNProtocols: ['http/1.1'],
				SNICallback(name, done) {
					const found = certificates.find(name);
					if (found !== undefined) return done(null, found);
					// Nothing of the handshake has been sent yet, and Node has no word for this alert.
					raw.write(unrecognizedName);
					done(new Error('no certificate'));
				},
			});
			socket.on('error', () => undefined);
			const cancel = clock.after(limits.routerHandshakeMs, () => socket.destroy());
			let isUnderWay = true;
			const over = (): void => {
				if (!isUnderWay) return;
				isUnderWay = false;
				cancel();
				handshakes -= 1;
				if (handshakes === limits.routerHandshakes - 1) onProblem(undefined);
			};
			socket.once('close', over);
			// A client that ends before it has said who it wants has no other end to wait for.
			socket.once('end', () => {
				if (isUnderWay) socket.destroy();
			});
			socket.once('secure', () => {
				over();
				onSecure(socket);
			});
		},
	};
}

/** A fatal alert in a record of its own (RFC 8446 section 6.2, and RFC 6066 section 3). */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);
