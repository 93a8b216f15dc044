// A server, two nodes and a Mosquitto at which they meet, each on a host of its own, and a web app that is asked all the time: the broker dies and comes
// back, at once and after longer than the grace.

import {readFileSync} from 'node:fs';
import {setTimeout as pause} from 'node:timers/promises';
import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {passwordField, tokenHash} from '../../server/mosquitto-hash.js';
import {credentialFile} from '../e2e/_hosts.js';
import {controlSecret, startMosquitto, type Mosquitto} from './_mosquitto.js';
import {nothingLost, nothingMoved, replaceAll, sharedWebApp} from './_web-app.js';

const brokerHost = 'b';
const graceMs = 5_000;
let broker: Mosquitto | undefined;

const stage = sharedWebApp(test, owner => ({
	nodes: ['n1', 'n2'],
	others: [brokerHost],
	grace: `${graceMs / 1_000}s`,
	async store(network) {
		const address = network.addressOf(brokerHost);
		broker = await startMosquitto(owner, [], {address, words: network.on(brokerHost)});
		return [`--broker=mqtt://control:${encodeURIComponent(controlSecret)}@${address}:${broker.port}`];
	},
	async joined([server], nodes) {
		const logins = nodes.map(({name, home}) => {
			const {credential} = JSON.parse(readFileSync(credentialFile(home), 'utf8')) as {readonly credential: string};
			return {name, role: 'node', password: passwordField(tokenHash(credential))} as const;
		});
		await broker?.reload(logins);
		await eventually(
			'all nodes are ready',
			async () => {
				const told = (await server?.fine('get', 'nodes')) ?? '';
				return nodes.every(({name}) => new RegExp(`^${name} +Ready`, 'm').test(told));
			},
			undefined,
			60_000,
		);
	},
}));

for (const [words, awayMs] of [
	['begins again at once', 0],
	['is away for longer than the grace', 3 * graceMs],
] as const)
	test.serial(`a broker that dies and ${words} loses nothing, and no pod is given up`, async t => {
		t.timeout(280_000);
		const {app} = stage();
		const before = await app.standing();
		const seen = await app.under(async () => {
			await broker?.kill();
			await pause(awayMs);
			await broker?.start();
			await app.settled();
		});
		nothingLost(t, seen);
		nothingMoved(t, before, await app.standing());
		await replaceAll(stage());
	});
