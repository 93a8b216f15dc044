// Tools that flood a whole real cluster, each with a login that may only look: the API goes on answering, memory stays where it was, and who
// does not stop is cut and named in the log. bench/broker-load.ts has the long form, with its figures.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {tokensPath} from '../../../api/join.js';
import {limits} from '../../../api/limits.js';
import {attacks, type Attackers} from '../../../bench/rigs/load/attackers.js';
import {startPart} from '../../../bench/rigs/remote.js';
import {openHome} from '../../e2e/_rig.js';

/** Before there was a bound, ten such connections held a GET up for 5 to 19 seconds. */
const longestMs = 2_000;

const residentMebibytes = (pid: number): number =>
	Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

test('ten tools that flood in ten ways hold up neither the API nor a pod, take no memory, and are cut', async t => {
	const cluster = openHome(t);
	await cluster.up();
	const client = await cluster.client();
	const {pid, mqtt} = cluster.endpoints();
	const port = Number(new URL(mqtt).port);
	const get = async (): Promise<number> => {
		const startedAt = performance.now();
		await client.json({method: 'GET', path: '/api/v1/namespaces/default/pods'});
		return performance.now() - startedAt;
	};
	for (let at = 0; at < 20; at += 1) await get();
	const before = residentMebibytes(pid);
	const attackers = startPart<Attackers>(t, fileURLToPath(new URL('../../../bench/rigs/load/attackers.js', import.meta.url)));
	for (const what of attacks) {
		const user = `eve-${what.toLowerCase()}`;
		const {token} = (await client.json({method: 'POST', path: tokensPath, body: {name: user, role: 'view'}})) as {readonly token: string};
		await attackers.call('start', {port, user, password: token, what, connections: 1});
	}
	const log = (): string => readFileSync(path.join(cluster.home, 'troupe.log'), 'utf8');
	const taken: number[] = [];
	const endMs = performance.now() + 6 * limits.brokerGreedyMs;
	while (performance.now() < endMs && !/"counter":"cutGreedy","about":"tcp [^"]+ of \\"eve-/.test(log())) taken.push(await get());
	t.regex(log(), /"counter":"cutGreedy","about":"tcp [^"]+ of \\"eve-/);
	const longest = Math.max(...taken);
	t.true(longest < longestMs, `a GET took ${longest} ms, one of ${taken.length}`);
	const more = residentMebibytes(pid) - before;
	t.true(more < 150, `${more} MiB`);
	t.true(
		log()
			.split('\n')
			.filter(line => line.includes('"counter"')).length < 500,
	);
	await attackers.call('stop', undefined);
});
