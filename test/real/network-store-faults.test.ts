// Two servers on an etcd of three members, each a host of its own, and a web app on two nodes that is asked all the time: the server that leads dies,
// etcd loses its quorum, and the disk of a node is full.

import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {startEtcdOn, type EtcdHosts} from '../../bench/rigs/fleet/etcd-hosts.js';
import {killServing} from '../../bench/rigs/fleet/served-hosts.js';
import {smallDisk, type SmallDisk} from '../../bench/rigs/servers/small-disk.js';
import {openHome} from '../e2e/_rig.js';
import {nothingLost, nothingMoved, replaceAll, sharedWebApp} from './_web-app.js';

const etcdHosts = ['e1', 'e2', 'e3'];
let etcd: EtcdHosts | undefined;
let disk: SmallDisk | undefined;

const stage = sharedWebApp(test, owner => ({
	servers: ['s1', 's2'],
	nodes: ['n1', 'n2'],
	others: etcdHosts,
	grace: '2m',
	async store(network) {
		etcd = await startEtcdOn(owner, network, etcdHosts);
		return [`--store=${etcd.url}/network-faults`];
	},
	homeFor(node) {
		const home = openHome(owner);
		if (node === 'n2') disk = smallDisk(owner, home.folder, 64);
		return home;
	},
}));

const isAnswered = async (): Promise<boolean> =>
	stage()
		.app.view()
		.then(
			() => true,
			() => false,
		);

test.serial('while etcd has no quorum, and when it has one again, nothing is lost', async t => {
	t.timeout(280_000);
	const {app, hosts} = stage();
	const before = await app.standing();
	const gone = etcd?.members.slice(1) ?? [];
	t.is(gone.length, 2);
	const seen = await app.under(async () => {
		for (const member of gone) await member.kill();
		await eventually('the control plane does not answer', async () => !(await isAnswered()), undefined, 60_000);
		for (const member of gone) await member.start();
		await eventually('the control plane answers', isAnswered, undefined, 60_000);
		await app.settled();
		await eventually(
			'writes are taken',
			() =>
				hosts.apply(config).then(
					() => true,
					() => false,
				),
			undefined,
			60_000,
		);
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});

const config = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'again'}, data: {a: 'b'}};

test.serial('a node whose disk is full serves on, also when its agent begins anew, and goes on when there is space', async t => {
	t.timeout(280_000);
	const {app, node, server} = stage();
	const before = await app.standing();
	const seen = await app.under(async () => {
		disk?.fillUp();
		await server.fine('label', 'node', 'n2', 'full=yes');
		await app.settled();
		await killServing(node('n2'));
		await node('n2').begin();
		await app.settled();
		disk?.empty();
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
	// All of it is of use again.
	await replaceAll(stage());
});

test.serial('the server that leads is killed, the other one takes over, and nothing is lost', async t => {
	t.timeout(280_000);
	const {app, server} = stage();
	const before = await app.standing();
	const seen = await app.under(async () => {
		await killServing(server);
		await eventually('the other one leads', isAnswered, undefined, 60_000);
		await app.settled();
		await server.begin();
		await app.settled();
	});
	nothingLost(t, seen);
	nothingMoved(t, before, await app.standing());
});
