// What a node's resolver answers: names of the cluster by Kubernetes' specification, to a real client (c-ares); others as other resolvers say.

import {connect} from 'node:net';
import test from 'ava';
import type {NetworkChange} from '../../../../actors/node/runtime/network-port.js';
import {serversIn} from '../../../../agent/network/dns/host-resolvers.js';
import {framed} from '../../../../agent/network/dns/framed.js';
import {createZone} from '../../../../agent/network/dns/zone.js';
import {createNetworkIndex} from '../../../../agent/network/index/network-index.js';
import {objectKey} from '../../../../api/keys.js';
import {seededRandom} from '../../../../system/time/random.js';
import {aService, aSlice, noService, notReady, ready} from '../_network-objects.js';
import {askTcp, askUdp, dnsWorld, otherResolver, patientClock, questionOf} from './_dns-world.js';

const aDns = (host: string): NetworkChange => ({
	key: objectKey('dnses', 'default', 'shop'),
	object: {type: 'dns', namespace: 'default', name: 'shop', createdAt: '', spec: {host, paths: []}},
});

const web = aService('web', {
	clusterIP: '10.101.160.1',
	ports: [
		{name: 'http', port: 8180},
		{name: 'dns', port: 53, protocol: 'UDP'},
	],
});
const db = aService('db', {clusterIP: 'None', ports: [{name: 'sql', port: 5432}]});
const dbSlice = aSlice(
	'db',
	[{...ready('127.1.2.3'), hostname: 'db-0'}, ready('127.1.2.4'), notReady('127.1.2.5'), ready('127.1.2.6', 'there')],
	[{name: 'sql', protocol: 'TCP', port: 15_432}],
);

test('a Service has its address on this node, its ports and its name', async t => {
	const {resolver, port} = await dnsWorld(t, [web]);
	t.deepEqual(await resolver.resolve4('web.default.svc.cluster.local', {ttl: true}), [{address: '127.229.160.1', ttl: 5}]);
	t.deepEqual(await resolver.resolveSrv('_http._tcp.web.default.svc.cluster.local'), [
		{name: 'web.default.svc.cluster.local', port: 8180, priority: 0, weight: 100},
	]);
	t.deepEqual(await resolver.reverse('127.229.160.1'), ['web.default.svc.cluster.local']);
	t.deepEqual(await resolver.reverse('10.101.160.1'), ['web.default.svc.cluster.local']);
	const {answers = [], questions = []} = await askUdp(port, questionOf('WEB.Default.svc.cluster.local', 'A'));
	t.is(questions[0]?.name, 'WEB.Default.svc.cluster.local');
	t.is(answers[0]?.name, 'WEB.Default.svc.cluster.local');
});

test('a name that is not there is another thing than one without such records', async t => {
	const {resolver, port} = await dnsWorld(t, [web]);
	for (const name of ['no.default.svc', 'no.such.svc', 'such.svc', '_no._tcp.web.default.svc', 'x.y.z.web.default.svc', 'pod'])
		await t.throwsAsync(resolver.resolve4(`${name}.cluster.local`), {code: 'ENOTFOUND'}, name);
	for (const name of ['_tcp.web.default.svc.', 'default.svc.', 'svc.', ''])
		await t.throwsAsync(resolver.resolve4(`${name}cluster.local`), {code: 'ENODATA'}, name);
	await t.throwsAsync(resolver.resolve6('web.default.svc.cluster.local'), {code: 'ENODATA'});
	const {authorities = []} = await askUdp(port, questionOf('no.default.svc.cluster.local', 'A'));
	t.is(authorities[0]?.type, 'SOA');
});

test('a headless Service is its ready endpoints that this node reaches, each with a name', async t => {
	const {resolver, index} = await dnsWorld(t, [db, dbSlice]);
	const name = 'db.default.svc.cluster.local';
	t.deepEqual((await resolver.resolve4(name)).sort(), ['127.1.2.3', '127.1.2.4']);
	t.deepEqual(await resolver.resolve4(`db-0.${name}`), ['127.1.2.3']);
	t.deepEqual(await resolver.resolve4(`127-1-2-4.${name}`), ['127.1.2.4']);
	const targets = (await resolver.resolveSrv(`_sql._tcp.${name}`)).map(each => `${each.name}:${each.port}`).sort();
	t.deepEqual(targets, [`127-1-2-4.${name}:15432`, `db-0.${name}:15432`]);
	t.deepEqual(await resolver.reverse('127.1.2.3'), [`db-0.${name}`]);
	index.change([aSlice('db', [notReady('127.1.2.3')], [{name: 'sql', protocol: 'TCP', port: 15_432}])]);
	await t.throwsAsync(resolver.resolve4(name), {code: 'ENODATA'});
	index.change([noService('db')]);
	await t.throwsAsync(resolver.resolve4(name), {code: 'ENOTFOUND'});
});

test('hosts of Dnses are the router of this node, also one label below *.', async t => {
	const {resolver, index} = await dnsWorld(t, [aDns('Shop.example.com')]);
	t.deepEqual(await resolver.resolve4('shop.example.com'), ['127.0.0.1']);
	index.change([aDns('*.example.com')]);
	t.deepEqual(await resolver.resolve4('any.example.com'), ['127.0.0.1']);
	await t.throwsAsync(resolver.resolve4('a.b.example.com'), {code: 'ESERVFAIL'});
});

test('an ExternalName leads to what the other name stands for; a circle of them ends', async t => {
	const other = await otherResolver(t, name => ({answers: [{type: 'A', name, ttl: 60, data: '192.0.2.1'}]}));
	const {resolver} = await dnsWorld(
		t,
		[
			aService('far', {type: 'ExternalName', externalName: 'far.example.com'}),
			aService('near', {type: 'ExternalName', externalName: 'web.default.svc.cluster.local'}),
			aService('round', {type: 'ExternalName', externalName: 'round.default.svc.cluster.local'}),
			web,
		],
		[other],
	);
	t.deepEqual(await resolver.resolve4('far.default.svc.cluster.local'), ['192.0.2.1']);
	t.deepEqual(await resolver.resolveCname('far.default.svc.cluster.local'), ['far.example.com']);
	t.deepEqual(await resolver.resolve4('near.default.svc.cluster.local'), ['127.229.160.1']);
	await t.throwsAsync(resolver.resolve4('round.default.svc.cluster.local'), {code: 'ESERVFAIL'});
});

test('other names are asked once while an answer is good, of the next resolver where one has none, and over TCP where one is cut', async t => {
	const asked: string[] = [];
	const mute = await otherResolver(t, () => ({flags: 2}));
	const other = await otherResolver(t, (name, way) => {
		asked.push(`${name} ${way}`);
		if (name === 'long.example.com' && way === 'udp') return {flags: 0x200};
		if (name === 'none.example.com') {
			const data = {mname: 'ns.example.com', rname: 'x.example.com', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 60};
			return {flags: 3, authorities: [{type: 'SOA', name: 'example.com', ttl: 60, data}]};
		}
		return {answers: [{type: 'A', name, ttl: name === 'zero.example.com' ? 0 : 60, data: '192.0.2.7'}]};
	});
	const {resolver} = await dnsWorld(t, [], [mute, other]);
	for (const name of ['a.example.com', 'long.example.com', 'zero.example.com']) {
		t.deepEqual(await resolver.resolve4(name), ['192.0.2.7']);
		t.deepEqual(await resolver.resolve4(name), ['192.0.2.7']);
	}
	for (const _ of [1, 2]) await t.throwsAsync(resolver.resolve4('none.example.com'), {code: 'ENOTFOUND'});
	t.deepEqual(asked, [
		'a.example.com udp',
		'long.example.com udp',
		'long.example.com tcp',
		'zero.example.com udp',
		'zero.example.com udp',
		'none.example.com udp',
	]);
});

test('an answer that is too long for a datagram is cut, and comes whole over TCP', async t => {
	const endpoints = Array.from({length: 100}, (_, i) => ready(`127.1.3.${i + 1}`));
	const {port, resolver} = await dnsWorld(t, [db, aSlice('db', endpoints, [{name: 'sql', protocol: 'TCP', port: 1}])]);
	const name = 'db.default.svc.cluster.local';
	const cut = await askUdp(port, questionOf(name, 'A'));
	t.true(cut.flag_tc);
	t.deepEqual(cut.answers, []);
	t.is((await askTcp(port, framed(questionOf(name, 'A'))))?.answers?.length, 100);
	t.is((await resolver.resolve4(name)).length, 100, 'a client does so by itself');
});

test('what is no question changes nothing: bytes by chance, questions that were changed, halves over TCP', async t => {
	const {port} = await dnsWorld(t, [web, db, dbSlice]);
	const random = seededRandom(5);
	const below = (count: number): number => Math.floor(random.next() * count);
	const good = questionOf('web.default.svc.cluster.local', 'A', {
		additionals: [{type: 'OPT', name: '.', udpPayloadSize: 1_232, extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false, options: []}],
	});
	const odd = (): Buffer => {
		if (random.next() < 0.3) return Buffer.from(Array.from({length: below(600)}, () => below(256)));
		const bytes = Buffer.from(good);
		for (let count = 1 + below(4); count > 0; count--) bytes[below(bytes.length)] = below(256);
		return bytes.subarray(0, random.next() < 0.2 ? below(bytes.length) : bytes.length);
	};
	const {createSocket} = await import('node:dgram');
	const socket = createSocket('udp4');
	for (let count = 0; count < 2_000; count++)
		await new Promise(resolve => {
			socket.send(odd(), port, '127.0.0.1', resolve);
		});
	socket.close();
	t.is(await askTcp(port, Buffer.from([255, 255, 0])), undefined, 'a question that is too long');
	t.is(await askTcp(port, framed(Buffer.from('rubbish'))), undefined, 'no header');
	const twice = await askUdp(port, questionOf('web.default.svc.cluster.local', 'A', {flags: 0x2800}));
	t.is((twice.flags ?? 0) & 15, 4, 'an update is not implemented');
	const {answers = []} = await askUdp(port, good);
	t.is(answers.length, 1);
});

test('resolvers of the host are those of its resolv.conf', t => {
	t.deepEqual(serversIn('# x\nsearch a b\nnameserver 192.0.2.1\n nameserver fe80::1%eth0 \nnameserver nobody\noptions ndots:5\n'), [
		{host: '192.0.2.1', port: 53},
		{host: 'fe80::1%eth0', port: 53},
	]);
});

test('who sends a question byte by byte has no more time than others', async t => {
	// A hundredth of each wait.
	const hasty = {...patientClock, after: (delayMs: number, callback: () => void) => patientClock.after(delayMs / 100, callback)};
	const {port} = await dnsWorld(t, [], [], hasty);
	const socket = connect({host: '127.0.0.1', port});
	const trickle = setInterval(() => void socket.write('\0'), 20);
	t.teardown(() => clearInterval(trickle));
	socket.write(Buffer.from([1, 0]));
	await new Promise<void>(resolve =>
		socket
			.on('error', () => undefined)
			.once('close', () => resolve())
			.resume(),
	);
	t.pass();
});

test('pods with a network of their own are told the addresses of Services, and the host those of its loopback', t => {
	const index = createNetworkIndex();
	index.replace([aService('web', {clusterIP: '10.96.1.2', ports: [{port: 80}]}), aDns('shop.test')]);
	const told = (isTranslated: boolean, routerAddress: string, name: string): readonly unknown[] => {
		const found = createZone({index, node: 'here', routerAddress, isTranslated}).find(name);
		return found === undefined || found === 'elsewhere' ? [] : found.records.map(({data}) => data);
	};
	t.deepEqual(told(false, '127.0.0.1', 'web.default.svc.cluster.local'), ['127.224.1.2']);
	t.deepEqual(told(true, '169.254.1.1', 'web.default.svc.cluster.local'), ['10.96.1.2']);
	t.deepEqual(told(true, '169.254.1.1', 'shop.test'), ['169.254.1.1']);
});

test('what is asked again in the same bytes has the same answer, until the network changes', async t => {
	const {index, port} = await dnsWorld(t, [web]);
	const ask = async (id: number): Promise<string> => {
		const {answers = [], ...packet} = await askUdp(port, questionOf('web.default.svc.cluster.local', 'A', {id}));
		t.is(packet.id, id);
		return answers.map(answer => (answer.type === 'A' ? answer.data : '')).join();
	};
	t.is(await ask(1), '127.229.160.1');
	t.is(await ask(2), '127.229.160.1');
	index.change([aService('web', {clusterIP: '10.101.160.2', ports: [{port: 8180}]})]);
	t.is(await ask(3), '127.229.160.2');
	index.change([noService('web')]);
	t.is(await ask(4), '');
	index.change([web]);
	t.is(await ask(5), '127.229.160.1');
});
