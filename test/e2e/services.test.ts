// A Service and a route lead to pods from outside, while the cluster lives and while it does not.

import {request} from 'node:http';
import path from 'node:path';
import test from 'ava';
import {localAddressOf} from '../../actors/node/network/local-address.js';
import type {Service} from '../../api/kinds/service.js';
import {readRecord} from '../../agent/network/feed/record.js';
import {homeOf} from '../../cli/files/home.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {root} from './_readme.js';
import {openHome} from './_rig.js';

/** Its whole answer; undefined: there was none. */
const got = (address: string, port: number, host = address): Promise<string | undefined> =>
	new Promise(resolve => {
		const asked = request({host: address, port, agent: false, headers: {host}}, answer => {
			let text = '';
			answer.setEncoding('utf8');
			answer.on('data', (chunk: string) => (text += chunk));
			answer.once('end', () => resolve(answer.statusCode === 200 ? text : undefined));
			answer.once('error', () => resolve(undefined));
		});
		asked.once('error', () => resolve(undefined));
		asked.end();
	});

/** Of its own loopback address, where nobody else listens. */
const router = {address: '127.0.0.89', port: 18_080};

test('a Service and a route lead to all ready pods, go on when the cluster is killed, and end with its pods', async t => {
	t.timeout(60_000);
	const home = openHome(t);
	const routerFlag = `--router=${router.address}:${router.port}`;
	await home.up(routerFlag);
	await home.fine('apply', '-f', path.join(root, 'examples/service.yaml'));
	const service = JSON.parse(await home.fine('get', 'service', 'shop', '-o', 'json')) as Service;
	const {clusterIP = '', ports = []} = service.spec ?? {};
	const ways: readonly (readonly [string, () => Promise<string | undefined>])[] = [
		['the address of the Service', () => got(localAddressOf(clusterIP) ?? '', 8000)],
		['its node port', () => got('127.0.0.1', ports[0]?.nodePort ?? 0)],
		['the route', () => got(router.address, router.port, 'shop.test')],
	];
	for (const [name, ask] of ways) {
		const seen = new Set<string>();
		await eventually(`${name} leads to all three pods`, async () => {
			const answer = await ask();
			if (answer !== undefined) seen.add(answer);
			return seen.size === 3;
		});
		t.true(
			[...seen].every(text => /^hello from shop-[a-z0-9]+-[a-z0-9]+\n$/.test(text)),
			name,
		);
	}
	const {serving} = readRecord(homeOf(home.home).network);
	await home.killCluster();
	for (const [name, ask] of ways) t.regex((await ask()) ?? '', /^hello from shop-/, `${name} without a control plane`);
	await home.up(routerFlag);
	for (const [name, ask] of ways) t.regex((await ask()) ?? '', /^hello from shop-/, `${name} with the next one`);
	t.is(readRecord(homeOf(home.home).network).serving?.pid, serving?.pid, 'the same process serves');
	await home.fine('down', '--pods');
	for (const [name, ask] of ways) t.is(await ask(), undefined, `${name} after all has ended`);
	t.deepEqual(home.processes(), []);
});
