// NetworkPolicies: what their selectors come to on each node, which changes concern whom, and what a policy says of itself.

import test from 'ava';
import {merged, without} from '../../actors/control/network/address-ranges.js';
import {resolvedPolicy} from '../../actors/control/network/policy-rules.js';
import {policyEntryOf, policyNews} from '../../actors/control/sync/policy-entry.js';
import {wakesOf} from '../../actors/control/wakes.js';
import {conditionOf} from '../../api/conditions.js';
import type {NetworkPolicy, NetworkPolicySpec} from '../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, Labels} from '../../api/object.js';
import type {NetworkPolicyOfNode} from '../../actors/protocol/network-object.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {committed} from '../api/_objects.js';
import {aContainer, aNamespace, aNode, aPod, contextWith, drop, indexOf, put} from './_objects.js';
import {tellRecord} from './_records.js';

const node = (name: string, podCIDR: string | undefined): NodeObject => {
	const made = aNode({name, spec: podCIDR === undefined ? {} : {podCIDR}});
	return {...made, status: {...made.status, network: {pods: podCIDR === undefined ? 'shared' : 'routed', services: 'proxy'}}};
};
const a = node('a', '10.244.1.0/24');
const b = node('b', '10.244.2.0/24');

type Parts = {
	readonly labels?: Labels;
	readonly ip?: string | undefined;
	readonly on?: string;
	readonly namespace?: string;
	readonly port?: number;
};

const pod = (name: string, {labels = {}, ip, on = 'a', namespace = 'default', port}: Parts = {}): Pod =>
	aPod({
		name,
		metadata: {namespace, labels, uid: name},
		spec: {
			nodeName: on,
			containers: [aContainer(port === undefined ? {} : {ports: [{name: 'http', containerPort: port, protocol: 'TCP'}]})],
		},
		status: {phase: 'Running', ...(ip === undefined ? {} : {podIP: ip})},
	});

const policy = (spec: NetworkPolicySpec, name = 'p'): NetworkPolicy => {
	const made = committed({apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: {name, namespace: 'default'}, spec}, {});
	return {...made, metadata: {...made.metadata, uid: name}} as NetworkPolicy;
};

const web = {podSelector: {matchLabels: {app: 'web'}}};
const isWeb = {app: 'web'};
const isFriend = {role: 'friend'};
const friends = {podSelector: {matchLabels: isFriend}};

const key = 'networkpolicies/default/p';

function on(name: string, index: ObjectIndex): NetworkPolicyOfNode | undefined {
	const {named} = policyEntryOf(name, key, index);
	return named?.type === 'network' && named.object.type === 'policy' ? named.object : undefined;
}

test('ranges are merged, and parts are taken out of them', t => {
	const range = (first: number, last = first) => ({first, last});
	t.deepEqual(merged([range(5), range(1, 3), range(4), range(2, 9), range(11)]), [range(1, 9), range(11)]);
	t.deepEqual(without(range(0, 9), [range(0, 1), range(4), range(9, 12)]), [range(2, 3), range(5, 8)]);
	t.deepEqual(without(range(0, 9), [range(0, 9)]), []);
	t.deepEqual(without(range(3, 4), [range(0, 2), range(5)]), [range(3, 4)]);
});

test('a node is told of its own pods alone, by their uid and before they have an address; of peers wherever they are, by their address', t => {
	const index = indexOf(
		aNamespace(),
		a,
		b,
		policy({...web, ingress: [{from: [friends]}]}),
		pod('w1', {labels: isWeb}),
		pod('w2', {labels: isWeb, on: 'b', ip: '10.244.2.9'}),
		pod('f1', {labels: isFriend, ip: '10.244.1.2'}),
		pod('f2', {labels: isFriend, ip: '10.244.2.3', on: 'b'}),
		pod('f3', {labels: isFriend, ip: '10.244.2.4', on: 'b'}),
		pod('late', {labels: isFriend}),
		pod('elsewhere', {labels: isFriend, namespace: 'team', ip: '10.244.1.9'}),
	);
	const ingress = [{peers: ['10.244.1.2', '10.244.2.3-10.244.2.4']}];
	t.deepEqual(on('a', index), {type: 'policy', namespace: 'default', name: 'p', pods: [{uid: 'w1'}], ingress});
	t.deepEqual(on('b', index)?.pods, [{uid: 'w2'}]);
	t.is(on('c', index), undefined);
	t.deepEqual(policyEntryOf('c', key, index), {key, version: '', named: null});
});

test('an address that is not of the subnet of its node is no peer, nor is what shares the network of its node', t => {
	const forged = pod('forged', {labels: isFriend, ip: '10.244.2.7'});
	const text = pod('text', {labels: isFriend, ip: '10.244.1.7 } accept'});
	const host = pod('host', {labels: isFriend, ip: '10.244.1.8'});
	const over = pod('over', {labels: isFriend, ip: '10.244.1.9'});
	const index = indexOf(
		a,
		b,
		node('shared', undefined),
		policy({...web, ingress: [{from: [friends]}]}),
		pod('w', {labels: isWeb}),
		forged,
		text,
		{...host, spec: {containers: [], ...host.spec, hostNetwork: true}},
		{...over, status: {...over.status, phase: 'Failed'}},
		pod('bridged', {labels: isFriend, ip: '172.17.0.2', on: 'shared'}),
	);
	t.deepEqual(on('a', index)?.ingress, [{peers: []}]);
});

test('directions, namespaces, addresses and ports come to what a node can do at once', t => {
	const index = indexOf(
		aNamespace(),
		aNamespace('team', {labels: {kind: 'team'}}),
		// As a version stored it that gave it no label of its name.
		aNamespace('old'),
		a,
		pod('w', {labels: isWeb, port: 8080}),
		pod('t', {namespace: 'team', ip: '10.244.1.5', port: 9090}),
		pod('o', {namespace: 'old', ip: '10.244.1.7', labels: isFriend}),
		pod('near', {ip: '10.244.1.3', port: 7070}),
		policy({
			...web,
			policyTypes: ['Ingress', 'Egress'],
			ingress: [
				{
					from: [
						{namespaceSelector: {matchLabels: {kind: 'team'}}},
						{namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': 'old'}}, ...friends},
					],
				},
				{
					from: [{ipBlock: {cidr: '192.0.2.9/24', except: ['192.0.2.0/25', '192.0.2.255/32']}}],
					ports: [{port: 80}, {port: 81, endPort: 90}, {protocol: 'UDP'}],
				},
				{ports: [{port: 'http'}, {port: 'nosuch'}]},
			],
			egress: [{to: [{namespaceSelector: {matchLabels: {kind: 'team'}}}], ports: [{port: 'http'}]}, {ports: [{port: 'http'}]}, {}],
		}),
	);
	const found = on('a', index);
	t.deepEqual(found?.pods, [{uid: 'w', ports: {'TCP/http': 8080}}]);
	t.deepEqual(found?.ingress, [
		{peers: ['10.244.1.5', '10.244.1.7']},
		{peers: ['192.0.2.128-192.0.2.254'], ports: [{protocol: 'TCP', numbers: ['80-90']}, {protocol: 'UDP'}]},
		{ports: [], names: ['TCP/http', 'TCP/nosuch']},
	]);
	t.deepEqual(found?.egress, [
		{peers: ['10.244.1.5'], ports: [], named: [{protocol: 'TCP', port: 9090, peers: ['10.244.1.5']}]},
		{
			ports: [],
			named: [
				{protocol: 'TCP', port: 7070, peers: ['10.244.1.3']},
				{protocol: 'TCP', port: 9090, peers: ['10.244.1.5']},
			],
		},
		{},
	]);
});

test('the resolver of the node stands for the pods that answer for names in Kubernetes', t => {
	const dns = {
		namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': 'kube-system'}},
		podSelector: {matchLabels: {'k8s-app': 'kube-dns'}},
	};
	const resolverOf = (rule: NonNullable<NetworkPolicySpec['egress']>[number]) =>
		on('a', indexOf(a, pod('w', {labels: isWeb}), policy({...web, egress: [rule]})))?.egress?.[0]?.resolver;
	t.deepEqual(resolverOf({to: [dns], ports: [{port: 53, protocol: 'UDP'}]}), ['UDP']);
	t.deepEqual(resolverOf({to: [dns], ports: [{port: 'dns-tcp'}, {port: 50, endPort: 60, protocol: 'UDP'}]}), ['UDP', 'TCP']);
	t.deepEqual(resolverOf({to: [{namespaceSelector: {}}]}), ['UDP', 'TCP']);
	t.is(resolverOf({to: [dns], ports: [{port: 54, protocol: 'UDP'}]}), undefined);
	t.is(resolverOf({to: [{podSelector: {}}]}), undefined);
	t.is(resolverOf({to: [{...dns, podSelector: {matchLabels: {'k8s-app': 'other'}}}]}), undefined);
});

test('what is more than nodes are to hold is not let through, and the policy says so', t => {
	// Every other address, so that no two are one range.
	const blocks = Array.from({length: 1_000}, (_, i) => ({ipBlock: {cidr: `10.0.${i >> 7}.${(i & 127) * 2}/32`}}));
	const many = Array.from({length: 20}, (_, i) => policy({...web, ingress: [{from: blocks}]}, `p${i}`));
	const rules = many.flatMap(each => each.spec?.ingress ?? []);
	const huge = {...policy(web), spec: {...web, policyTypes: ['Ingress' as const], ingress: rules}};
	const index = indexOf(a, pod('w', {labels: isWeb}), huge);
	const {ingress = [], isCut} = resolvedPolicy(huge, index);
	t.true(isCut);
	t.is(
		ingress.reduce((sum, {peers = []}) => sum + peers.length, 0),
		limits.policyRanges,
	);
	t.like(look(huge, index).condition, {status: 'False', reason: 'TooManyPeers'});
});

// ---- changes -------------------------------------------------------------------------------------------------------------

const newsOf = (plural: string, before: ApiObject | undefined, after: ApiObject | undefined, index: ObjectIndex) =>
	[...policyNews(plural, {before, after}, index)].map(({key: of, nodes}) => [of.split('/')[2], nodes ?? 'all']);

test('nodes are told anew when a pod, a namespace or a node changes what a policy comes to, and else not', t => {
	const near = policy({...web, ingress: [{from: [friends]}]}, 'near');
	const far = policy({...web, ingress: [{from: [{namespaceSelector: {matchLabels: {kind: 'team'}}}]}]}, 'far');
	const index = indexOf(aNamespace(), aNamespace('team', {labels: {kind: 'team'}}), a, b, near, far);
	const ofPod = (before: Pod | undefined, after: Pod | undefined) => newsOf('pods', before, after, index);
	const bound = pod('w', {labels: isWeb});
	t.deepEqual(
		ofPod({...bound, spec: {containers: []}}, bound),
		[
			['near', ['a']],
			['far', ['a']],
		],
		'its node, when it gets there',
	);
	t.deepEqual(ofPod(undefined, pod('f', {labels: isFriend})), [], 'a peer is none before it has an address');
	const f = pod('f', {labels: isFriend, ip: '10.244.1.2'});
	t.deepEqual(ofPod(pod('f', {labels: isFriend}), f), [['near', 'all']]);
	t.deepEqual(ofPod(f, {...f, status: {phase: 'Running', podIP: '10.244.1.2', conditions: []}}), [], 'it is the same to them');
	t.deepEqual(ofPod(f, {...f, metadata: {...f.metadata, labels: {}}}), [['near', 'all']], 'it is a peer no more');
	t.deepEqual(ofPod(f, undefined), [['near', 'all']]);
	t.deepEqual(ofPod(undefined, pod('t', {namespace: 'team', ip: '10.244.1.4'})), [['far', 'all']]);
	const team = aNamespace('team');
	t.deepEqual(newsOf('namespaces', team, {...team, metadata: {...team.metadata, labels: {kind: 'team'}}}, index), [['far', 'all']]);
	t.deepEqual(newsOf('namespaces', team, {...team, status: {phase: 'Terminating'}}, index), []);
	t.deepEqual(newsOf('nodes', node('a', undefined), a, index).length, 2);
	t.deepEqual(newsOf('nodes', a, {...a, status: {...a.status}}, index), []);
	t.deepEqual(newsOf('networkpolicies', near, undefined, index), [['near', 'all']]);
	t.deepEqual(newsOf('networkpolicies', near, {...near, status: {conditions: []}}, index), []);
});

test('a node hears of a policy before it hears of the pod that it is for', t => {
	const index = indexOf(aNamespace(), a, policy(web));
	const unbound = {...pod('w', {labels: isWeb}), spec: {containers: []}};
	put(index, unbound);
	const wakes = wakesOf(put(index, pod('w', {labels: isWeb})), index).flatMap(({message}) =>
		message.type === 'dirty' ? [(message as {key?: string}).key] : [],
	);
	t.deepEqual(wakes, [key, 'pods/default/w']);
});

test('what was found is good as long as the index is the same', t => {
	const index = indexOf(a, policy({...web, ingress: [{from: [friends]}]}), pod('w', {labels: isWeb}));
	const version = policyEntryOf('a', key, index).version;
	t.is(policyEntryOf('a', key, index).version, version);
	put(index, pod('f', {labels: isFriend, ip: '10.244.1.2'}));
	t.deepEqual(on('a', index)?.ingress, [{peers: ['10.244.1.2']}]);
	t.not(policyEntryOf('a', key, index).version, version);
	drop(index, pod('w', {labels: isWeb}));
	t.is(on('a', index), undefined);
});

// ---- what it says of itself ----------------------------------------------------------------------------------------------

function look(object: NetworkPolicy, index: ObjectIndex) {
	const played = tellRecord(object, [{type: 'wake'}], contextWith(index));
	const after = played.object as NetworkPolicy;
	return {condition: conditionOf(after.status?.conditions, 'Enforced'), events: played.effects.filter(({type}) => type === 'event'), after};
}

test('it says on which nodes it is not enforced, and for which pods; once for each such news', t => {
	const object = policy(web);
	const index = indexOf(a, node('s1', undefined), node('s2', undefined), object, pod('w', {labels: isWeb, ip: '10.244.1.2'}));
	t.like(look(object, index).condition, {status: 'True', reason: 'Enforced'});
	put(index, pod('x', {labels: isWeb, on: 's2'}));
	put(index, pod('y', {labels: isWeb, on: 's1'}));
	put(index, pod('z', {labels: isWeb, ip: '172.17.0.3'}));
	const told = look(object, index);
	t.like(told.condition, {
		status: 'False',
		reason: 'SharedNetwork',
		message:
			'not enforced on nodes s1, s2, where pods have no network of their own: start the agent there with --network routed; not enforced for pod z, begun before the node had a network for pods: delete them, so that others take their place',
	});
	t.is(told.events.length, 1);
	const again = look(told.after, index);
	t.deepEqual(again.events, []);
	t.is(again.after, told.after);
	for (const name of ['x', 'y', 'z']) drop(index, pod(name));
	t.like(look(told.after, index).condition, {status: 'True'});
});
