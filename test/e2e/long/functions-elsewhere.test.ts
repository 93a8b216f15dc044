// Functions whose instances are at other nodes than the server that is called: two agents that have joined; and what becomes of calls when programs die.

import {setTimeout} from 'node:timers/promises';
import test from 'ava';
import type {ApiObject} from '../../../api/object.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isConditionTrue} from '../../../api/conditions.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Client} from '../../../cli/client.js';
import {isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {eventually, followObjects, until} from '../../../bench/rigs/cluster/waiting.js';
import {call, deploy, valueOf, type Answer} from '../_functions.js';
import {openAgent, openServer, type Agent, type Server} from '../_hosts.js';

const nodes = ['host-1', 'host-2'];
const cleanings: (() => void | Promise<void>)[] = [];
const owner = {teardown: (clean: () => void | Promise<void>) => void cleanings.unshift(clean)};
let server: Server;
let agents: readonly Agent[];
let client: Client;

const isNodeReady = (node: ApiObject | undefined): boolean =>
	isConditionTrue((node as NodeObject | undefined)?.status?.conditions, 'Ready');

test.before(async t => {
	t.timeout(120_000);
	server = await openServer(owner);
	const token = await server.joinToken();
	agents = await Promise.all(nodes.map(node => openAgent(owner, [server.api()], token, node)));
	client = await server.client();
	await until(client, 'nodes', 'both to be ready', found => nodes.every(name => isNodeReady(found.get(name))));
});

test.after.always(async () => {
	for (const clean of cleanings) await clean();
});

test.serial('an instance at another node is called, with large bodies both ways', async t => {
	await deploy(server, 'echo', 'export default (params, request) => request.answer(request.body);\n');
	const text = 'x'.repeat(2_000_000);
	const answer = await call(server, 'echo', text);
	t.is(answer.status, 200);
	t.is(answer.text, JSON.stringify(text));
	t.is((await call(server, 'echo', {a: 1})).text, '{"a":1}');
});

test.serial('instances are at both nodes, and their calls are answered', async t => {
	await deploy(server, 'both', 'export default ({n}) => new Promise(done => setTimeout(() => done({n}), 20));\n', {concurrency: 2, max: 4});
	const answers = await Promise.all(Array.from({length: 40}, (_, n) => call(server, 'both', {n})));
	t.deepEqual(
		answers.map(valueOf),
		Array.from({length: 40}, (_, n) => ({n})),
	);
	const pods = await until(client, 'pods', 'its instances', found =>
		[...found.values()].filter(({metadata}) => metadata.name.startsWith('both-')),
	);
	t.deepEqual([...new Set(pods.map(pod => (pod as Pod).spec?.nodeName))].sort(), nodes);
});

test.serial('every call has one answer while instances, an agent and the server die and the function is replaced', async t => {
	t.timeout(300_000);
	// As an ordinary user a tenth: what is tested is the same, and is tested as root as well.
	const wanted = process.getuid?.() === 0 ? 10_000 : 1_000;
	const stages = 7;
	const code = (version: number): string => `export default ({n}) => ({n, version: ${version}});\n`;
	await deploy(server, 'storm', code(1), {concurrency: 4, max: 4});
	const answers: Answer[] = [];
	/** No server took these: they were not accepted. */
	let refused = 0;
	/** The server died with these. */
	let cut = 0;
	let isOver = false;
	const call1 = async (n: number): Promise<void> => {
		try {
			const answer = await call(server, 'storm', {n});
			answers.push(answer);
			if (answer.status === 200) t.is((valueOf(answer) as {n: number}).n, n);
		} catch (error) {
			const code = (error as NodeJS.ErrnoException).code ?? '';
			if (code === 'ECONNREFUSED' || code === 'ERR_INVALID_URL') refused += 1;
			else cut += 1;
		}
	};
	let n = 0;
	// A few, and none in a tight loop while no server listens: other tests of this lane run beside it.
	const callers = Array.from({length: 8}, async () => {
		while (!isOver) {
			const refusedBefore = refused;
			await call1(n++);
			if (refused > refusedBefore) await setTimeout(20);
		}
	});
	const rightOnes = (): number => answers.filter(({status}) => status === 200).length;
	const goesOn = async (what: string): Promise<void> => {
		const enough = rightOnes() + wanted / stages;
		await eventually(
			`calls go on after ${what}`,
			() => rightOnes() >= enough,
			() => `${rightOnes()} right`,
			60_000,
		);
	};
	await goesOn('the beginning');
	const pods = await followObjects(client, 'pods');
	for (let kills = 0; kills < 3; kills++) {
		const running = [...pods.objects.values()].filter(pod => pod.metadata.name.startsWith('storm-') && isReady(pod));
		const pid = pidOf(running[kills % running.length]);
		if (pid !== undefined) process.kill(pid, 'SIGKILL');
		await goesOn('a death of an instance');
	}
	pods.close();
	await deploy(server, 'storm', code(2), {concurrency: 4, max: 4});
	await eventually('the new version answers', () => answers.some(answer => (valueOf(answer) as {version?: number}).version === 2));
	await goesOn('the new version');
	const [agent] = agents;
	await agent?.killIt();
	await agent?.restart();
	await goesOn('a death of an agent');
	await server.killIt();
	await server.restart();
	await goesOn('a death of the server');
	isOver = true;
	await Promise.all(callers);
	const wrong = answers.filter(({status}) => status !== 200);
	t.log(`${answers.length - wrong.length} right, ${wrong.length} failed and say why, ${cut} cut with the server, ${refused} not accepted`);
	for (const {status, text} of wrong) {
		t.true([502, 503].includes(status), `${status} ${text}`);
		t.regex((JSON.parse(text) as {message: string}).message, /./);
	}
	// Five programs die, each with the calls that it has.
	t.true(wrong.filter(({status}) => status === 502).length <= 5 * callers.length, `${wrong.length} of ${answers.length}`);
});
