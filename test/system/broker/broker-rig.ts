// A broker with three logins, and ways to talk to it: mqtt.js for the polite, a bare socket for the rest.

import {once, type EventEmitter} from 'node:events';
import {connect, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';
import mqtt, {type IClientOptions, type MqttClient} from 'mqtt';
import {may, type Identity} from '../../../api/roles.js';
import {createBroker, type Broker, type BrokerOptions, type RetainedSource} from '../../../system/broker/broker.js';
import type {ClientQuota} from '../../../system/broker/ports.js';
import {nodeQuota, toolQuota} from '../../../system/broker/quotas.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {packet, text} from '../../../bench/rigs/mqtt/packets.js';

export const noRetained: RetainedSource = {match: () => [], owns: () => false};

const logins: Readonly<Record<string, Identity>> = {
	admin: {name: 'admin', role: 'admin'},
	watcher: {name: 'watcher', role: 'view'},
	'node-a': {name: 'node-a', role: 'node', node: 'node-a'},
	'node-b': {name: 'node-b', role: 'node', node: 'node-b'},
};

/** The password of everybody is their name, twice. */
export const passwordOf = (name: string): string => name + name;

export const authenticate = (username: string | undefined, password: string | undefined): Identity | undefined =>
	username !== undefined && password === passwordOf(username) ? logins[username] : undefined;

const quotaOf = ({role}: Identity): ClientQuota => (role === 'node' ? nodeQuota : toolQuota);

export type Rig = {readonly broker: Broker; readonly port: number; readonly clock: ManualClock};

export async function startBroker(t: ExecutionContext, overrides: Partial<BrokerOptions<Identity>> = {}): Promise<Rig> {
	const clock = new ManualClock();
	const broker = await createBroker<Identity>({clock, authenticate, may, retainedSource: noRetained, quotaOf, ...overrides});
	t.teardown(() => broker.close());
	const {port} = await broker.listen('127.0.0.1', 0);
	return {broker, port, clock};
}

/** The next event of a client, whose own type knows no `once` of node's. */
export const event = (client: MqttClient, name: 'connect' | 'close' | 'error'): Promise<unknown[]> =>
	once(client as unknown as EventEmitter, name) as Promise<unknown[]>;

/** A client that has tried to log in; nothing reconnects. */
export function newClient(t: ExecutionContext, port: number, name: string, options: IClientOptions = {}): MqttClient {
	const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
		username: name,
		password: passwordOf(name),
		reconnectPeriod: 0,
		timerVariant: 'native',
		...options,
	});
	client.on('error', () => undefined);
	t.teardown(() => client.endAsync(true));
	return client;
}

export async function loggedIn(t: ExecutionContext, port: number, name: string, options: IClientOptions = {}): Promise<MqttClient> {
	const client = newClient(t, port, name, options);
	await event(client, 'connect');
	return client;
}

/** The return code of a refused login. */
export async function refusalOf(client: MqttClient): Promise<number> {
	const [error] = (await event(client, 'error')) as [{code?: number}];
	return error.code ?? 0;
}

export type Heard = {readonly topic: string; readonly text: string; readonly retain: boolean};

/** All that a client hears from now on, and a way to wait until it has heard enough. */
export function hearing(client: MqttClient): {
	readonly heard: Heard[];
	readonly until: (enough: (heard: readonly Heard[]) => boolean) => Promise<readonly Heard[]>;
} {
	const heard: Heard[] = [];
	let check: (() => void) | undefined;
	client.on('message', (topic, payload, packet) => {
		heard.push({topic, text: payload.toString(), retain: packet.retain});
		check?.();
	});
	return {
		heard,
		until: enough =>
			new Promise(resolve => {
				check = () => {
					if (enough(heard)) resolve(heard);
				};
				check();
			}),
	};
}

/** A round trip: what was sent before has been handled. */
export async function settled(client: MqttClient): Promise<void> {
	await client.unsubscribeAsync('troupe/v1/nothing');
}

/** A bare connection; its errors are looked at by nobody. */
export async function openSocket(t: ExecutionContext, port: number): Promise<Socket> {
	const socket = connect({port, host: '127.0.0.1'});
	socket.on('error', () => undefined);
	t.teardown(() => socket.destroy());
	await once(socket, 'connect');
	return socket;
}

export const connectPacket = (name: string, clientId: string): Buffer =>
	packet(0x10, text('MQTT'), Buffer.from([4, 0xc2, 0, 0]), text(clientId), text(name), text(passwordOf(name)));

export const subscribePacket = (filter: string): Buffer => packet(0x82, Buffer.from([0, 1]), text(filter), Buffer.from([0]));

export const publishPacket = (topic: string, payload: Buffer | string): Buffer => packet(0x30, text(topic), Buffer.from(payload));

/** Logs in and subscribes over a bare socket, and takes in nothing more. */
export async function stuckSubscriber(
	t: ExecutionContext,
	port: number,
	name: string,
	filter: string,
	clientId = `stuck-${name}`,
): Promise<Socket> {
	const socket = await openSocket(t, port);
	socket.write(connectPacket(name, clientId));
	await once(socket, 'data');
	socket.write(subscribePacket(filter));
	await once(socket, 'data');
	socket.pause();
	return socket;
}
