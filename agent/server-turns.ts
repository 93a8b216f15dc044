// Asks the servers of a cluster in turn, the one that answered last first; a standby says that it is none, and the next is asked.

import {failure, type ErrorCode, type Failure, type Outcome} from '../api/errors.js';

/** Resolves with what the first server says that knows; else with what was wrong with the last. `what` is a clause: `secret "x" cannot be fetched`. */
export type AskServers = <Value>(what: string, ask: (server: string) => Promise<Outcome<Value>>) => Promise<Outcome<Value>>;

/** `servers`: `https://host:port` of every server, as known now. */
export function createServerTurns(servers: () => readonly string[]): AskServers {
	let last: string | undefined;
	return async (what, ask) => {
		const all = servers();
		const order = last !== undefined && all.includes(last) ? [last, ...all.filter(server => server !== last)] : all;
		let why: Failure = failure('ERR_NOT_REACHABLE', {message: `${what}: no server is known`});
		for (const server of order) {
			const outcome = await ask(server);
			if (outcome.ok || isDecided(outcome.error.code)) {
				last = server;
				return outcome;
			}
			why = outcome.error;
		}
		return {ok: false, error: why};
	};
}

/** Another server would say the same. */
const isDecided = (code: ErrorCode): boolean => code === 'ERR_NOT_FOUND' || code === 'ERR_FORBIDDEN';
