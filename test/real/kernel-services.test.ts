// What leads from a Service's address to a pod, by rules of the kernel: the same contract as of the proxy, in network namespaces.

import {execFileSync, spawn, type ChildProcess} from 'node:child_process';
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import test from 'ava';
import {namesOf, namespaceOf} from '../../agent/pod-network/names.js';
import {limits} from '../../api/limits.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {layNetwork} from '../../bench/rigs/fleet/network.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {spotElsewhere} from '../../bench/rigs/services/spot-elsewhere.js';
import {serviceContract, type ServiceRig} from '../agent/network/service-contract.js';
import {aService, aSlice, noService, noSlice, ready} from '../agent/network/_network-objects.js';
import type {KernelCommand} from './_kernel-program.js';
import {nft} from '../../bench/rigs/fleet/routed-hosts.js';

const pods = ['10.244.7.11', '10.244.7.12', '10.244.7.13'];
const externalNetwork = '198.51.100.0/24';

type KernelNode = {
	readonly rig: ServiceRig;
	/** What a program prints on that host. */
	readonly run: (host: 'here' | 'outside', ...words: readonly string[]) => string;
};
/** Without the number of the answer. */
type Asked = {readonly type: 'apply'; readonly changes: Extract<KernelCommand, {type: 'apply'}>['changes']} | {readonly type: 'remove'};

async function openKernelNode(owner: Owner): Promise<KernelNode> {
	const prefix = `tk${process.pid}`;
	const network = layNetwork(owner, prefix, ['here', 'outside']);
	const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'troupe-kernel-')));
	owner.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const run = (host: string, ...words: readonly string[]): string => {
		const [command = '', ...rest] = [...network.on(host), ...words];
		return execFileSync(command, rest, {encoding: 'utf8'});
	};
	const address = network.addressOf('here');
	// A host that reaches others; and one that reaches an address outside of the cluster by this node.
	run('here', 'ip', 'route', 'add', 'default', 'via', network.addressOf('outside'));
	run('outside', 'ip', 'route', 'add', externalNetwork, 'via', address);
	const [command = '', ...rest] = [
		...network.on('here'),
		process.execPath,
		path.join(import.meta.dirname, '_kernel-program.js'),
		folder,
		address,
		...pods,
	];
	const child = spawn(command, rest, {stdio: ['pipe', 'pipe', 'inherit']});
	owner.teardown(() => void child.kill('SIGKILL'));
	const ask = asking(child);
	await ask.begun;
	owner.teardown(async () => {
		await ask.say({type: 'remove'});
		const left = run('here', nft, 'list', 'ruleset') + run('here', 'ip', '-brief', 'link');
		if (left.includes('troupe')) throw new Error(`left in the kernel: ${left}`);
	});
	const enter = (pod: number): readonly string[] => ['nsenter', `--net=/run/netns/${namespaceOf(namesOf(folder), `pod-${pod}`)}`, '--'];
	const podPlaces = await Promise.all(pods.map(async (pod, i) => ({spot: await spotElsewhere(owner, enter(i)), address: pod})));
	const host = {spot: await spotElsewhere(owner, network.on('here')), address};
	const outside = {spot: await spotElsewhere(owner, network.on('outside')), address: network.addressOf('outside')};
	let service = 0;
	let external = 0;
	let port = 8_000;
	let nodePort = 30_000;
	const rig: ServiceRig = {
		apply: changes => ask.say({type: 'apply', changes: changes.map(({key, object}) => (object === undefined ? {key} : {key, object}))}),
		addressOf: clusterIP => clusterIP,
		nextClusterIP: () => `10.96.${(service += 1) >> 8}.${service & 255}`,
		externalIP: () => `198.51.100.${(external += 1)}`,
		nodeAddress: address,
		nextNodePort: () => (nodePort += 1),
		host,
		pods: podPlaces,
		nextPort: () => (port += 1),
		outside,
	};
	return {rig, run};
}

function asking(child: ChildProcess) {
	const waiting = new Map<number, {readonly resolve: () => void; readonly reject: (error: Error) => void}>();
	const wait = (id: number): Promise<void> => new Promise((resolve, reject) => void waiting.set(id, {resolve, reject}));
	const fail = (): void => {
		for (const each of waiting.values()) each.reject(new Error('the program has ended'));
		waiting.clear();
	};
	child.once('exit', fail);
	if (child.stdout !== null)
		createInterface({input: child.stdout}).on('line', line => {
			const {id, problem} = JSON.parse(line) as {readonly id: number; readonly problem?: string};
			if (problem === undefined) waiting.get(id)?.resolve();
			else waiting.get(id)?.reject(new Error(problem));
			waiting.delete(id);
		});
	let last = 0;
	return {
		begun: wait(0),
		say(command: Asked): Promise<void> {
			last += 1;
			const done = wait(last);
			child.stdin?.write(`${JSON.stringify({id: last, ...command})}\n`);
			return done;
		},
	};
}

let opened: Promise<KernelNode> | undefined;
const closers: (() => unknown)[] = [];
const node = (): Promise<KernelNode> => (opened ??= openKernelNode({teardown: close => void closers.push(close)}));

test.after.always(async () => {
	for (const close of closers.reverse()) await close();
});

test.serial('an endpoint is told who its client is, in a pod and outside', async t => {
	const {rig} = await node();
	const [one, two] = rig.pods;
	if (one === undefined || two === undefined) return t.fail();
	const [clusterIP, port, nodePort] = [rig.nextClusterIP(), rig.nextPort(), rig.nextNodePort()];
	await one.spot.serve('TCP', {address: one.address, port}, 'one');
	const ports = [{port: 80, nodePort}];
	await rig.apply([aService('seen', {clusterIP, type: 'NodePort', ports}), aSlice('seen', [ready(one.address)], [{port}])]);
	t.is(await two.spot.ask('TCP', {address: clusterIP, port: 80}, 'hello'), `one ${two.address} hello`);
	t.is(await rig.outside.spot.ask('TCP', {address: rig.nodeAddress, port: nodePort}, 'hello'), `one ${rig.outside.address} hello`);
	// Nobody outside of the cluster is led by its own addresses.
	await t.throwsAsync(rig.outside.spot.ask('TCP', {address: clusterIP, port: 80}, 'hello'));
	await one.spot.stop('TCP', {address: one.address, port}, true);
	await rig.apply([noService('seen'), noSlice('seen')]);
});

test.serial('with very many endpoints gone at once attempts at Services choose anew, and no others do', async t => {
	const {rig, run} = await node();
	const [one] = rig.pods;
	if (one === undefined) return t.fail();
	const [clusterIP, port, toService, elsewhere] = [rig.nextClusterIP(), rig.nextPort(), rig.nextNodePort(), rig.nextNodePort()];
	await one.spot.serve('TCP', {address: one.address, port}, 'one');
	const silent = Array.from({length: limits.staleFlowCalls + 1}, (_, at) => `10.244.7.${100 + at}`);
	await rig.apply([
		aService('many', {clusterIP, ports: [{port: 80}]}),
		aSlice(
			'many',
			silent.map(address => ready(address)),
			[{port}],
		),
	]);
	const ask = (address: string, to: number, fromPort: number) =>
		rig.host.spot.ask('TCP', {address, port: to}, 'hello', {fromPort}).then(
			said => said.split(' ')[0],
			() => 'nobody',
		);
	t.deepEqual(await Promise.all([ask(clusterIP, 80, toService), ask('10.244.7.99', port, elsewhere)]), ['nobody', 'nobody']);
	const attempts = () => {
		const listed = run('here', 'conntrack', '-L', '--proto', 'tcp', '--state', 'SYN_SENT');
		return [toService, elsewhere].filter(from => listed.includes(`sport=${from} `));
	};
	t.deepEqual(attempts(), [toService, elsewhere]);
	await rig.apply([aSlice('many', [ready(one.address)], [{port}])]);
	t.deepEqual(attempts(), [elsewhere]);
	t.is(await ask(clusterIP, 80, toService), 'one');
	await one.spot.stop('TCP', {address: one.address, port}, true);
	await rig.apply([noService('many'), noSlice('many')]);
});

test.serial('what another program has emptied is there again', async t => {
	const {rig, run} = await node();
	const clusterIP = rig.nextClusterIP();
	await rig.apply([
		aService('back', {clusterIP, ports: [{port: 80}]}),
		aSlice('back', [ready(rig.pods[0]?.address ?? '')], [{port: 8_000}]),
	]);
	const text = `${clusterIP} . tcp . 80 : goto service/default/back/TCP/80`;
	t.true(run('here', nft, 'list', 'ruleset').includes(text));
	run('here', nft, 'flush', 'ruleset');
	await eventually(
		'the rules are there again',
		() => run('here', nft, 'list', 'ruleset').includes(text),
		() => run('here', nft, 'list', 'ruleset'),
		30_000,
	);
	t.true(run('here', nft, 'list', 'tables').includes('troupe-pods'));
	await rig.apply([noService('back'), noSlice('back')]);
});

test.serial('a change that fails is made good by the next one', async t => {
	const {rig, run} = await node();
	const [one] = rig.pods;
	if (one === undefined) return t.fail();
	const [clusterIP, port] = [rig.nextClusterIP(), rig.nextPort()];
	await one.spot.serve('TCP', {address: one.address, port}, 'one');
	await rig.apply([aService('first', {clusterIP: rig.nextClusterIP(), ports: [{port: 80}]})]);
	const table = /table inet (troupe-services-\S+)/.exec(run('here', nft, 'list', 'tables'))?.[1] ?? '';
	// The element that is to be removed is none any more.
	run('here', nft, 'flush', 'map', 'inet', table, 'services');
	await rig.apply([noService('first')]);
	await rig.apply([aService('second', {clusterIP, ports: [{port: 80}]}), aSlice('second', [ready(one.address)], [{port}])]);
	t.is(await rig.host.spot.ask('TCP', {address: clusterIP, port: 80}, 'hello').then(said => said.split(' ')[0]), 'one');
	await one.spot.stop('TCP', {address: one.address, port}, true);
	await rig.apply([noService('second'), noSlice('second')]);
});

serviceContract(test, async () => (await node()).rig);
