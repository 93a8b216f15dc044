// Who may come in, and on what topics at all. Pure: the connection it decides about is described by values.

import {limits} from '../../api/limits.js';
import {isFilter, isTopic} from '../../api/mqtt-filter.js';
import type {BrokerOptions, Login} from './ports.js';

/** CONNACK return codes [MQTT 3.1.1, table 3.1]. */
const connack = {identifierRejected: 2, serverUnavailable: 3, badUserNameOrPassword: 4, notAuthorized: 5} as const;
export type RefusalCode = (typeof connack)[keyof typeof connack];

export type ConnectRequest = {
	readonly clientId: string;
	readonly clean: boolean;
	readonly username: string | undefined;
	readonly password: string | undefined;
	readonly willTopic: string | undefined;
};

export type Admission<Identity> = {readonly ok: true; readonly identity: Identity} | {readonly ok: false; readonly code: RefusalCode};

/** For the second of those of which there may be one. */
export const duplicate: {readonly ok: false; readonly code: RefusalCode} = {ok: false, code: connack.identifierRejected};

/** For a connection beyond what its login may have. */
export const crowded: {readonly ok: false; readonly code: RefusalCode} = {ok: false, code: connack.serverUnavailable};

const refused = (code: RefusalCode): {readonly ok: false; readonly code: RefusalCode} => ({ok: false, code});

/**
 * Decides about one CONNECT. `holderOf` names the login that a live connection with this client id belongs to: another
 * login never takes such a connection over.
 */
export function admit<Identity extends Login>(
	request: ConnectRequest,
	{authenticate, may}: Pick<BrokerOptions<Identity>, 'authenticate' | 'may'>,
	holderOf: (clientId: string) => string | undefined,
): Admission<Identity> {
	const identity = authenticate(request.username, request.password);
	if (identity === undefined) {
		const anonymous = request.username === undefined && request.password === undefined;
		return refused(anonymous ? connack.notAuthorized : connack.badUserNameOrPassword);
	}
	if (!may(identity, 'connect', '')) return refused(connack.notAuthorized);
	if (Buffer.byteLength(request.clientId) > limits.brokerClientIdBytes) return refused(connack.identifierRejected);
	// Without a name there is nothing to keep a session under [MQTT-3.1.3-8].
	if (request.clientId === '' && !request.clean) return refused(connack.identifierRejected);
	const holder = holderOf(request.clientId);
	if (holder !== undefined && holder !== identity.name) return refused(connack.identifierRejected);
	// A will that could not be published would be found out only when its client is gone.
	const {willTopic} = request;
	if (willTopic !== undefined && !(isPublishable(willTopic) && may(identity, 'publish', willTopic))) return refused(connack.notAuthorized);
	return {ok: true, identity};
}

/** What CONNECT must not say and the parser lets pass. */
export function isMalformed(packet: {
	readonly clientId: string;
	readonly username?: string | undefined;
	readonly password?: unknown;
	readonly will?: {readonly topic: string; readonly qos?: number} | undefined;
}): boolean {
	const {clientId, username, password, will} = packet;
	if (username === undefined && password !== undefined) return true; // [MQTT-3.1.2-22]
	if (will !== undefined && ((will.qos ?? 0) > 2 || !isText(will.topic))) return true; // [MQTT-3.1.2-14]
	return !isText(clientId) || !isText(username ?? '');
}

/** A text as packets may hold one [MQTT-1.5.3-1, MQTT-1.5.3-2]: the parser puts U+FFFD in place of what is not UTF-8. */
export const isText = (text: string): boolean => !/[\0\uFFFD]/.test(text);

const isModest = (text: string): boolean =>
	text.length <= limits.brokerTopicBytes &&
	Buffer.byteLength(text) <= limits.brokerTopicBytes &&
	text.split('/').length <= limits.brokerTopicLevels;

/** A topic that a client may publish to; `$…` is the broker's own. */
export const isPublishable = (topic: string): boolean => isTopic(topic) && !topic.startsWith('$') && isModest(topic);

/** A filter that a client may ask for; `$SYS` and `$share` are refused, not silently empty. */
export const isSubscribable = (filter: string): boolean => isFilter(filter) && !filter.startsWith('$') && isModest(filter);
