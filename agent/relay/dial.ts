// How a data plane gets a connection that its agent has relayed: over a socket in its folder, where the agent listens. No agent, no connection, at once.

import {connect} from 'node:net';
import path from 'node:path';
import type {Clock} from '../../system/time/clock.js';
import {FramedSocket} from './framed-socket.js';

/** What a data plane asks for first. */
export type RelayHead = {readonly node: string; readonly address: string; readonly port: number};

/** What the agent says first: nothing is wrong with it, or what is. */
export type RelayAnswer = {readonly problem?: string | undefined};

/** Comes to 'connect' when the endpoint has taken the connection; to 'error' when it has not. */
export type Dial = (place: RelayHead) => FramedSocket;

export const relaySocketOf = (folder: string): string => path.join(folder, 'relay');

export function createDial(folder: string, clock: Clock): Dial {
	return ({node, address, port}) => {
		const socket = connect(relaySocketOf(folder));
		const framed = new FramedSocket(socket, clock, ({problem}) => {
			if (problem === undefined) framed.connected();
			else framed.destroy(new Error(typeof problem === 'string' ? problem : 'the agent refuses it'));
		});
		framed.say({node, address, port} satisfies RelayHead);
		return framed;
	};
}
