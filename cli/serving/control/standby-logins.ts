// Logins as a server knows them that does not lead: read from the store when somebody shows a token, and no more often than now and then.

import {limits} from '../../../api/limits.js';
import type {Identity} from '../../../api/roles.js';
import {openTokens, type Tokens} from '../../../server/tokens.js';
import type {Vault} from '../../../server/vault.js';
import type {Clock} from '../../../system/time/clock.js';

/** Rejects where the store cannot be read, and was not before. */
export type StandbyLogins = (token: string) => Promise<Identity | undefined>;

/** `read` gives undefined where no server has led yet. */
export function openStandbyLogins(read: () => Promise<Vault | undefined>, clock: Clock): StandbyLogins {
	let last: {readonly tokens: Promise<Tokens | undefined>; readonly atMs: number} | undefined;
	const tokensNow = (): Promise<Tokens | undefined> => {
		const nowMs = clock.monotonicMs();
		if (last === undefined || nowMs - last.atMs >= limits.standbyLoginsMs)
			last = {tokens: read().then(vault => vault && openTokens(vault, clock.nowMs)), atMs: nowMs};
		return last.tokens;
	};
	return async token => (await tokensNow())?.authenticate(token);
}
