// How an agent becomes a node: a join token is traded for the node's own credential, and what it needs to find the cluster again.

import type {TopicRights} from './topic-rights.js';

/** `GET`, without a login: the authority's certificate, so that a token that pins it can be checked before it is sent. */
export const caPath = '/troupe/v1/ca';

/** `POST` with the join token as bearer. */
export const joinPath = '/troupe/v1/join';

export type JoinRequest = {readonly node: string};

export type JoinAnswer = {
	readonly node: string;
	/** The node's own token: login `node` on MQTT, bearer on HTTPS. */
	readonly credential: string;
	/** PEM. */
	readonly ca: string;
	/** `https://host:port` of every server, the one that answers first. */
	readonly servers: readonly string[];
	/** Where actors meet, when it is not the servers themselves: `mqtts://host:port` of an external broker. */
	readonly broker?: string;
};

/** Of people and nodes: `GET` lists, `POST` makes one, `DELETE /troupe/v1/tokens/<name>` takes one back. */
export const tokensPath = '/troupe/v1/tokens';

/** The roles that a token may be made for by hand; nodes get theirs by joining. */
export const tokenRoles = ['admin', 'edit', 'view', 'tool', 'metrics'] as const;

export type TokenRequest =
	| {readonly name: string; readonly role: (typeof tokenRoles)[number]; readonly ttlSeconds?: number; readonly topics?: TopicRights}
	| {readonly join: true; readonly ttlSeconds?: number};

export type TokenRow = {
	readonly name: string;
	readonly role: string;
	readonly createdAtMs: number;
	readonly expiresAtMs?: number;
	readonly topics?: TopicRights;
};

/** The only time that the token itself is seen. */
export type TokenAnswer = TokenRow & {readonly token: string};
