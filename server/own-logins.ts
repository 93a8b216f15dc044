// Logins of the nodes of this process, whose agents need none: for what serves traffic there, which is a process of its own and comes in at the doors.
//
// What it keeps true: they are in memory alone, and end with the term.

import type {Identity} from '../api/roles.js';
import {tokenHash} from './mosquitto-hash.js';
import {newToken} from './tokens.js';

export type OwnLogins = {
	/** In place of the one that the node had. */
	readonly issue: (node: string) => string;
	readonly identityOf: (token: string | undefined) => Identity | undefined;
};

export function createOwnLogins(): OwnLogins {
	/** By node; what is kept is a hash, as of any token. */
	const hashes = new Map<string, string>();
	return {
		issue(node) {
			const token = newToken();
			hashes.set(node, tokenHash(token));
			return token;
		},
		identityOf(token) {
			if (token === undefined || hashes.size === 0) return undefined;
			const hash = tokenHash(token);
			const [node] = [...hashes].find(([, its]) => its === hash) ?? [];
			return node === undefined ? undefined : {name: node, role: 'node', node};
		},
	};
}
