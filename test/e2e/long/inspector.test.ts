// The inspector over MQTT on a whole cluster: who may do what, what is written of it, and that nobody is heard under another's name.

import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {isConditionTrue} from '../../../api/conditions.js';
import {actorsPath, type InspectReply, type StreamEntry, type StreamPortion} from '../../../api/inspect.js';
import {tokensPath, type TokenAnswer} from '../../../api/join.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import {limits} from '../../../api/limits.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {clientOf} from '../../../cli/client.js';
import {readConnection} from '../../../cli/cluster/kubeconfig.js';
import {openEar, type Heard} from '../_ear.js';
import {openAgent, openServer} from '../_hosts.js';
import {openHome} from '../_rig.js';

const prefix = 'troupe/v1/inspect';
const replyTopic = (login: string, id: string): string => `${prefix}/replies/${login}/${id}`;

const repliesIn = (heard: readonly Heard[], login: string, id: string): readonly InspectReply[] =>
	heard.filter(({topic}) => topic === replyTopic(login, id)).map(({text}) => JSON.parse(text) as InspectReply);

test('a viewer looks and may not change, an admin changes, and the audit log has it', async t => {
	t.timeout(60_000);
	const cluster = openHome(t);
	await cluster.up('--runtime=simulated', '--store=memory');
	const client = await cluster.client();
	const {token} = (await client.json({method: 'POST', path: tokensPath, body: {name: 'eve', role: 'view'}})) as TokenAnswer;
	const eve = await openEar(t, cluster, 'web', 'eve', token);
	const admin = await openEar(t, cluster);
	await eve.listen(`${prefix}/replies/#`);
	await admin.listen(`${prefix}/#`);
	const publish = (ear: typeof eve, login: string, id: string, request: unknown, retain = false) =>
		ear.client.publishAsync(`${prefix}/requests/${login}/${id}`, JSON.stringify(request), {retain});
	const answer = async (ear: typeof eve, login: string, id: string, request: unknown): Promise<InspectReply> => {
		await publish(ear, login, id, request);
		return ear.until(`an answer to ${id}`, heard => repliesIn(heard, login, id).find(({end}) => end));
	};

	const scheduler = 'control/scheduler';
	t.like(await answer(eve, 'eve', 'tree', {verb: 'tree', place: 'vm', depth: 1}), {ok: true, seq: 0, value: {address: 'troupe://vm/'}});
	t.like(await answer(eve, 'eve', 'all', {verb: 'stats'}), {ok: true, value: {systems: [{system: 'control'}, {system: 'vm'}]}});
	t.like(await answer(eve, 'eve', 'kill', {verb: 'kill', place: scheduler}), {ok: false, error: {code: 'ERR_FORBIDDEN'}});

	// Under another's name, retained, or from a node's place: nobody answers. The last question shows that all before it were heard.
	await publish(eve, 'admin', 'forged', {verb: 'kill', place: scheduler});
	await publish(admin, 'eve', 'forged', {verb: 'stats', place: 'control'});
	await publish(admin, 'admin', 'kept', {verb: 'kill', place: scheduler}, true);
	const told = await answer(admin, 'admin', 'tell', {verb: 'restart', place: scheduler});
	t.like(await answer(eve, 'eve', 'last', {verb: 'stats', place: 'control'}), {ok: true});
	const foreign = (ear: typeof eve, login: string) => ear.heard.filter(({topic}) => !topic.startsWith(`${prefix}/replies/${login}/`));
	t.deepEqual([foreign(eve, 'eve'), foreign(admin, 'admin')], [[], []]);
	for (const [ear, id] of [
		[eve, 'forged'],
		[admin, 'forged'],
		[admin, 'kept'],
	] as const)
		t.false(
			ear.heard.some(({topic}) => topic.endsWith(`/${id}`)),
			id,
		);

	const lines = ['audit-refused.log', 'audit.log'].flatMap(name => {
		const file = path.join(cluster.home, name);
		t.is(statSync(file).mode & 0o777, 0o600);
		return readFileSync(file, 'utf8').trim().split('\n');
	});
	t.is(lines.length, 2);
	t.like(JSON.parse(lines[0] ?? '') as object, {login: 'eve', role: 'view', verb: 'kill', place: scheduler, outcome: 'ERR_FORBIDDEN'});
	const outcome = told.ok ? 'done' : told.error.code;
	t.like(JSON.parse(lines[1] ?? '') as object, {login: 'admin', role: 'admin', verb: 'restart', place: scheduler, outcome});

	// A flood is refused in words, and then in silence; another login is served meanwhile.
	for (let at = 0; at < 600; at++) void publish(eve, 'eve', `flood-${at}`, {verb: 'stats', place: 'control'});
	t.true((await answer(admin, 'admin', 'meanwhile', {verb: 'stats', place: 'control'})).ok);
	const isBusy = ({topic, text}: Heard): boolean => topic.includes('/flood-') && text.includes('ERR_BUSY');
	await eve.until('a refusal', heard => heard.some(isBusy));
	t.true(
		eve.heard.filter(({topic, text}) => topic.includes('/flood-') && !isBusy({topic, text, retained: false})).length <=
			limits.inspectsAtOnce + limits.inspectsPerSecond * 20,
	);

	await cluster.fine('token', 'delete', 'eve');
	await cluster.fine('down');
	t.false(existsSync(path.join(cluster.home, 'audit.log.1')));
});

test('a trace goes over hosts; one that dies is told of, and when it is back; a tool that dies leaves nothing on', async t => {
	t.timeout(120_000);
	const server = await openServer(t);
	const token = await server.joinToken();
	const agents = await Promise.all(['host-1', 'host-2'].map(node => openAgent(t, [server.api()], token, node)));
	const client = await server.client();
	const nodes = await followObjects(client, 'nodes');
	await nodes.until('both hosts to be ready', found =>
		['host-1', 'host-2'].every(node => isConditionTrue((found.get(node) as NodeObject | undefined)?.status?.conditions, 'Ready')),
	);
	const admin = await openEar(t, server);
	await admin.listen(`${prefix}/replies/admin/+`);
	const entries = (heard: readonly Heard[], id: string): readonly StreamEntry[] =>
		repliesIn(heard, 'admin', id).flatMap(reply => (reply.ok ? (reply.value as unknown as StreamPortion).entries : []));
	const publish = (id: string, request: unknown) => admin.client.publishAsync(`${prefix}/requests/admin/${id}`, JSON.stringify(request));

	await publish('t', {verb: 'trace', filter: {places: ['control/pods']}, forMs: 60_000});
	await admin.until('the trace to be on', heard => repliesIn(heard, 'admin', 't').length > 0);
	const renewal = setInterval(() => void publish('t', {verb: 'renew'}), limits.inspectRenewMs);
	t.teardown(() => clearInterval(renewal));
	await server.apply(podOf('web', ['sleep', '100000']));
	const running = await pidsWhenRunning(client, 'web');
	t.is(running.length, 1);
	const isOf = (system: string) => (entry: StreamEntry) => entry.type === 'step' && entry.address.startsWith(`troupe://${system}/`);
	// A step of a host is caused by one of control, as the spans say; portions of the two come in any order.
	await admin.until('a step of a host, and that of control which caused it', heard => {
		const told = entries(heard, 't');
		const spans = new Set(told.filter(isOf('control')).map(entry => (entry.type === 'step' ? entry.span : '')));
		return told.some(entry => entry.type === 'step' && entry.address.startsWith('troupe://host-') && spans.has(entry.parent ?? ''));
	});

	const [first] = agents;
	await first?.killIt();
	await admin.until('word of the host that died', heard =>
		entries(heard, 't').some(entry => entry.type === 'system' && entry.system === 'host-1'),
	);
	await server.fine('delete', 'pod', 'web', '--wait=false');
	const before = entries(admin.heard, 't').filter(isOf('control')).length;
	await admin.until('more steps of control', heard => entries(heard, 't').filter(isOf('control')).length > before);
	t.false(repliesIn(admin.heard, 'admin', 't').some(({end}) => end));

	// Its own login, as whoever reads its files has it, looks at nothing over HTTPS; over MQTT it is neither heard nor told.
	const {credential} = JSON.parse(readFileSync(path.join(first?.home ?? '', 'data', 'credential'), 'utf8')) as {
		readonly credential: string;
	};
	const connection = await readConnection({flag: undefined, fromEnvironment: undefined, ofHome: path.join(server.home, 'kubeconfig')});
	const asNode = clientOf({...connection, token: credential});
	for (const where of ['', '/host-1', '/host-1/sync'])
		await t.throwsAsync(asNode.json({path: `${actorsPath}${where}`}), {code: 'ERR_FORBIDDEN'}, where);
	asNode.close();
	const node = await openEar(t, server, 'mqtt', 'host-1', credential);
	for (const filter of [`${prefix}/#`, replyTopic('admin', '+'), replyTopic('host-1', '+')])
		await t.throwsAsync(node.listen(filter), {message: /Subscribe error/}, filter);
	await node.listen('#');
	for (const login of ['host-1', 'admin'])
		await node.client.publishAsync(`${prefix}/requests/${login}/of-a-node`, JSON.stringify({verb: 'kill', place: 'control/scheduler'}));
	await publish('after', {verb: 'systems'});
	await admin.until('an answer', heard => repliesIn(heard, 'admin', 'after').length > 0);
	t.false([...node.heard, ...admin.heard].some(({topic}) => topic.endsWith('/of-a-node')));
	t.deepEqual(
		node.heard.filter(({topic}) => topic.startsWith(prefix)),
		[],
	);
	for (const file of ['audit.log', 'audit-refused.log']) t.false(existsSync(path.join(server.home, file)), file);
	await node.client.endAsync(true);

	await first?.restart();
	await admin.until('word of the host that is back', heard =>
		entries(heard, 't').some(
			({type, ...entry}) => type === 'system' && 'problem' in entry && entry.problem.startsWith('"host-1" is traced from now on'),
		),
	);

	// Its tool dies: no word of goodbye, and nobody renews.
	clearInterval(renewal);
	admin.client.stream.destroy();
	const other = await openEar(t, server);
	await other.listen(`${prefix}/replies/admin/+`);
	let asked = 0;
	const aboutInspector = async (): Promise<string> => {
		const id = `look-${(asked += 1)}`;
		await other.client.publishAsync(`${prefix}/requests/admin/${id}`, JSON.stringify({verb: 'tree', place: 'control/inspector', depth: 0}));
		const reply = await other.until('a look', heard => repliesIn(heard, 'admin', id).at(-1));
		return reply.ok ? (reply.value as {about: string}).about : '';
	};
	// The look itself is one; of the stream there is one but for the moments between two.
	for (const wanted of ['2 questions', '1 questions']) {
		let about = '';
		await eventually(
			wanted,
			async () => (about = await aboutInspector()) === wanted,
			() => about,
		);
	}
});
