// How a command comes to a session: over HTTPS for one look, over MQTT for all else.

import {AppError} from '../../api/errors.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import {clientOf} from '../client.js';
import {brokerLoginOf, mqttUrl, type BrokerLogin} from '../cluster/broker-login.js';
import {readConnection, sourcesOf, type Connection} from '../cluster/kubeconfig.js';
import type {Invocation} from '../command.js';
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

/** Where a cluster's broker is, and what people call it by the URL that is spoken with. */
type Found = {readonly broker: BrokerLogin; readonly aboutOf: (url: string) => string};

async function findBroker(connection: Connection, onWarning?: (text: string) => void): Promise<Found> {
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
 * `findAgain` is asked where the cluster is now: it may have begun anew on other ports.
 */
async function connect(found: Found, findAgain: () => Promise<Found>): Promise<Session> {
	const [{connectMqttLink}, {createMqttSession}] = await Promise.all([
		import('../../system/links/mqtt-link.js'),
		import('./mqtt-session.js'),
	]);
	const {login, password, ca, trustAnyone} = found.broker;
	let {
		aboutOf,
		broker: {urls},
	} = found;
	let isLooking = false;
	/** Another login, or another authority, is another cluster: that one is not gone to unasked. */
	const lookAgain = async (): Promise<void> => {
		if (isLooking) return;
		isLooking = true;
		const again = await findAgain().catch(() => undefined);
		isLooking = false;
		if (again === undefined || again.broker.password !== password || again.broker.ca !== ca || link.connected()) return;
		if (again.broker.urls.join() === urls.join()) return;
		({urls} = again.broker);
		({aboutOf} = again);
		link.reconnect();
	};
	const prefix = `repl-${systemRandom.uuid()}`;
	let why = '';
	let isOpen = false;
	let onFirst: () => void = () => undefined;
	const link = connectMqttLink({
		url: () => urls,
		self: login,
		password,
		clientId: prefix,
		...(ca === undefined ? {} : {ca}),
		trustAnyone,
		onConnected() {
			why = '';
			session.connected();
			onFirst();
		},
		onDisconnected: () => session.disconnected(why),
		onProblem(problem) {
			why = problem;
			if (isOpen) void lookAgain();
		},
	});
	const session = createMqttSession(link, {login, prefix, about: () => aboutOf(link.url()), clock: systemClock});
	const first = new Promise<void>((resolve, reject) => {
		const cancel = systemClock.after(connectMs, () => {
			const message = `the broker at ${urls.join(', ')} did not answer within ${connectMs / 1_000} s${why === '' ? '' : `: ${why}`}`;
			reject(new AppError('ERR_NOT_REACHABLE', {message}));
		});
		onFirst = () => {
			cancel();
			resolve();
		};
	});
	try {
		await first;
		isOpen = true;
		return session;
	} catch (error) {
		await link.close();
		throw error;
	}
}

const connectMs = 10_000;
