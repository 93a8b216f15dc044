// A connection to a port of a pod of this node as a stream: what the runtime has as a session.

import {limits} from '../../api/limits.js';
import type {Runtime} from '../../actors/node/runtime/runtime-port.js';
import {SessionStream} from '../../system/links/session-stream.js';
import type {Clock} from '../../system/time/clock.js';

export const podStream = (run: Runtime['run'], clock: Clock, session: string): SessionStream =>
	new SessionStream(
		{
			read: done => run<'exec.read'>({type: 'exec.read', session, maxBytes: limits.relayChunkBytes, waitMs: limits.execReadMs}, done),
			write: (data, isLast, done) => run<'exec.write'>({type: 'exec.write', session, data: data.toString('base64'), isLast}, done),
			keep: () => run<'exec.read'>({type: 'exec.read', session, maxBytes: 0, waitMs: 0}, () => undefined),
			close: () => run<'exec.close'>({type: 'exec.close', session}, () => undefined),
		},
		clock,
	);
