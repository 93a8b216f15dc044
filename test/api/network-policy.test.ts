// NetworkPolicies: Kubernetes' defaults, what is refused and where, and what a listing shows.

import test from 'ava';
import type {NetworkPolicy} from '../../api/kinds/networkpolicy.js';
import {cells, committed, problemsOf} from './_objects.js';

const policy = (spec: object) => ({
	apiVersion: 'networking.k8s.io/v1',
	kind: 'NetworkPolicy',
	metadata: {name: 'p', namespace: 'default'},
	spec,
});
const from = (...peers: readonly object[]) => policy({ingress: [{from: peers}]});
const port = (fields: object) => policy({egress: [{ports: [fields]}]});
const specOf = (spec: object) => (committed(policy(spec)) as NetworkPolicy).spec;

test('a policy that says no directions isolates from what comes, and from what goes where it has rules for that', t => {
	t.deepEqual(specOf({}), {podSelector: {}, policyTypes: ['Ingress']});
	t.deepEqual(specOf({egress: []})?.policyTypes, ['Ingress']);
	t.deepEqual(specOf({egress: [{}]})?.policyTypes, ['Ingress', 'Egress']);
	t.deepEqual(specOf({policyTypes: ['Egress'], ingress: [{}]})?.policyTypes, ['Egress']);
	t.deepEqual(specOf({ingress: [{ports: [{port: 80}, {port: 53, protocol: 'UDP'}]}]})?.ingress, [
		{
			ports: [
				{port: 80, protocol: 'TCP'},
				{port: 53, protocol: 'UDP'},
			],
		},
	]);
});

const sound: readonly (readonly [string, object])[] = [
	['what lets nothing through', policy({podSelector: {}, policyTypes: ['Ingress', 'Egress']})],
	[
		'peers of every sort',
		from(
			{podSelector: {}},
			{namespaceSelector: {}, podSelector: {matchLabels: {a: 'b'}}},
			{ipBlock: {cidr: '10.1.2.3/8', except: ['10.1.0.0/16']}},
		),
	],
	['all addresses but some', from({ipBlock: {cidr: '0.0.0.0/0', except: ['169.254.169.254/32']}})],
	[
		'ports of every sort',
		policy({ingress: [{ports: [{protocol: 'UDP'}, {port: 'http'}, {port: 1, endPort: 65_535}, {port: 9, protocol: 'SCTP'}]}]}),
	],
	['empty lists', policy({ingress: [{from: [], ports: []}]})],
];

for (const [title, manifest] of sound) test(`takes ${title}`, t => t.deepEqual(problemsOf(manifest), []));

const refusals: readonly (readonly [title: string, manifest: object, ...problems: readonly string[]])[] = [
	['a peer of nothing', from({}), 'spec.ingress[0].from[0]: must have a podSelector, a namespaceSelector or an ipBlock'],
	[
		'addresses beside selectors',
		from({podSelector: {}, ipBlock: {cidr: '10.0.0.0/8'}}),
		'spec.ingress[0].from[0]: must have either an ipBlock or selectors, not both: addresses are a peer of their own',
	],
	[
		'no addresses',
		from({ipBlock: {cidr: '10.0.0.0'}}),
		'spec.ingress[0].from[0].ipBlock.cidr: must be addresses of IPv4 such as 192.0.2.0/24, got "10.0.0.0"',
	],
	[
		'addresses of IPv6',
		from({ipBlock: {cidr: '::/0'}}),
		'spec.ingress[0].from[0].ipBlock.cidr: must be addresses of IPv4 such as 192.0.2.0/24, got "::/0"',
	],
	[
		'lines of a program in place of addresses',
		from({ipBlock: {cidr: '10.0.0.0/8 } accept'}}),
		'spec.ingress[0].from[0].ipBlock.cidr: must be addresses of IPv4 such as 192.0.2.0/24, got "10.0.0.0/8 } accept"',
	],
	[
		'an exception that is no part of it, and one that is all of it',
		from({ipBlock: {cidr: '10.1.0.0/16', except: ['10.2.0.0/24', '10.1.0.0/16', 'x']}}),
		'spec.ingress[0].from[0].ipBlock.except[0]: must be a part of "10.1.0.0/16" and not all of it, got "10.2.0.0/24"',
		'spec.ingress[0].from[0].ipBlock.except[1]: must be a part of "10.1.0.0/16" and not all of it, got "10.1.0.0/16"',
		'spec.ingress[0].from[0].ipBlock.except[2]: must be addresses of IPv4 such as 192.0.2.0/24, got "x"',
	],
	['a port that is none', port({port: 0}), 'spec.egress[0].ports[0].port: must be a whole number from 1 to 65535, got 0'],
	[
		'the end of a range of a name',
		port({port: 'http', endPort: 90}),
		'spec.egress[0].ports[0].endPort: belongs to a port that is a number',
	],
	['a range without a beginning', port({endPort: 90}), 'spec.egress[0].ports[0].endPort: needs the port at which the range begins'],
	[
		'a range that ends before it begins',
		port({port: 90, endPort: 80}),
		'spec.egress[0].ports[0].endPort: must not be below port, which is 90, got 80',
	],
	[
		'a selector that is badly written',
		policy({podSelector: {matchExpressions: [{key: 'a', operator: 'In'}]}}),
		'spec.podSelector.matchExpressions[0].values: must name a value when the operator is In',
	],
	[
		'more than nodes are to work on',
		policy({ingress: [{ports: Array.from({length: 1_024}, (_, i) => ({port: i + 1}))}]}),
		'spec.ingress: must have at most 1024 rules, peers, exceptions and ports together, got 1025',
	],
];

for (const [title, manifest, ...problems] of refusals)
	test(`a NetworkPolicy refuses ${title}`, t => t.deepEqual(problemsOf(manifest), problems));

test('a listing shows which pods it is for, as kubectl does', t => {
	const shown = (podSelector: object) => cells('networkpolicies', committed(policy({podSelector})));
	t.deepEqual(shown({}), ['p', '<none>']);
	t.deepEqual(shown({matchLabels: {app: 'web'}, matchExpressions: [{key: 'tier', operator: 'Exists'}]}), ['p', 'app=web,tier']);
});

test('each namespace has its name as a label, whatever its manifest says', t => {
	const namespace = (labels?: object) => ({
		apiVersion: 'v1',
		kind: 'Namespace',
		metadata: {name: 'team', ...(labels === undefined ? {} : {labels})},
	});
	t.deepEqual(committed(namespace()).metadata.labels, {'kubernetes.io/metadata.name': 'team'});
	t.deepEqual(committed(namespace({a: 'b', 'kubernetes.io/metadata.name': 'another'})).metadata.labels, {
		a: 'b',
		'kubernetes.io/metadata.name': 'team',
	});
});
