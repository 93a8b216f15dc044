// How a command comes to a session: over HTTPS for one look, over MQTT for all else.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import {clientOf} from '../client.js';
import {brokerLoginOf, mqttUrl} from '../cluster/broker-login.js';
import {readConnection, sourcesOf, type Connection} from '../cluster/kubeconfig.js';
import type {Invocation} from '../command.js';
import {ClusterSearch, type FoundCluster} from './cluster-search.js';
import {createHttpSession} from './http-session.js';
import type {Session} from './session.js';

export type Opened = {
	readonly session: Session;
	/** Of the kubeconfig, where no flag says another. */
	readonly namespace: string;
};

/** Connects. Throws AppError where there is no cluster, or it refuses the login. */
export async function openSession({flags, environment, home, terminal}: Invocation, door: 'https' | 'mqtt'): Promise<Opened> {
	const sources = sourcesOf({kubeconfig: flags.text('kubeconfig'), home: flags.text('home')}, environment, home);
	const connection = await readConnection(sources);
	const {namespace} = connection;
	if (door === 'https') {
		const client = clientOf(connection, text => terminal.note(`warning: ${text}`));
		const session = createHttpSession(client);
		return {session: {...session, close: () => Promise.resolve(client.close())}, namespace};
	}
	const found = await findBroker(connection, text => terminal.note(`warning: ${text}`));
	return {session: await connect(found, () => readConnection(sources).then(again => findBroker(again))), namespace};
}

async function findBroker(connection: Connection, onWarning?: (text: string) => void): Promise<FoundCluster> {
	const client = clientOf(connection, onWarning);
	try {
		const broker = await brokerLoginOf(connection, client);
		const servers = [connection.server, ...connection.others];
		const serverAt = (url: string): string => servers.find(server => mqttUrl(server) === url)?.href.replace(/\/$/, '') ?? client.server;
		return {broker, aboutOf: url => `${serverAt(url)} as ${broker.login} (${broker.role})`};
	} finally {
		client.close();
	}
}

/**
 * Resolves when everything is subscribed; rejects when the first connection does not come about. While one that was lost does not come back,
 * `findAgain` is asked where the cluster is now.
 */
async function connect(found: FoundCluster, findAgain: () => Promise<FoundCluster>): Promise<Session> {
	const [{connectMqttLink}, {createMqttSession}] = await Promise.all([
		import('../../system/links/mqtt-link.js'),
		import('./mqtt-session.js'),
	]);
	const {login, password, ca, trustAnyone} = found.broker;
	const search = new ClusterSearch(found, {findAgain, onMoved: () => link.reconnect(), onOther: () => session.say(otherCluster)});
	const prefix = `repl-${systemRandom.uuid()}`;
	const first = new FirstConnection();
	const link = connectMqttLink({
		url: () => search.found.broker.urls,
		self: login,
		password,
		clientId: prefix,
		...(ca === undefined ? {} : {ca}),
		trustAnyone,
		onConnected() {
			first.connected();
			search.connected();
			session.connected();
		},
		onDisconnected: () => session.disconnected(first.problem),
		onProblem(problem) {
			first.problem = problem;
			if (first.isConnected) void search.lookAgain();
		},
	});
	const session = createMqttSession(link, {login, prefix, about: () => search.found.aboutOf(link.url()), clock: systemClock});
	try {
		await first.within(limits.inspectConnectMs, found.broker.urls);
		return session;
	} catch (error) {
		await link.close();
		throw error;
	}
}

const otherCluster =
	'the kubeconfig is of another cluster by now, or has another token: leave this session and begin it again to speak with that one';

/** Whether a connection was ever there, and why it is not. */
class FirstConnection {
	/** Of the last attempt; empty: none is known. */
	problem = '';
	isConnected = false;
	#onConnected = (): void => undefined;

	connected(): void {
		this.problem = '';
		this.isConnected = true;
		this.#onConnected();
	}

	/** Rejects when it is not there by then. */
	within(ms: number, urls: readonly string[]): Promise<void> {
		return new Promise((resolve, reject) => {
			const cancel = systemClock.after(ms, () => {
				const message = `the broker at ${urls.join(', ')} did not answer within ${ms / 1_000} s${this.problem === '' ? '' : `: ${this.problem}`}`;
				reject(new AppError('ERR_NOT_REACHABLE', {message}));
			});
			this.#onConnected = () => {
				cancel();
				resolve();
			};
		});
	}
}
