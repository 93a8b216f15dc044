// Pods of class process in the network of their host, and what of names they have of their own: what a runtime answers, keeps for the next agent, and refuses.

import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import type {PodNetwork} from '../../agent/pod-network/pod-network.js';
import {aPodNetwork} from './_pod-network.js';
import type {RoutedPod} from '../../agent/pod-network/routed-pod.js';
import {readSandbox, type SandboxRecord} from '../../agent/process/sandboxes/sandboxes.js';
import {namesIn} from '../../agent/process/sandboxes/names.js';
import {obstacleTo} from '../../agent/process/sandboxes/networks.js';
import type {SandboxSpec} from '../../actors/node/runtime/runtime-port.js';
import {aSandbox} from './_sandbox.js';
import {processWorld} from './process-world.js';
import {driver} from './runtime-contract.js';

/** It gives out one address, and makes nothing of it. */
function aNetwork(): PodNetwork & {readonly made: string[]; readonly adopted: string[]} {
	const made: string[] = [];
	const adopted: string[] = [];
	return aPodNetwork({
		made,
		adopted,
		resolver: (of: string) => (of === 'routed' ? '169.254.1.1' : '127.53.1.2'),
		hostIP: '192.0.2.7',
		adopt: ({uid}: RoutedPod) => void adopted.push(uid),
		ensure: ({uid}: {readonly uid: string}) => Promise.resolve(void made.push(uid)),
	});
}

const onHost = (uid: string, rest: Partial<SandboxSpec> = {}): SandboxSpec => aSandbox(uid, {hostNetwork: true, ...rest});

test('where pods share the network of their node, one that asks for it has the address of the node', async t => {
	const world = processWorld(clean => t.teardown(clean), {hostIP: '192.0.2.7'});
	const {run, value, ensure} = driver(world);
	t.true(world.runtime().info().features.includes('hostNetwork'));
	t.deepEqual(await value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: onHost('a')})), {podIP: '192.0.2.7', hostIP: '192.0.2.7'});
	t.regex((await ensure('b')).podIP, /^127\./);
});

test('where pods have networks of their own it takes leave, and without it nothing is made', async t => {
	const world = processWorld(clean => t.teardown(clean), {network: aNetwork(), hostIP: '192.0.2.7'});
	const {run, list} = driver(world);
	t.false(world.runtime().info().features.includes('hostNetwork'));
	const refused = await run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: onHost('a')});
	t.is(
		refused.ok ? '' : refused.error.message,
		'the pod cannot start: it asks for hostNetwork, and this node does not allow that (--allow-privileged)',
	);
	t.deepEqual(await list(), []);
});

test('such a pod gets no network; a later agent answers with the address of then, and takes nothing back', async t => {
	const network = aNetwork();
	const options = {network, hostIP: '192.0.2.7', allowPrivileged: true};
	const world = processWorld(clean => t.teardown(clean), options);
	const {run, value, ensure, restartAgent, remove, list} = driver(world);
	const ensureOnHost = () => value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: onHost('a')}));
	t.true(world.runtime().info().features.includes('hostNetwork'));
	t.deepEqual(await ensureOnHost(), {podIP: '192.0.2.7', hostIP: '192.0.2.7'});
	t.deepEqual(await ensure('b'), {podIP: '10.244.3.7', hostIP: '192.0.2.7', isRouted: true});
	t.deepEqual(network.made, ['b']);

	await restartAgent(() => Promise.resolve(void Object.assign(options, {hostIP: '192.0.2.8', allowPrivileged: false})));
	t.deepEqual(network.adopted, ['b']);
	t.deepEqual(await ensureOnHost(), {podIP: '192.0.2.8', hostIP: '192.0.2.8'});
	await remove('a');
	t.deepEqual(await list(), ['b']);
});

test('what a pod says of names is kept with it; of versions before it is whether the host is asked', async t => {
	const world = processWorld(clean => t.teardown(clean), {network: aNetwork()});
	const {run, value} = driver(world);
	const dns = {policy: 'None', nameservers: ['192.0.2.1'], searches: ['a'], options: []} as const;
	const hostAliases = [{ip: '10.0.0.1', hostnames: ['db']}];
	t.is(obstacleTo(aSandbox('a', {dns, hostAliases}), means(true)), undefined);
	if (world.runtime().info().features.includes('names')) {
		await value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox('a', {dns, hostAliases})}));
		t.like(readSandbox(world.directory, 'a'), {dns, hostAliases, network: {type: 'routed'}});
	}
	const folder = path.join(world.directory, 'old');
	mkdirSync(folder);
	const old = {namespace: 'n', name: 'p', podIP: '10.244.3.9', network: {type: 'routed', hostPorts: [], dnsPolicy: 'Default'}};
	writeFileSync(path.join(folder, 'pod.json'), JSON.stringify(old));
	t.like(readSandbox(world.directory, 'old'), {dns: {policy: 'Default'}, hostAliases: [], network: {type: 'routed', hostPorts: []}});
});

const means = (mayMount: boolean) => ({
	isRoot: false,
	mayMount,
	network: undefined,
	allowPrivileged: false,
});

test('a node that gives pods no files of their own refuses what needs them, and says which field that is', t => {
	const said = (rest: Partial<SandboxSpec>): string | undefined => obstacleTo(aSandbox('a', rest), means(false));
	const dns = {policy: 'ClusterFirst', nameservers: [], searches: [], options: ['ndots:1']} as const;
	const why = 'this node gives an agent that is not root no user namespaces in which it could have files of its own';
	t.is(said({dns}), `it asks for dnsConfig, and ${why}`);
	t.is(said({dns: {...dns, policy: 'None'}}), `it asks for dnsPolicy None, and ${why}`);
	t.is(said({hostAliases: [{ip: '10.0.0.1', hostnames: ['db']}]}), `it asks for hostAliases, and ${why}`);
	for (const policy of ['Default', 'ClusterFirstWithHostNet'] as const) t.is(said({dns: {...dns, policy, options: []}}), undefined);
});

test('the files of a pod: those of the cluster where it has names for it, and in place of them what the pod says', t => {
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-names-')));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const record: SandboxRecord = {
		uid: 'a',
		namespace: 'shop',
		name: 'a',
		podIP: '10.244.3.7',
		network: {type: 'routed', hostPorts: []},
		dns: undefined,
		hostAliases: [],
		owner: undefined,
	};
	const filesOf = (rest: Partial<SandboxRecord>) =>
		namesIn({...record, ...rest}, aNetwork(), folder).map(({file, ...own}) => ({...own, text: readFileSync(file, 'utf8')}));
	const none = {policy: 'None', nameservers: ['192.0.2.1'], searches: [], options: []} as const;
	t.like(filesOf({}), [{place: '/etc/resolv.conf', isAsked: false}]);
	t.regex(filesOf({})[0]?.text ?? '', /^nameserver 169\.254\.1\.1\nsearch shop\.svc\.cluster\.local /);
	t.deepEqual(filesOf({dns: none}), [{place: '/etc/resolv.conf', isAsked: true, text: 'nameserver 192.0.2.1\n'}]);
	t.deepEqual(filesOf({network: {type: 'host'}}), []);
	t.deepEqual(filesOf({network: {type: 'shared'}}), []);
	const withHostNet = {...none, policy: 'ClusterFirstWithHostNet', nameservers: []} as const;
	t.regex(filesOf({network: {type: 'host'}, dns: withHostNet})[0]?.text ?? '', /^nameserver 127\.53\.1\.2\n/);
	t.deepEqual(filesOf({network: {type: 'shared'}, dns: withHostNet}), []);
	const [hosts] = filesOf({network: {type: 'shared'}, hostAliases: [{ip: '10.0.0.1', hostnames: ['db']}]});
	t.is(hosts?.place, '/etc/hosts');
	t.true(hosts?.text.startsWith(readFileSync('/etc/hosts', 'utf8').trimEnd()) === true && hosts.text.endsWith('\n10.0.0.1\tdb\n'));
});
