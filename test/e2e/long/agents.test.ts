// Several hosts, played by processes on this one: a server and three agents that joined by token over TLS.

import {copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {ApiObject} from '../../../api/object.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ActorTree} from '../../../api/inspect.js';
import {isConditionTrue} from '../../../api/conditions.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Client} from '../../../cli/client.js';
import {openLevelStore} from '../../../system/store/level-store.js';
import {commitTo, metaFrom} from '../../../system/store/store-calls.js';
import {credentialFile, openAgent, openServer, type Agent, type Server} from '../_hosts.js';
import {isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {podOf, setOf} from '../../../bench/rigs/cluster/manifests.js';
import {lives} from '../../../bench/rigs/cluster/processes.js';
import {openHome} from '../_rig.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';

const nodes = ['host-1', 'host-2', 'host-3'];
const cleanings: (() => void | Promise<void>)[] = [];
const owner = {teardown: (clean: () => void | Promise<void>) => void cleanings.unshift(clean)};
const cluster: {server?: Server; agents: readonly Agent[]; client?: Client} = {agents: []};

const theServer = (): Server => present(cluster.server);
const theClient = (): Client => present(cluster.client);
const theAgent = (node: string): Agent => present(cluster.agents.find(agent => agent.node === node));

function present<Value>(value: Value | undefined): Value {
	if (value === undefined) throw new Error('the cluster of this file is not up');
	return value;
}

test.before(async t => {
	t.timeout(120_000);
	// Long enough for a command that starts an agent again while other tests keep this machine busy.
	const server = await openServer(owner, '--grace=30s');
	const token = await server.joinToken();
	cluster.server = server;
	cluster.agents = await Promise.all(nodes.map(node => openAgent(owner, [server.api()], token, node)));
	cluster.client = await server.client();
	await untilReady(nodes);
	await server.apply(setOf('web', 6));
	await untilRun(6);
});

test.after.always(async () => {
	for (const clean of cleanings) await clean();
});

const isNodeReady = (node: ApiObject | undefined): boolean =>
	isConditionTrue((node as NodeObject | undefined)?.status?.conditions, 'Ready');

const untilReady = (names: readonly string[]): Promise<unknown> =>
	until(theClient(), 'nodes', `${names.join()} to be ready`, found => names.every(name => isNodeReady(found.get(name))));

/** Process ids by pod, once so many run. */
const untilRun = (count: number): Promise<ReadonlyMap<string, number>> =>
	until(theClient(), 'pods', `${count} pods to run`, pods => {
		const running = [...pods.values()].filter(isReady);
		return running.length === count ? new Map(running.map(pod => [pod.metadata.name, pidOf(pod) ?? 0])) : undefined;
	});

const podsOn = (pods: ReadonlyMap<string, ApiObject>, node: string): readonly ApiObject[] =>
	[...pods.values()].filter(pod => (pod as Pod).spec?.nodeName === node);

test.serial('pods are spread over the hosts, and what they do is seen from the server', async t => {
	t.timeout(60_000);
	const spread = await until(theClient(), 'pods', 'all', pods =>
		pods.size === 6 ? nodes.map(node => podsOn(pods, node).length) : undefined,
	);
	t.deepEqual(spread, [2, 2, 2]);
	// A program that has just begun is seen as what it was before, for a moment.
	for (const agent of cluster.agents)
		await eventually(`two programs run on ${agent.node}`, () => agent.processes().filter(({role}) => role === 'program').length === 2);

	await theServer().apply(podOf('talks', ['sh', '-c', 'echo hello from afar; exec sleep 100000'], {nodeName: 'host-2'}));
	await until(theClient(), 'pods', 'talks to run', pods => isReady(pods.get('talks')));
	let log = '';
	await eventually(
		'the log is there',
		async () => (log = await theServer().fine('logs', 'talks')) !== '',
		() => log,
	);
	t.is(log, 'hello from afar\n');

	const {systems} = JSON.parse(await theServer().fine('tree', '-o', 'json')) as {systems: {system: string; tree: ActorTree | null}[]};
	t.deepEqual(systems.map(({system}) => system).toSorted(), ['control', ...nodes]);
	t.true(JSON.stringify(systems.find(({system}) => system === 'host-2')).includes('default.talks'));
	await theServer().fine('delete', 'pod', 'talks');
});

test.serial('a token is needed once; the credential is its owner’s alone', t => {
	for (const agent of cluster.agents) {
		t.is(statSync(credentialFile(agent)).mode & 0o777, 0o600);
		t.false(readFileSync(credentialFile(agent), 'utf8').includes('troupe-join'));
	}
});

test.serial('who has no good token, or takes a name that is taken, does not become a node', async t => {
	t.timeout(60_000);
	const server = theServer();
	const token = await server.joinToken();
	const stranger = openHome(t);
	const attempt = (...flags: readonly string[]) => stranger.troupe('agent', `--join=${server.api()}`, ...flags);
	const refused = async (wanted: RegExp, ...flags: readonly string[]): Promise<void> => {
		const {code, err} = await attempt(...flags);
		t.is(code, wanted.source.includes('no join token') ? 2 : 6, err);
		t.regex(err, wanted);
	};
	const nowhere = await stranger.troupe('agent', '--detach', '--join=https://127.0.0.1:1', `--token=${token}`);
	t.is(nowhere.code, 5, nowhere.err);
	await refused(/"host-1": it has a credential already; .* "troupe token delete host-1"/, `--token=${token}`, '--node=host-1');
	await refused(/belongs to another cluster than the token/, `--token=${token.slice(0, -4)}AAAA`, '--node=host-4');
	await refused(/is no join token/, `--token=${server.token()}`, '--node=host-4');
	await refused(/cannot create "troupe\/join"/, `--token=${server.token()}`, `--ca=${server.home}/ca.crt`, '--node=host-4');
	await server.fine('token', 'delete', (await server.fine('token', 'list')).match(/^join-\w+/gm)?.at(-1) ?? '');
	const listed = await server.fine('token', 'list');
	for (const name of listed.match(/^join-\w+/gm) ?? []) await server.fine('token', 'delete', name);
	await refused(/does not know this token, or it has expired/, `--token=${token}`, '--node=host-4');
	t.deepEqual(stranger.processes(), []);
	t.is((await server.fine('get', 'nodes', '-o', 'name')).trim(), nodes.map(node => `node/${node}`).join('\n'));
});

test.serial('an agent that is killed comes back to its programs', async t => {
	t.timeout(60_000);
	const before = await untilRun(6);
	const agent = theAgent('host-1');
	await agent.killIt();
	await agent.restart();
	await untilReady(nodes);
	t.deepEqual(await untilRun(6), before);
	t.true([...before.values()].every(lives));
});

test.serial('a server that is killed comes back to its agents, and nothing was restarted', async t => {
	t.timeout(60_000);
	const before = await untilRun(6);
	const server = theServer();
	await server.killIt();
	t.is((await server.troupe('get', 'pods')).code, 5);
	await server.restart();
	cluster.client = await server.client();
	await untilReady(nodes);
	t.deepEqual(await untilRun(6), before);
	t.true([...before.values()].every(lives));
	const restarts = await until(theClient(), 'pods', 'all', pods =>
		[...pods.values()].map(pod => (pod as Pod).status?.containerStatuses?.[0]?.restartCount ?? 0),
	);
	t.deepEqual(restarts, [0, 0, 0, 0, 0, 0]);
});

test.serial('an agent that is stopped says so, and leaves its programs', async t => {
	t.timeout(60_000);
	const agent = theAgent('host-3');
	const pid = agent.pid();
	t.is(await agent.fine('down'), `the agent is stopped (process ${pid})\npods run on; troupe down --pods stops them too\n`);
	t.is(agent.processes().filter(({role}) => role === 'program').length, 2);
	await agent.restart();
	await untilReady(nodes);
	const taken = await agent.troupe('agent');
	t.deepEqual(
		[taken.code, taken.err],
		[1, `error: an agent runs in ${agent.home} already (process ${agent.pid()}); troupe down stops it\n`],
	);
});

test.serial('a node whose login is deleted is cut off, and may join again with a new token', async t => {
	t.timeout(60_000);
	const agent = theAgent('host-2');
	await theServer().fine('token', 'delete', 'host-2');
	await until(theClient(), 'nodes', 'host-2 to be silent', found => !isNodeReady(found.get('host-2')));
	await agent.fine('down');
	const token = await theServer().joinToken();
	await agent.fine('agent', '--detach', `--join=${theServer().api()}`, `--token=${token}`);
	await untilReady(nodes);
	t.regex(await theServer().fine('token', 'list'), /^host-2 +node /m);
});

test.serial('a node that was deleted is the same node again by a new token alone', async t => {
	t.timeout(60_000);
	const agent = theAgent('host-2');
	const token = await theServer().joinToken();
	await agent.fine('down');
	t.regex(await agent.fine('agent', '--detach', `--token=${token}`), /note: this host is node "host-2" of \S+ already; .*the token/);
	await agent.fine('down');
	await theServer().fine('delete', 'node', 'host-2');
	await agent.fine('agent', '--detach', `--token=${token}`);
	await untilReady(nodes);
	t.regex(await theServer().fine('token', 'list'), /^host-2 +node /m);
});

test.serial('a second agent with the same login is never ready', async t => {
	t.timeout(60_000);
	const second = openHome(t);
	mkdirSync(path.join(second.home, 'data'), {recursive: true});
	copyFileSync(credentialFile(theAgent('host-2')), credentialFile(second));
	const {code, out, err} = await second.troupe('agent', '--detach');
	t.deepEqual([code, out], [1, '']);
	t.regex(err, /another agent of node "host-2" is connected/);
});

test.serial('an agent without its server is ready with a note that says so', async t => {
	t.timeout(60_000);
	const agent = theAgent('host-2');
	await agent.fine('down');
	const credential = JSON.parse(readFileSync(credentialFile(agent), 'utf8')) as object;
	const alone = openHome(t);
	mkdirSync(path.join(alone.home, 'data'), {recursive: true});
	writeFileSync(credentialFile(alone), JSON.stringify({...credential, servers: ['https://127.0.0.1:1']}));
	const cache = path.join(alone.home, 'of-the-node');
	const out = await alone.fine('agent', '--detach', '--runtime=simulated', `--cache=${path.relative(process.cwd(), cache)}`);
	t.true(existsSync(cache), 'in the background, too, a file is named from where the command was typed');
	t.regex(out, /^the agent is ready\n(?:note: .+\n)?note: the control plane does not answer yet \(.+\); pods of the cache run\n/);
	await agent.restart();
	await untilReady(nodes);
});

test.serial('an agent that cannot start says why and ends, also while its connections are under way', async t => {
	t.timeout(60_000);
	const agent = theAgent('host-1');
	await agent.fine('down');
	const cache = path.join(agent.home, 'data', 'node');
	await putRecord(cache, '{"schemaVersion":1}\nhalf a docum');
	const failed = await agent.troupe('agent');
	t.is(failed.code, 1);
	t.regex(failed.err, /^error: the record "\/troupe\/registry\/assignments\/default\/torn" cannot be loaded: /);
	await putRecord(cache, undefined);
	await agent.restart();
	await untilReady(nodes);
});

/** One assignment of a node's cache, as it stands in the store; undefined takes it away. */
async function putRecord(cache: string, body: string | undefined): Promise<void> {
	const driver = await openLevelStore(cache);
	const read = await metaFrom(driver);
	if (!read.ok || read.meta === undefined) throw new Error('no meta');
	const expected = read.meta;
	const writes = [{key: '/troupe/registry/assignments/default/torn', body: body === undefined ? undefined : () => body}];
	const outcome = await commitTo(driver, {writes, expected, next: {...expected, version: expected.version + 1}});
	await driver.close();
	if (outcome.type !== 'committed') throw new Error(outcome.message);
}
