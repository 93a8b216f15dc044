// Systems of users' own over a broker with the rights of the cluster's: who reaches whom, and what becomes of a crash, an end, a second run.

import test, {type ExecutionContext} from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {may, type Identity, type Role} from '../../api/roles.js';
import {followUserSystems} from '../../server/user-systems.js';
import {createBroker, type Broker} from '../../system/broker/broker.js';
import {brokerPubSub} from '../../system/links/broker-link.js';
import {systemClock} from '../../system/time/clock.js';
import {main, open} from './_user-systems.js';

const roles: {readonly [login: string]: Role} = {ann: 'edit', bob: 'edit', eve: 'view'};

async function aCluster(t: ExecutionContext) {
	const broker: Broker = await createBroker<Identity>({
		clock: systemClock,
		authenticate(name = '', password) {
			const role = roles[name];
			return role === undefined || password !== `of ${name}` ? undefined : {name, role};
		},
		may,
		retainedSource: {match: () => [], owns: () => false},
	});
	t.teardown(() => broker.close());
	const {port} = await broker.listen('127.0.0.1', 0);
	const systems = followUserSystems({pubsub: brokerPubSub(broker), clock: systemClock, onGone: () => undefined});
	t.teardown(systems.close);
	return {broker, port, systems};
}

test('two systems of one login talk: tell, ask, watch; and control knows both as long as they run', async t => {
	const cluster = await aCluster(t);
	const [a, b] = [open(t, cluster, 'a', 'ann', {input: {n: 1}}), open(t, cluster, 'b', 'ann')];
	await Promise.all([a.ready(), b.ready()]);
	await a.prints('begins with {"n":1}');
	t.deepEqual(cluster.systems.names(), ['a@ann', 'b@ann']);
	a.act({type: 'tell', to: main('b@ann'), message: {type: 'hello'}}, {type: 'watch', address: main('b@ann')});
	await b.prints('hello 1');
	a.act({type: 'ask', to: main('b@ann'), message: {type: 'question'}, as: 'answer', id: '1'});
	await a.prints('answer 1: 2');
	b.tell({type: 'act', stop: true});
	await a.prints('down normal');
	await b.ended();
	t.deepEqual(b.ends, [undefined]);
	await b.stop();
	await eventually('b is gone', () => !cluster.systems.has('b@ann'));
});

test('what is for a system that does not run yet waits for it', async t => {
	const cluster = await aCluster(t);
	const a = open(t, cluster, 'a', 'ann');
	await a.ready();
	a.act({type: 'tell', to: main('b@ann'), message: {type: 'early'}});
	const b = open(t, cluster, 'b', 'ann');
	await b.prints('early 1');
	t.deepEqual(cluster.systems.names(), ['a@ann', 'b@ann']);
});

test('a crash is told with its place, and the actor begins anew; a child is supervised alike', async t => {
	const a = open(t, await aCluster(t), 'a', 'ann');
	await a.ready();
	a.tell({type: 'count'});
	a.tell({type: 'crash'});
	a.tell({type: 'again'});
	await a.prints('again 1');
	await a.notesOf(/^main crashed on "crash": as it was told\n\s+at /);
	await a.notesOf(/^main restarted$/);
	a.act({type: 'spawn', name: 'child', behavior: 'puppet', input: 5});
	await a.prints('begins with 5');
	a.act({type: 'tell', to: 'troupe://a@ann/main/child', message: {type: 'crash'}});
	await a.notesOf(/^main\/child restarted$/);
	t.deepEqual(a.ends, []);
});

test('one that fails for good ends the run with its reason', async t => {
	const a = open(t, await aCluster(t), 'a', 'ann');
	await a.ready();
	await eventually('it ends', () => {
		a.tell({type: 'crash'});
		return a.ends.length > 0;
	});
	t.regex(a.ends[0]?.message ?? '', /^the actors failed for good: .*as it was told/);
});

test('to control, to nodes and to systems of others nothing is sent, and that is said', async t => {
	const cluster = await aCluster(t);
	const [a, other] = [open(t, cluster, 'a', 'ann'), open(t, cluster, 'a', 'bob')];
	await Promise.all([a.ready(), other.ready()]);
	const heard = cluster.broker.counters().publishesRefused;
	for (const to of ['troupe://control/pods', 'troupe://node-a/runtime', main('a@bob')]) {
		a.act({type: 'ask', to, message: {type: 'question'}, as: `of ${to}`, id: '1'}, {type: 'watch', address: to});
		await eventually(`${to} is refused`, () =>
			a.printed.some(line => line.startsWith(`of ${to}`) && line.includes('actors of "ann" may send to systems of that login')),
		);
		await a.prints('down noConnection');
	}
	a.act({type: 'tell', to: main('a@bob'), message: {type: 'hello'}});
	await a.notesOf(/^a "hello" from main for troupe:\/\/a@bob\/main was not delivered: actors of "ann" may/);
	t.deepEqual(other.printed, ['begins with null']);
	t.is(cluster.broker.counters().publishesRefused, heard);
});

test('a second run of a name is told who has it, until that is gone', async t => {
	const cluster = await aCluster(t);
	const first = open(t, cluster, 'a', 'ann');
	await first.ready();
	const peer = open(t, cluster, 'peer', 'ann');
	await peer.ready();
	peer.act({type: 'watch', address: main('a@ann')});
	const second = open(t, cluster, 'a', 'ann');
	// Whoever asks for the name answers for nobody, and disturbs nobody.
	for (let id = 1; second.ends.length === 0; id += 1) {
		peer.act({type: 'ask', to: main('a@ann'), message: {type: 'question'}, as: 'answer', id: String(id)});
		await peer.prints(`answer ${id}: ${id}`);
	}
	t.false(peer.printed.some(line => line.startsWith('down')));
	t.is(second.ends[0]?.code, 'ERR_ALREADY_EXISTS');
	t.regex(second.ends[0]?.message ?? '', /^"a@ann" runs already: process 7 on here \(puppet\.mjs\); end that one, or choose another name/);
	await second.stop();
	t.deepEqual(cluster.systems.names(), ['a@ann', 'peer@ann']);
	await first.stop();
	const third = open(t, cluster, 'a', 'ann');
	await third.ready();
	t.deepEqual([first.ends, third.ends], [[], []]);
});

test('a login that may not, or that is not known, is told so', async t => {
	const cluster = await aCluster(t);
	const [eve, unknown] = [open(t, cluster, 'a', 'eve'), open(t, cluster, 'a', 'ann', {password: 'wrong'})];
	await Promise.all([eve.ended(), unknown.ended()]);
	t.is(eve.ends[0]?.message, '"eve" may not run actors: that takes a token with the role admin or edit');
	t.is(unknown.ends[0]?.code, 'ERR_UNAUTHORIZED');
	t.deepEqual(cluster.systems.names(), []);
});

test('a lost connection is told, the actors go on, and are reached again when it is back', async t => {
	const cluster = await aCluster(t);
	const [a, b] = [open(t, cluster, 'a', 'ann'), open(t, cluster, 'b', 'ann')];
	await Promise.all([a.ready(), b.ready()]);
	cluster.broker.cut('ann');
	await a.notesOf(/^the connection to the cluster is lost/);
	a.tell({type: 'meanwhile'});
	await a.prints('meanwhile 1');
	a.act({type: 'tell', to: main('b@ann'), message: {type: 'hello'}});
	await b.prints('hello 1');
	await a.notesOf(/is there again$/);
	await eventually('both are known again', () => cluster.systems.names().length === 2);
	t.deepEqual([a.ends, b.ends], [[], []]);
});

test('a message that is too large, or is none that can be sent, is refused where it was made', async t => {
	const cluster = await aCluster(t);
	const [a, b] = [open(t, cluster, 'a', 'ann'), open(t, cluster, 'b', 'ann')];
	await Promise.all([a.ready(), b.ready()]);
	a.act({type: 'ask', to: main('b@ann'), message: {type: 'large', text: 'x'.repeat(600_000)}, as: 'answer', id: '1'});
	await eventually('it is refused', () =>
		a.printed.some(line => /^answer 1: a message for "b@ann" has \d+ bytes; one may have up to/.test(line)),
	);
	const round: {type: string; self?: object} = {type: 'round'};
	round.self = round;
	a.act({type: 'tell', to: main('b@ann'), message: round});
	await a.notesOf(/^main crashed on "act": Converting circular structure to JSON/);
	// Larger than a packet may be.
	a.act(
		{type: 'tell', to: main('b@ann'), message: {type: 'parted', text: 'ä'.repeat(200_000)}},
		{type: 'tell', to: main('b@ann'), message: {type: 'small'}},
	);
	await b.prints('small 2');
	t.deepEqual(b.printed.slice(1), ['parted 1', 'small 2']);
	t.is(cluster.broker.counters().cutOversized, 0);
});
