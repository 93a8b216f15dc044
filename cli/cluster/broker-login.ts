// How a command reaches the cluster's broker: as whom, and where. The API's own port speaks MQTT, too, by ALPN; where the broker is another
// program the API says where that is. Plain data: it may be handed to a thread.

import {AppError} from '../../api/errors.js';
import type {Role} from '../../api/roles.js';
import type {Client} from '../client.js';
import {usageError} from '../command.js';
import type {Connection} from './kubeconfig.js';

/** As `connectMqttLink` takes it. */
export type BrokerLogin = {
	/** In the order in which they are tried. */
	readonly urls: readonly [string, ...string[]];
	readonly login: string;
	readonly role: Role;
	readonly password: string;
	/** PEM of the authority that signed the broker's certificate; undefined: those that the system trusts. */
	readonly ca: string | undefined;
	readonly trustAnyone: boolean;
};

/** Asks the API who this is. Throws AppErrors. */
export async function brokerLoginOf(connection: Connection, client: Pick<Client, 'json'>): Promise<BrokerLogin> {
	const {server, others, token, file} = connection;
	if (token === undefined) throw usageError(`${file} has no token, and MQTT takes no other login`);
	const {login, role, broker} = (await client.json({path: '/troupe/v1/mqtt'})) as {
		readonly login: string;
		readonly role: Role;
		readonly broker: string | null;
	};
	if (broker !== null) return {urls: [broker], login, role, password: token, ca: undefined, trustAnyone: connection.trustAnyone};
	const [first, ...rest] = [server, ...others].filter(({protocol}) => protocol === 'https:').map(mqttUrl);
	if (first === undefined)
		throw new AppError('ERR_NOT_REACHABLE', {message: `${server.href} speaks no TLS, and MQTT goes to the API's TLS port (${file})`});
	return {urls: [first, ...rest], login, role, password: token, ca: connection.ca, trustAnyone: connection.trustAnyone};
}

/** The one port of a server speaks MQTT as well. */
export function mqttUrl({hostname, port}: URL): string {
	return `mqtts://${hostname}:${port === '' ? '443' : port}`;
}
