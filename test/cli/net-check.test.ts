// `net check`: which hop of a way is named for what was seen of it; the words for FROM and TO; which route has a path.

import test from 'ava';
import type {Dns} from '../../api/kinds/dns.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {Ingress} from '../../api/kinds/ingress.js';
import type {NetworkPolicy} from '../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import type {WayAnswer, WayTried} from '../../api/way-check.js';
import {AppError} from '../../api/errors.js';
import type {Facts, Target} from '../../cli/net-check/facts.js';
import {drawHops, type Hop} from '../../cli/net-check/hops.js';
import {judge} from '../../cli/net-check/judge.js';
import {fromPlaceOf, toPlaceOf} from '../../cli/net-check/places.js';
import {routeIn} from '../../cli/net-check/route.js';
import {aContainer, committed} from '../api/_objects.js';

const ready = {type: 'Ready', status: 'True'};

const nodeOf = (name: string, address: string, conditions: readonly object[] = [ready], pods = 'routed'): NodeObject =>
	({
		apiVersion: 'v1',
		kind: 'Node',
		metadata: {name},
		status: {conditions, addresses: [{type: 'InternalIP', address}], network: {pods, services: 'nftables'}},
	}) as unknown as NodeObject;

function podOf(
	name: string,
	node: string,
	podIP: string,
	{status = {}, ports = [], spec = {}}: {status?: object; ports?: object[]; spec?: object} = {},
): Pod {
	const manifest = {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name, namespace: 'default', labels: {app: 'web'}},
		spec: {nodeName: node, containers: [aContainer({ports} as object)], ...spec},
	};
	const pod = committed(manifest, {phase: 'Running', podIP, conditions: [ready], ...status}) as Pod;
	return {...pod, metadata: {...pod.metadata, uid: `uid-${name}`}};
}

const service = (spec: object = {}): Service =>
	committed(
		{
			apiVersion: 'v1',
			kind: 'Service',
			metadata: {name: 'web', namespace: 'default'},
			spec: {selector: {app: 'web'}, clusterIP: '10.96.0.7', ports: [{name: 'http', port: 80, targetPort: 8000}], ...spec},
		},
		{},
	) as Service;

const endpoint = (name: string, node: string, address: string, conditions: object = {ready: true}) => ({
	addresses: [address],
	conditions,
	nodeName: node,
	targetRef: {kind: 'Pod', name, uid: `uid-${name}`},
});

const slice = (endpoints: readonly object[], ports: readonly object[] = [{name: 'http', port: 8000}]): EndpointSlice =>
	({addressType: 'IPv4', endpoints, ports}) as unknown as EndpointSlice;

const [near, far] = [podOf('near', 'a', '10.244.1.2'), podOf('far', 'b', '10.244.2.2')];
const endpoints = [endpoint('near', 'a', '10.244.1.2'), endpoint('far', 'b', '10.244.2.2')];

const target = (given: Partial<Extract<Target, {kind: 'service'}>> = {}): Target => ({
	kind: 'service',
	namespace: 'default',
	name: 'web',
	port: undefined,
	service: service(),
	hint: '',
	slices: [slice(endpoints)],
	pods: [near, far],
	...given,
});

const used = [
	{address: '10.244.1.2', port: 8000},
	{address: '10.244.2.2', port: 8000},
];

const answer = (given: Partial<WayAnswer> = {}): {readonly answer: WayAnswer} => ({
	answer: {
		from: 'pod',
		services: 'nftables',
		overlay: 'vxlan',
		pid: 7,
		problems: [],
		resolver: '169.254.1.1:53',
		router: '169.254.1.1:8080',
		service: {ports: [{port: 80, protocol: 'TCP', endpoints: used, leftOut: []}]},
		tried: [{ok: true, addresses: ['10.96.0.7']}],
		...given,
	},
});

const tried = (...results: readonly WayTried[]) => answer({tried: results});
const yes: WayTried = {ok: true};
const no = (code: string): WayTried => ({ok: false, code});

const nodes = new Map([nodeOf('a', '192.0.2.1'), nodeOf('b', '192.0.2.2')].map(node => [node.metadata.name, node]));

/** A way of which all is well. */
const well: Facts = {
	from: {kind: 'pod', namespace: 'default', name: 'asker'},
	to: {kind: 'service', namespace: 'default', name: 'web', port: undefined},
	origin: {pod: podOf('asker', 'a', '10.244.1.9'), node: nodes.get('a'), hint: ''},
	nodes,
	target: target(),
	look: answer(),
	tries: tried(yes, yes, yes),
};

const named = (hops: readonly Hop[]): readonly string[] => hops.map(({hop, state}) => (state === 'ok' ? hop : `${hop} ${state}`));

test('a way of which all is well has all its hops', t => {
	t.deepEqual(named(judge(well)), [
		'from',
		'node',
		'service',
		'port',
		'endpoints',
		'name',
		'node has',
		'leads to',
		'way',
		'connect',
		'connect',
		'address',
	]);
});

test('of what is not known yet there is no hop', t => {
	const {from, to, origin} = well;
	t.deepEqual(named(judge({from, to})), []);
	t.deepEqual(named(judge({from, to, ...(origin === undefined ? {} : {origin})})), ['from', 'node']);
});

const policy = (name: string, policyTypes: readonly string[], matchLabels: object): NetworkPolicy =>
	committed(
		{
			apiVersion: 'networking.k8s.io/v1',
			kind: 'NetworkPolicy',
			metadata: {name, namespace: 'default'},
			spec: {podSelector: {matchLabels}, policyTypes},
		},
		{},
	) as NetworkPolicy;

type Fault = {readonly facts: Partial<Facts>; readonly hop: string; readonly seen: RegExp; readonly todo: RegExp};

const unready = podOf('near', 'a', '10.244.1.2', {
	status: {conditions: [{type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'containers with unready status: [main]'}]},
});

const faults: Readonly<Record<string, Fault>> = {
	'FROM is not there, and another is meant': {
		facts: {origin: {pod: undefined, node: undefined, hint: 'pods "askr" not found; did you mean "asker"?'}},
		hop: 'from',
		seen: /did you mean "asker"/,
		todo: /get pods -n default/,
	},
	'FROM does not run': {
		facts: {origin: {pod: podOf('asker', 'a', '', {status: {phase: 'Pending'}}), node: nodes.get('a'), hint: ''}},
		hop: 'from',
		seen: /does not run: it is Pending/,
		todo: /why pod asker/,
	},
	'the node of FROM is not heard': {
		facts: {
			origin: {
				pod: podOf('asker', 'a', '10.244.1.9'),
				node: nodeOf('a', '192.0.2.1', [{type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'silent'}]),
				hint: '',
			},
		},
		hop: 'node',
		seen: /node a is not heard: NodeStatusUnknown: silent/,
		todo: /describe node a/,
	},
	'there is no such Service': {
		facts: {target: target({service: undefined, hint: 'services "wbe" not found; did you mean "web"?', slices: [], pods: []})},
		hop: 'service',
		seen: /did you mean "web"/,
		todo: /get services/,
	},
	'the Service has no such port': {
		facts: {target: target({port: 'htpp'})},
		hop: 'port',
		seen: /no port htpp; did you mean "http"\?; it has http 80\/TCP/,
		todo: /spec\.ports/,
	},
	'no pod has the labels': {
		facts: {target: target({slices: [slice([])], pods: []})},
		hop: 'endpoints',
		seen: /no pod has the labels app=web/,
		todo: /get pods/,
	},
	'no pod is ready': {
		facts: {target: target({slices: [slice([endpoint('near', 'a', '10.244.1.2', {ready: false, serving: false})])], pods: [unready]})},
		hop: 'endpoints',
		seen: /none is ready; left out: near: it is not ready: ContainersNotReady/,
		todo: /why pod near/,
	},
	'targetPort is a name that no container has': {
		facts: {
			target: target({
				service: service({ports: [{name: 'http', port: 80, targetPort: 'htpp'}]}),
				slices: [],
				pods: [podOf('near', 'a', '10.244.1.2', {ports: [{name: 'http', containerPort: 8000}]})],
			}),
		},
		hop: 'endpoints',
		seen: /near: none of its containers names a port "htpp"/,
		todo: /targetPort may be http/,
	},
	'the node of FROM does not answer': {
		facts: {look: {problem: 'nothing can be tried from there: the node "a" is not reachable', todo: 'see that its agent runs'}},
		hop: 'ask',
		seen: /not reachable/,
		todo: /its agent runs/,
	},
	'the node has not heard of the Service': {
		facts: {look: answer({service: undefined})},
		hop: 'node has',
		seen: /node a does not know of service web/,
		todo: /describe node a/,
	},
	'no data plane serves': {
		facts: {look: answer({services: 'proxy', pid: undefined, problems: ['no data plane: it ended at once']})},
		hop: 'node has',
		seen: /no data plane serves on node a; it says: no data plane: it ended at once/,
		todo: /troupe tree/,
	},
	'the node cannot serve that very Service': {
		facts: {
			look: answer({
				problems: ['TCP 127.224.0.7:80 of Service default/web (port 80) needs leave to listen below port 1024: run the agent as root'],
			}),
		},
		hop: 'node has',
		seen: /needs leave to listen below port 1024/,
		todo: /tries again/,
	},
	'all endpoints are of other nodes, whose pods nobody else reaches': {
		facts: {
			look: answer({
				service: {
					ports: [
						{
							port: 80,
							protocol: 'TCP',
							endpoints: [],
							leftOut: [{address: '127.64.0.2', target: 'far', reason: '127.64.0.2 is of one host alone, and it is not on this node'}],
						},
					],
				},
			}),
		},
		hop: 'leads to',
		seen: /no endpoint; not to far: 127\.64\.0\.2 is of one host alone/,
		todo: /--network routed/,
	},
	'the resolver knows no such name': {
		facts: {look: answer({tried: [no('ENOTFOUND')]})},
		hop: 'name',
		seen: /169\.254\.1\.1:53 knows no address for web\.default\.svc\.cluster\.local/,
		todo: /describe node a/,
	},
	'the resolver is silent': {facts: {look: answer({tried: [no('ETIMEDOUT')]})}, hop: 'name', seen: /does not answer/, todo: /troupe tree/},
	'a policy is for the endpoints, and its rules do not let FROM through': {
		facts: {tries: tried(no('EHOSTUNREACH'), no('EHOSTUNREACH'), yes), policies: [policy('closed', ['Ingress'], {app: 'web'})]},
		hop: 'policy',
		seen: /10\.244\.1\.2:8000 is refused by a NetworkPolicy: closed for what comes to pod near/,
		todo: /troupe describe networkpolicy closed -n default/,
	},
	'a policy is for FROM': {
		facts: {tries: tried(no('EHOSTUNREACH'), no('EHOSTUNREACH'), yes), policies: [policy('quiet', ['Egress'], {})]},
		hop: 'policy',
		seen: /quiet for what pod asker sends/,
		todo: /quiet/,
	},
	'no policy is for either of them': {
		facts: {
			tries: tried(yes, no('EHOSTUNREACH'), yes),
			policies: [policy('other', ['Ingress'], {app: 'other'})],
			home: new Map([['10.244.2.2:8000', yes]]),
		},
		hop: 'way',
		seen: /not reached/,
		todo: /8472/,
	},
	'the overlay is cut': {
		facts: {tries: tried(yes, no('ETIMEDOUT'), yes), home: new Map([['10.244.2.2:8000', yes]])},
		hop: 'way',
		seen: /pods of node b are not reached by the overlay vxlan, and they answer on their own node/,
		todo: /UDP port 8472 through between 192\.0\.2\.1 and 192\.0\.2\.2/,
	},
	'nothing listens at targetPort': {
		facts: {tries: tried(no('ECONNREFUSED'), yes, yes), home: new Map([['10.244.1.2:8000', no('ECONNREFUSED')]])},
		hop: 'connect',
		seen: /10\.244\.1\.2:8000 of pod near: refused, nothing listens there/,
		todo: /must listen at port 8000 of 0\.0\.0\.0 or of POD_IP/,
	},
	'a program listens on loopback alone': {
		facts: {tries: tried(no('ECONNREFUSED'), yes, yes), home: new Map([['10.244.1.2:8000', yes]])},
		hop: 'connect',
		seen: /refused/,
		todo: /answers in its own pod/,
	},
	'a program hangs, on another node': {
		facts: {tries: tried(yes, no('ETIMEDOUT'), yes), home: new Map([['10.244.2.2:8000', no('ETIMEDOUT')]])},
		hop: 'connect',
		seen: /of pod far: no answer within 2 s/,
		todo: /takes no connections now: troupe logs far/,
	},
	'endpoints answer and the Service does not': {
		facts: {tries: tried(yes, yes, no('ECONNREFUSED'))},
		hop: 'address',
		seen: /endpoints answer, and 10\.96\.0\.7:80, the address of the Service, does not/,
		todo: /nft list ruleset/,
	},
};

for (const [title, {facts, hop, seen, todo}] of Object.entries(faults))
	test(`the hop that fails is named: ${title}`, t => {
		const hops = judge({...well, ...facts});
		const last = hops.at(-1);
		t.deepEqual([last?.hop, last?.state], [hop, 'failed'], JSON.stringify(hops));
		t.regex(last?.seen ?? '', seen);
		t.regex(last?.todo ?? '', todo);
		t.true(hops.slice(0, -1).every(({state}) => state !== 'failed'));
	});

test('of a UDP port it is said that nothing can be seen of it', t => {
	const udp = service({ports: [{name: 'dns', port: 53, protocol: 'UDP'}]});
	const hops = judge({
		...well,
		target: target({service: udp, slices: [slice(endpoints, [{name: 'dns', port: 53, protocol: 'UDP'}])]}),
		look: answer({service: {ports: [{port: 53, protocol: 'UDP', endpoints: used, leftOut: []}]}}),
		tries: undefined as never,
	});
	t.deepEqual(named(hops).slice(-2), ['leads to', 'connect skipped']);
});

test('a pod of a node whose pods share its network is not reached from another', t => {
	const shared = new Map(
		[nodeOf('a', '192.0.2.1', [ready], 'shared'), nodeOf('b', '192.0.2.2', [ready], 'shared')].map(node => [node.metadata.name, node]),
	);
	const pod: Target = {kind: 'pod', namespace: 'default', name: 'far', port: 8000, pod: far, hint: ''};
	const origin = {pod: near, node: shared.get('a'), hint: ''};
	const hops = judge({...well, nodes: shared, origin, target: pod, look: undefined as never, tries: undefined as never});
	t.deepEqual(named(hops), ['from', 'node', 'to', 'ready', 'way failed']);
	t.regex(hops.at(-1)?.todo ?? '', /--network routed/);
});

test('endpoints of a node behind NAT are not tried: the address of the Service leads there', t => {
	const b = nodeOf('b', '192.0.2.2');
	const relayed = {...b, status: {...b.status, network: {...b.status?.network, reach: 'relayed'}}} as NodeObject;
	const hops = judge({...well, nodes: new Map([...nodes, ['b', relayed]]), tries: tried(yes, yes)});
	t.deepEqual(named(hops).slice(-3), ['leads to', 'connect', 'address']);
});

test('a route: no such host, the router itself, the service behind it', t => {
	const to = {kind: 'route', host: 'shop.test', path: '/api'} as const;
	const none = judge({...well, to, route: {found: null, hint: '; did you mean "shop.test"?'}});
	t.regex(none.at(-1)?.seen ?? '', /no Dns and no Ingress has a route for \/api of shop\.test; did you mean/);
	const found = {kind: 'Dns', namespace: 'default', name: 'shop', backends: [{namespace: 'default', service: 'web', port: 80}]} as const;
	const last = (result: WayTried): Hop | undefined => judge({...well, to, route: {found, hint: ''}, tries: tried(yes, yes, result)}).at(-1);
	t.like(last({ok: true, status: 200}), {
		state: 'ok',
		seen: 'the router at 169.254.1.1:8080 leads /api of shop.test to web, which answers with status 200',
	});
	t.like(last({ok: true, status: 502, page: '502 Bad Gateway: no endpoint could be reached'}), {hop: 'router', state: 'failed'});
	t.like(last(no('ENOTHERE')), {hop: 'router', state: 'failed', seen: 'node a has no router'});
});

test('the route is the one that routers take', t => {
	const dns = (name: string, host: string, at: string, paths: readonly object[]): Dns =>
		({metadata: {name, namespace: 'default', creationTimestamp: at}, spec: {host, paths}}) as unknown as Dns;
	const dnses = [
		dns('young', 'shop.test', '2026-01-02T00:00:00Z', [{subPath: '/api', svcName: 'other', svcPort: 1}]),
		dns('old', 'shop.test', '2026-01-01T00:00:00Z', [
			{subPath: '/', svcName: 'web', svcPort: 80},
			{subPath: '/api', svcName: 'api', svcPort: 8000},
		]),
	];
	const ingresses: readonly Ingress[] = [];
	t.like(routeIn(dnses, ingresses, 'shop.test', '/api/x?y').found, {name: 'old', backends: [{service: 'api', port: 8000}]});
	t.like(routeIn(dnses, ingresses, 'shop.test', '/apis').found, {name: 'old', backends: [{service: 'web'}]});
	t.deepEqual(routeIn(dnses, ingresses, 'shpo.test', '/'), {found: null, hint: '; did you mean "shop.test"?'});
});

test('FROM and TO are read, and what is neither is refused with their forms', t => {
	t.deepEqual(fromPlaceOf('pod/web', 'ns'), {kind: 'pod', namespace: 'ns', name: 'web'});
	t.deepEqual(fromPlaceOf('node/a', 'ns'), {kind: 'node', name: 'a'});
	t.deepEqual(toPlaceOf('svc/db:5432', 'ns'), {kind: 'service', namespace: 'ns', name: 'db', port: 5432});
	t.deepEqual(toPlaceOf('pod/db:http', 'ns'), {kind: 'pod', namespace: 'ns', name: 'db', port: 'http'});
	t.deepEqual(toPlaceOf('db.other.svc.cluster.local:80', 'ns'), {kind: 'service', namespace: 'other', name: 'db', port: 80});
	t.deepEqual(toPlaceOf('http://Shop.example.com/api?x=1', 'ns'), {kind: 'route', host: 'shop.example.com', path: '/api?x=1'});
	t.deepEqual(toPlaceOf('10.0.0.7:443', 'ns'), {kind: 'address', address: '10.0.0.7', port: 443});
	for (const wrong of ['deployment/web', 'pod/', 'pod/A_B', 'pod/a/b', ''])
		t.throws(() => fromPlaceOf(wrong, 'ns'), {instanceOf: AppError}, wrong);
	for (const wrong of [
		'deployment/web',
		'service/',
		'service/a:',
		'service/a:0',
		'pod/a:70000',
		'10.0.0.7',
		'10.0.0.7:0',
		'web',
		'a.b:80',
		'a.b/ c',
		'service/a/b',
	])
		t.throws(() => toPlaceOf(wrong, 'ns'), {instanceOf: AppError}, wrong);
});

test('each hop is a line, and what others wrote breaks none', t => {
	const plain = (text: string): string => text;
	const colours = {green: plain, red: plain, yellow: plain} as never;
	t.is(
		drawHops(
			[
				{hop: 'from', state: 'ok', seen: 'a\nb'},
				{hop: 'port', state: 'failed', seen: 'none', todo: 'add it'},
			],
			colours,
		),
		'ok       from        a b\nfailed   port        none\n                     → add it\n',
	);
});
