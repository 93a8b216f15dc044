// What `troupe broker config` prints: settings, rights and passwords for a Mosquitto (2.0) that serves as the broker of a cluster. Pure:
// made again after each join or token, and read by the broker when it gets SIGHUP.
//
// The rights are those of api/roles.ts, told per login; a test compares them. Mosquitto grants every subscription and checks what it
// hands on, so `#` shows each login what it may read and no more.
// It cannot say "all topics but those below troupe/", nor tell control who has published: admins have the users' topics that their token names,
// and functions are not called from there.

import {brokerFileMark, type BrokerConfigAnswer} from '../api/broker-config.js';
import {controlSystem} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {Role} from '../api/roles.js';
import {topicPrefix} from '../api/topics.js';
import type {BrokerLogin} from './tokens.js';

export type BrokerConfigOptions = {
	readonly host: string;
	readonly port: number;
	/** Where the broker will find its files. */
	readonly passwordFile: string;
	readonly aclFile: string;
	/** Off loopback a listener without TLS would show passwords to an eavesdropper on the way. */
	readonly tls?: {readonly certFile: string; readonly keyFile: string};
	/** Those of all tokens. */
	readonly logins: readonly BrokerLogin[];
	/** Of the control plane itself: the second field of its line in the password file. */
	readonly controlPassword: string;
};

export type BrokerConfig = Pick<BrokerConfigAnswer, 'conf' | 'acl' | 'passwords'>;

export function brokerConfig(options: BrokerConfigOptions): BrokerConfig {
	const logins = options.logins.filter(({role}) => role !== 'join' && role !== 'metrics').toSorted((a, b) => (a.name < b.name ? -1 : 1));
	return {conf: conf(options), acl: acl(logins), passwords: passwords(options.controlPassword, logins)};
}

const lines = (...all: readonly string[]): string => all.map(line => `${line}\n`).join('');

function conf({host, port, passwordFile, aclFile, tls}: BrokerConfigOptions): string {
	return lines(
		`# Mosquitto 2.0 as the broker of a Troupe cluster. ${brokerFileMark}`,
		`listener ${port} ${host}`,
		'protocol mqtt',
		...(tls === undefined ? [] : [`certfile ${tls.certFile}`, `keyfile ${tls.keyFile}`]),
		'',
		'allow_anonymous false',
		`password_file ${passwordFile}`,
		`acl_file ${aclFile}`,
		'',
		'# Nothing has to outlive the broker: objects are written again by the leader, presence by each agent.',
		'persistence false',
		'retain_available true',
		'',
		'# Small messages go at once; nobody waits for an acknowledgement that the other side delays.',
		'set_tcp_nodelay true',
		'',
		'# A packet as the embedded broker takes it; what waits for one client is bounded by count. Beyond it messages are dropped: tools see',
		'# a gap, actors send again.',
		`max_packet_size ${limits.packetBytes}`,
		`message_size_limit ${limits.packetBytes}`,
		`max_queued_messages ${limits.outsideQueuedMessages}`,
		`max_queued_bytes ${limits.clientBufferBytes}`,
		`max_inflight_messages ${limits.outsideInflightMessages}`,
		'queue_qos0_messages false',
		`max_connections ${limits.brokerConnections}`,
		`max_keepalive ${limits.outsideKeepAliveSeconds}`,
		'',
		'# Sessions of clients that do not come back are forgotten.',
		'persistent_client_expiration 1d',
		'sys_interval 0',
	);
}

function passwords(controlPassword: string, logins: readonly BrokerLogin[]): string {
	return lines(
		`# Logins at the broker of a Troupe cluster. ${brokerFileMark}`,
		`${controlSystem}:${controlPassword}`,
		...logins.map(({name, password}) => `${name}:${password}`),
	);
}

/** What every login may read: what is addressed to it. Such lines hold for all, so they must be harmless to all. */
const ownTopics = ['actors/%u/inbox/+', 'actors/%u/bulk/+'];

function acl(logins: readonly BrokerLogin[]): string {
	return lines(
		`# Rights at the broker of a Troupe cluster. ${brokerFileMark}`,
		...ownTopics.map(topic => `pattern read ${topicPrefix}${topic}`),
		'',
		`user ${controlSystem}`,
		// Also what triggers of functions name, and where their dead letters go: both change without this file.
		'topic readwrite #',
		...logins.flatMap(login => [
			'',
			`user ${login.name}`,
			...rightsOf(login).map(([access, topic]) => `topic ${access} ${topicPrefix}${topic}`),
			...userRightsOf(login).map(([access, topic]) => `topic ${access} ${topic}`),
		]),
	);
}

type Right = readonly ['read' | 'write', string];

const readers: readonly Right[] = [
	'objects/+/+/+',
	'events/+/+/+',
	'history/+/+/+',
	'nodes/#',
	'metrics/nodes/+',
	'metrics/pods/+/+',
	'actors/+/lifecycle/#',
].map(topic => ['read', topic]);

/** What running actors are asked, and what is answered. */
const inspecting = (name: string): readonly Right[] => [
	['write', `inspect/requests/${name}/+`],
	['read', `inspect/replies/${name}/+`],
];

/** What the token says of the users' own topics. */
const userRightsOf = ({role, topics}: BrokerLogin): readonly Right[] =>
	role === 'node' || role === 'metrics'
		? []
		: [
				...(topics?.publish ?? []).map((topic): Right => ['write', topic]),
				...(topics?.subscribe ?? []).map((topic): Right => ['read', topic]),
			];

function rightsOf({name, role}: {readonly name: string; readonly role: Role}): readonly Right[] {
	switch (role) {
		case 'admin':
		case 'edit':
			return [
				...readers,
				...inspecting(name),
				...['presence', 'inbox/+'].flatMap((what): Right[] => [
					['read', `users/${name}/+/${what}`],
					['write', `users/${name}/+/${what}`],
				]),
				['read', `users/${name}/+/from-control`],
				['write', `users/${name}/+/to-control`],
				['write', 'runs/+/+/answer'],
			];
		case 'tool':
		case 'view':
			return [...readers, ...inspecting(name)];
		case 'node':
			return [
				['read', `nodes/${name}/#`],
				...['presence', 'beat'].map((what): Right => ['write', `nodes/${name}/${what}`]),
				['write', `actors/${controlSystem}/inbox/${name}`],
				['write', `actors/${controlSystem}/bulk/${name}`],
			];
		case 'metrics':
		case 'join':
			return [];
	}
}
