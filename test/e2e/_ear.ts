// An outside tool that listens: a plain MQTT client with a login, over TCP or WebSocket.

import {connectAsync, type MqttClient} from 'mqtt';
import {systemClock} from '../../system/time/clock.js';
import type {TopicMessage} from '../../server/topics.js';
import type {ApiObject} from '../../api/object.js';
import type {Home} from './_rig.js';
import type {Owner} from '../../bench/rigs/owner.js';

export type Heard = {readonly topic: string; readonly text: string; readonly retained: boolean};

/** What a message about an object says; undefined for the empty one that clears a topic. */
export type ObjectMessage = TopicMessage & {readonly topic: string; readonly object?: ApiObject; readonly deleted?: boolean};

export type Ear = {
	readonly client: MqttClient;
	readonly heard: readonly Heard[];
	readonly listen: (filter: string) => Promise<void>;
	/** Resolves as soon as it is so; rejects after 20 s. */
	readonly until: <Found>(what: string, look: (heard: readonly Heard[]) => Found | undefined | false) => Promise<Found>;
};

/** Connects once and never again: what is heard is of one connection. Rejects when the login is refused. */
export async function openEar(
	owner: Owner,
	cluster: Home,
	way: 'mqtt' | 'web' = 'mqtt',
	user = 'admin',
	password = cluster.token(),
): Promise<Ear> {
	const {mqtt, web} = cluster.endpoints();
	const url = way === 'mqtt' ? mqtt : `${web.replace(/^http/, 'ws')}/mqtt`;
	const client = await connectAsync(url, {username: user, password, protocolVersion: 4, reconnectPeriod: 0}, false);
	client.on('error', () => undefined); // A cluster that is killed resets its connections.
	owner.teardown(() => client.endAsync(true));
	const heard: Heard[] = [];
	const looks = new Set<() => void>();
	client.on('message', (topic, payload, {retain}) => {
		heard.push({topic, text: payload.toString(), retained: retain});
		for (const look of looks) look();
	});
	return {
		client,
		heard,
		async listen(filter) {
			await client.subscribeAsync(filter);
		},
		until: (what, look) =>
			new Promise((resolve, reject) => {
				const cancel = systemClock.after(20_000, () => {
					looks.delete(check);
					reject(
						new Error(`too long, waiting for ${what}; heard: ${heard.map(({topic, text}) => `${topic} ${text.slice(0, 200)}`).join('\n')}`),
					);
				});
				const check = (): void => {
					const found = look(heard);
					if (found === undefined || found === false) return;
					cancel();
					looks.delete(check);
					resolve(found);
				};
				looks.add(check);
				check();
			}),
	};
}

/** The messages about objects, parsed, without those that clear a topic. */
export const messagesOf = (heard: readonly Heard[]): readonly ObjectMessage[] =>
	heard
		.filter(({text}) => text !== '')
		.map(({topic, text, retained}) => ({...(JSON.parse(text) as Omit<ObjectMessage, 'topic' | 'retained'>), topic, retained}));
