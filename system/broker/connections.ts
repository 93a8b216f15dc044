// The connections of the broker, by what aedes calls a client, and who holds which client id.

import {filtersOverlap, topicMatches} from '../../api/mqtt-filter.js';
import {unbounded, type Allowance} from './allowance.js';
import type {ClientStream} from './client-stream.js';
import type {SessionOwner} from './sessions.js';
import type {BrokerOptions, Login} from './ports.js';
import {unlimited, type PublishRate} from './publish-rate.js';
import type {Replay} from './replay.js';

/** One attached stream, from its first byte to its end. */
export type Connection<Identity> = {
	readonly about: string;
	readonly stream: ClientStream;
	/** Told when the login is accepted. */
	readonly onLogin: () => void;
	/** Granted and not taken back, each with its QoS. */
	readonly filters: Map<string, 0 | 1 | 2>;
	/** Of CONNECT; empty until then, and for clients that name none. */
	clientId: string;
	clean: boolean;
	willTopic: string | undefined;
	/** The login whose password it knows, from then on; it counts among that login's connections. */
	login: string | undefined;
	/** Set once the login is accepted. */
	identity: Identity | undefined;
	/** That of its login. */
	allowance: Allowance;
	rate: PublishRate;
	/** Whether the last message that waits to be taken was. */
	acceptance: Promise<boolean> | undefined;
	replay: Replay | undefined;
	/** The broker's number of the last publish that went to this client. */
	lastCounter: number;
};

export const newConnection = <Identity>(about: string, stream: ClientStream, onLogin: () => void): Connection<Identity> => ({
	about,
	stream,
	onLogin,
	filters: new Map(),
	clientId: '',
	clean: true,
	willTopic: undefined,
	login: undefined,
	identity: undefined,
	allowance: unbounded,
	rate: unlimited,
	acceptance: undefined,
	replay: undefined,
	lastCounter: -1,
});

/** The highest QoS that any of the filters has for a topic [MQTT-3.3.5-1]. */
export function grantedQos(filters: ReadonlyMap<string, 0 | 1 | 2>, topic: string): 0 | 1 | 2 {
	let best: 0 | 1 | 2 = 0;
	for (const [filter, qos] of filters) if (qos > best && topicMatches(filter, topic)) best = qos;
	return best;
}

export class Connections<Client extends object, Identity extends Login> {
	/** A will is published after the connection's end, so what it was must be known as long as the client is. */
	readonly #byClient = new WeakMap<Client, Connection<Identity>>();
	readonly #open = new Set<Connection<Identity>>();
	readonly #holders = new Map<string, Connection<Identity>>();
	readonly #may: BrokerOptions<Identity>['may'];

	constructor(may: BrokerOptions<Identity>['may']) {
		this.#may = may;
	}

	add(client: Client, connection: Connection<Identity>): void {
		this.#byClient.set(client, connection);
		this.#open.add(connection);
	}

	of(client: Client | null): Connection<Identity> | undefined {
		return client === null ? undefined : this.#byClient.get(client);
	}

	/** The login is accepted; from now on the client id is this connection's. False: it has ended meanwhile, and nothing is its. */
	login(connection: Connection<Identity>, identity: Identity): boolean {
		if (!this.#open.has(connection)) return false;
		connection.identity = identity;
		connection.login = identity.name;
		if (connection.clientId !== '') this.#holders.set(connection.clientId, connection);
		return true;
	}

	end(connection: Connection<Identity>): void {
		this.#open.delete(connection);
		if (this.#holders.get(connection.clientId) === connection) this.#holders.delete(connection.clientId);
	}

	/** The name of the login that a live connection with this client id belongs to. */
	holderOf(clientId: string): string | undefined {
		return this.#holders.get(clientId)?.identity?.name;
	}

	/** What a session keeps of a live connection: nothing that holds on to its socket. */
	ownerOf(clientId: string): SessionOwner | undefined {
		const identity = this.#holders.get(clientId)?.identity;
		return identity === undefined ? undefined : ownerFrom(identity, this.#may);
	}

	/** Logins of which anything came at that time (monotonic) or later. */
	heardSince(atMs: number): string[] {
		const names = new Set<string>();
		for (const {identity, stream} of this.#open) if (identity !== undefined && stream.heardMs >= atMs) names.add(identity.name);
		return [...names];
	}

	/** Whether a client has subscribed to what the filter matches, or to some of it. */
	isWanted(filter: string): boolean {
		for (const {filters} of this.#open) for (const own of filters.keys()) if (filtersOverlap(own, filter)) return true;
		return false;
	}

	/** The open connections of those that are not served first. */
	*tools(): Generator<ClientStream> {
		for (const {stream} of this.#open) if (!stream.isFirst) yield stream;
	}

	/** The open connections of a login. */
	ofLogin(name: string): Connection<Identity>[] {
		return [...this.#open].filter(({identity}) => identity?.name === name);
	}

	/** How many there are of a login, those that are not accepted yet among them. */
	countOf(login: string): number {
		let count = 0;
		for (const connection of this.#open) if (connection.login === login) count += 1;
		return count;
	}

	/** Logins with anything open, those that are not accepted yet among them. */
	logins(): Set<string> {
		const logins = new Set<string>();
		for (const {login} of this.#open) if (login !== undefined) logins.add(login);
		return logins;
	}

	/** Logins that are connected, each once, sorted. */
	names(): string[] {
		const names = new Set<string>();
		for (const {identity} of this.#open) if (identity !== undefined) names.add(identity.name);
		return [...names].sort();
	}
}

const ownerFrom = <Identity extends Login>(identity: Identity, may: BrokerOptions<Identity>['may']): SessionOwner => ({
	login: identity.name,
	credential: identity.credential,
	allowed: topic => may(identity, 'forward', topic),
});
