// Sessions at nodes, as they are asked for over the bus.

import type {SessionAsk} from '../../actors/node/runtime-actor.js';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Remote} from './remote-session.js';

/** Asks the node; `waitMs` is how long it may take by itself. */
export type Asker = <Value>(message: SessionAsk, waitMs?: number) => Promise<Outcome<Value>>;

/** The two ends of a session that a node has opened. */
export function remoteOf(ask: Asker, session: string): Remote {
	const {execChunkBytes: maxBytes, execReadMs, execInputStallMs} = limits;
	return {
		read: () => ask({type: 'execRead', session, maxBytes, waitMs: execReadMs}, execReadMs),
		keep: () => ask({type: 'execRead', session, maxBytes: 0, waitMs: 0}),
		write: (bytes, isLast) => ask({type: 'execWrite', session, data: base64(bytes), isLast}, execInputStallMs),
		resize: (rows, columns) => ask({type: 'execResize', session, rows, columns}),
		close: () => ask({type: 'execClose', session}),
	};
}

/** As bytes cross the bus. */
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
