// Seven thousand connections that never log in, opened again as soon as they are closed, at each door of a running cluster: whoever has
// a token comes in as ever.

import {once} from 'node:events';
import https from 'node:https';
import http from 'node:http';
import type {AgentOptions, IncomingMessage} from 'node:http';
import path from 'node:path';
import test from 'ava';
import mqtt from 'mqtt';
import {openHome} from '../e2e/_rig.js';

const program = path.join(import.meta.dirname, '_strangers.js');
/** Of two processes: not every host allows one so many. */
const perProcess = 3_500;
const rounds = 30;

const portOf = (url: string): string => new URL(url).port;

async function get(url: string, token: string | undefined, agent: http.Agent | false): Promise<number | undefined> {
	const headers = token === undefined ? {} : {authorization: `Bearer ${token}`};
	const options = {rejectUnauthorized: false, headers, agent, timeout: 20_000} satisfies AgentOptions & https.RequestOptions;
	const [answer] = (await once((url.startsWith('https:') ? https : http).get(url, options), 'response')) as [IncomingMessage];
	answer.resume();
	await once(answer, 'end');
	return answer.statusCode;
}

for (const [door, way] of [
	['api', 'tcp'],
	['api', 'tls'],
	['api', 'headers'],
	['web', 'tcp'],
	['mqtt', 'tcp'],
] as const)
	test.serial(`7,000 strangers at the ${door} door (${way}) keep nobody out`, async t => {
		t.timeout(180_000);
		const home = openHome(t);
		const endpoints = await home.up('--simulated-nodes=0');
		const kept = new https.Agent({keepAlive: true, maxSockets: 1});
		t.teardown(() => kept.destroy());
		const pods = `${endpoints.api}/api/v1/pods`;
		t.is(await get(pods, home.token(), kept), 200);
		const attackers = [1, 2].map(() => home.startFile(program, [portOf(endpoints[door]), String(perProcess), way]));
		// Handshakes wait for their share of the time: not so many are open so soon.
		if (way === 'tcp') await Promise.all(attackers.map(({says}) => says(/all/)));
		const tookMs: number[] = [];
		for (let round = 0; round < rounds; round += 1) {
			const fromMs = performance.now();
			t.is(await get(pods, home.token(), false), 200);
			tookMs.push(performance.now() - fromMs);
			t.is(await get(pods, home.token(), kept), 200);
			t.is(await get(`${endpoints.web}/healthz`, undefined, false), 200);
		}
		const tool = await mqtt.connectAsync(endpoints.mqtt, {username: 'admin', password: home.token(), reconnectPeriod: 0});
		await tool.endAsync();
		tookMs.sort((a, b) => a - b);
		t.log(`a new connection's GET took ${tookMs[rounds / 2]?.toFixed(1)} ms, at most ${tookMs.at(-1)?.toFixed(1)} ms`);
		for (const {kill} of attackers) kill('SIGKILL');
	});
