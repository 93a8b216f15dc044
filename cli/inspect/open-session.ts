// How a command comes to a session: over HTTPS for one look, over MQTT for all else.

import {AppError} from '../../api/errors.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import {clientOf} from '../client.js';
import {brokerLoginOf, mqttUrl} from '../cluster/broker-login.js';
import {readConnection, sourcesOf} from '../cluster/kubeconfig.js';
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
	const client = clientOf(connection, text => terminal.note(`warning: ${text}`));
	const {namespace} = connection;
	if (door === 'https') {
		const session = createHttpSession(client);
		return {session: {...session, close: () => Promise.resolve(client.close())}, namespace};
	}
	try {
		const broker = await brokerLoginOf(connection, client);
		const servers = [connection.server, ...connection.others];
		const serverAt = (url: string): string => servers.find(server => mqttUrl(server) === url)?.href.replace(/\/$/, '') ?? client.server;
		return {session: await connect(broker, url => `${serverAt(url)} as ${broker.login} (${broker.role})`), namespace};
	} finally {
		client.close();
	}
}

/** Resolves when everything is subscribed; rejects when the first connection does not come about. */
async function connect(broker: Awaited<ReturnType<typeof brokerLoginOf>>, about: (url: string) => string): Promise<Session> {
	const [{connectMqttLink}, {createMqttSession}] = await Promise.all([
		import('../../system/links/mqtt-link.js'),
		import('./mqtt-session.js'),
	]);
	const {urls, login, password, ca, trustAnyone} = broker;
	const prefix = `repl-${systemRandom.uuid()}`;
	let why = '';
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
		},
	});
	const session = createMqttSession(link, {login, prefix, about: () => about(link.url()), clock: systemClock});
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
		return session;
	} catch (error) {
		await link.close();
		throw error;
	}
}

const connectMs = 10_000;
