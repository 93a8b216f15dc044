// Services: addresses that are given once, and slices that say what the pods of a selector are.

import test from 'ava';
import {service as serviceKind} from '../../api/kinds/service.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service, ServiceSpec} from '../../api/kinds/service.js';
import type {ApiObject, Draft} from '../../api/object.js';
import {collectionBehavior} from '../../actors/control/objects/collection.js';
import {serviceController} from '../../actors/control/network/service.js';
import type {Context, Effect, Message} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {committed} from '../api/_objects.js';
import {aContainer, aNamespace, aNode, aPod, contextWith, drop, indexOf, put} from './_objects.js';
import {tellRecord} from './_records.js';

const aDraft = (name: string, spec: Partial<ServiceSpec> = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name, namespace: 'default'},
	spec: {ports: [{port: 80}], ...spec},
});

/** As a version kept it that gave no addresses, unless the spec names them. */
const aService = (spec: Partial<ServiceSpec> = {}, name = 'web'): Service => {
	const object = committed(aDraft(name, {selector: {app: 'web'}, ...spec}), {loadBalancer: {}}) as Service;
	return {...object, metadata: {...object.metadata, uid: `uid-of-${name}`}};
};

// ---- addresses -----------------------------------------------------------------------------------------------------------

const collection = collectionBehavior(serviceKind, serviceController);
type State = ReturnType<typeof collection.init>['state'];

/** The collection over an index that tests write to; records live until they are said to be over. */
function collectionOver(index: ObjectIndex) {
	let state: State | undefined;
	const children = new Set<string>();
	const tell = (message: Message): readonly Effect[] => {
		const context: Context = contextWith(index, {self: 'troupe://control/services', hasChild: name => children.has(name)});
		const played =
			state === undefined ? play(collection, null, [message as never], context) : playFrom(collection, state, [message as never], context);
		state = played.state;
		const effects = played.effects.filter(effect => effect.type !== 'spawn' || effect.input !== undefined);
		for (const effect of effects) if (effect.type === 'spawn' && !effect.name.startsWith('dry-run')) children.add(effect.name);
		return effects;
	};
	const create = (draft: Draft, dryRun = false): ServiceSpec | string => {
		const [effect] = tell({type: 'create', object: draft, dryRun, replyTo: {to: 'troupe://control/x', as: 'x', id: '1'}} as Message);
		if (effect?.type === 'spawn') return (effect.input as {readonly object: Draft}).object.spec as ServiceSpec;
		return effect?.type === 'reply' && !effect.outcome.ok ? effect.outcome.error.message : '';
	};
	return {tell, create, end: (child: string) => children.delete(child)};
}

const addressIn = (spec: ServiceSpec | string): string => (typeof spec === 'string' ? spec : (spec.clusterIP ?? ''));
const nodePortIn = (spec: ServiceSpec | string): number => (typeof spec === 'string' ? 0 : (spec.ports?.[0]?.nodePort ?? 0));

const small = (): ObjectIndex =>
	indexOf(
		aNamespace(),
		committed({
			apiVersion: 'troupe.dev/v1',
			kind: 'ClusterConfig',
			metadata: {name: 'cluster'},
			spec: {network: {serviceCIDR: '10.96.0.0/28', nodePorts: '30000-30002'}},
		}),
	);

test('creates that are not committed yet have addresses and node ports of their own, until nothing is left', t => {
	const {create, end} = collectionOver(small());
	const specs = ['a', 'b', 'c'].map(name => create(aDraft(name, {type: 'NodePort'})));
	t.is(new Set(specs.map(addressIn)).size, 3);
	t.deepEqual(specs.map(nodePortIn).sort(), [30_000, 30_001, 30_002]);
	t.is(create(aDraft('d', {type: 'NodePort'})), 'spec: nothing of 30000-30002 is free');
	// Its record ended without an object.
	end('default.b');
	t.is(nodePortIn(create(aDraft('d', {type: 'NodePort'}))), nodePortIn(specs[1] ?? ''));
});

test('an address is taken until the removal is committed, and what was given back comes last', t => {
	const index = small();
	const {create, end} = collectionOver(index);
	const given: string[] = [];
	for (let i = 0; i < 14; i++) {
		const address = addressIn(create(aDraft(`s${i}`)));
		given.push(address);
		put(index, aService({clusterIP: address}, `s${i}`));
	}
	t.is(new Set(given).size, 14);
	t.false(given.includes('10.96.0.0') || given.includes('10.96.0.15'));
	t.is(create(aDraft('late')), 'spec: nothing of 10.96.0.0/28 is free');
	for (const i of [7, 3]) {
		drop(index, aService({}, `s${i}`));
		end(`default.s${i}`);
	}
	t.is(addressIn(create(aDraft('late'))), String(given[3]));
	t.is(addressIn(create(aDraft('later'))), String(given[7]));
});

test('an address that was given back is not the next one that is given', t => {
	const index = small();
	const {create, end} = collectionOver(index);
	const first = addressIn(create(aDraft('a')));
	put(index, aService({clusterIP: first}, 'a'));
	drop(index, aService({}, 'a'));
	end('default.a');
	t.not(addressIn(create(aDraft('b'))), first);
});

test('what is wanted is given where it is free and of the range', t => {
	const index = small();
	put(index, aService({clusterIP: '10.96.0.9', type: 'NodePort', ports: [{port: 80, nodePort: 30_001}]}, 'old'));
	const {create} = collectionOver(index);
	const port = (nodePort: number): Partial<ServiceSpec> => ({type: 'NodePort', ports: [{port: 80, nodePort}]});
	t.is(addressIn(create(aDraft('a', {clusterIP: '10.96.0.5'}))), '10.96.0.5');
	t.is(create(aDraft('b', {clusterIP: '10.96.0.5'})), 'spec.clusterIP: another service has "10.96.0.5" already');
	t.is(create(aDraft('b', {clusterIP: '10.96.0.9'})), 'spec.clusterIP: another service has "10.96.0.9" already');
	t.is(create(aDraft('b', {clusterIP: '10.97.0.9'})), 'spec.clusterIP: must be in 10.96.0.0/28, got "10.97.0.9"');
	t.is(create(aDraft('b', port(30_001))), 'spec.ports[0].nodePort: another service has 30001 already');
	t.is(create(aDraft('b', port(80))), 'spec.ports[0].nodePort: must be in 30000-30002, got 80');
	t.is(nodePortIn(create(aDraft('b', port(30_002)))), 30_002);
});

test('a trial takes nothing, and a service without an address gets none', t => {
	const {create} = collectionOver(small());
	const tried = addressIn(create(aDraft('a'), true));
	t.is(addressIn(create(aDraft('b'))), tried);
	t.is(addressIn(create(aDraft('c', {clusterIP: 'None'}))), 'None');
	t.is(addressIn(create(aDraft('d', {type: 'ExternalName', externalName: 'a.b'}))), '');
});

const told = (effects: readonly Effect[], type: string): (Message & {readonly object?: ApiObject}) | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === type ? [effect.message] : []))[0];

test('a stored service without an address asks for one, and its record commits what the collection gives', t => {
	const index = small();
	const old = aService();
	put(index, old);
	const asked = told(tellRecord(old, [{type: 'wake'}], contextWith(index)).effects, 'patch');
	t.truthy(asked);
	const change = told(tellRecord(old, [{...asked, type: 'patch'}], contextWith(index)).effects, 'allot');
	const back = told(collectionOver(index).tell(change as Message), 'allotted');
	const {object} = tellRecord(old, [back as Message & {type: 'allotted'}], contextWith(index));
	t.regex((object as Service).spec?.clusterIP ?? '', /^10\.96\.0\.\d+$/);
	t.deepEqual((object as Service).spec?.clusterIPs, [(object as Service).spec?.clusterIP]);
});

test('a service that becomes one with node ports gets them in the answer; one that has all it needs asks for nothing', t => {
	const index = small();
	const before = aService({clusterIP: '10.96.0.3'});
	put(index, before);
	const change = told(tellRecord(before, [{type: 'patch', patch: {spec: {type: 'NodePort'}}}], contextWith(index)).effects, 'allot');
	const back = told(collectionOver(index).tell(change as Message), 'allotted');
	const replyTo = {to: 'troupe://control/x', as: 'x', id: '1'};
	const said = {...back, message: {...(back as Message & {message: Message}).message, replyTo}} as unknown as Message;
	const {object, effects} = tellRecord(before, [said], contextWith(index));
	t.true(((object as Service).spec?.ports?.[0]?.nodePort ?? 0) >= 30_000);
	t.deepEqual(effects, [{type: 'replySelf', to: replyTo}]);
	const {effects: none} = tellRecord(before, [{type: 'patch', patch: {spec: {selector: {app: 'x'}}}}], contextWith(index));
	t.is(told(none, 'allot'), undefined);
});

test('a change that comes back after another one is looked at anew', t => {
	const index = small();
	const before = aService({clusterIP: '10.96.0.3'});
	const message = {type: 'patch', patch: {spec: {type: 'NodePort'}}} as const;
	const {effects, object} = tellRecord(before, [{type: 'allotted', object: before, over: '6', message}], contextWith(index));
	t.is(object, before);
	t.truthy(told(effects, 'allot'));
});

// ---- slices --------------------------------------------------------------------------------------------------------------

const ready = [{type: 'Ready', status: 'True'}] as const;

const servingPod = (name: string, more: {readonly metadata?: object; readonly spec?: object; readonly status?: object} = {}): Pod =>
	aPod({
		name,
		metadata: {labels: {app: 'web'}, ...more.metadata},
		spec: {nodeName: 'node-a', ...more.spec},
		status: {phase: 'Running', podIP: `10.0.0.${name.length}`, conditions: ready, ...more.status},
	});

const seenNode = (reason = 'AgentReady', status: 'True' | 'Unknown' = 'True'): NodeObject => {
	const node = aNode();
	return {...node, status: {...node.status, conditions: [{type: 'Ready', status, reason}]}};
};

const addressed = (spec: Partial<ServiceSpec> = {}): Service => aService({clusterIP: '10.96.0.3', ...spec});

/** What its record asks for. */
const wanted = (service: Service, index: ObjectIndex): readonly Effect[] =>
	tellRecord(service, [{type: 'wake'}], contextWith(index)).effects.filter(({type}) => ['create', 'update', 'delete'].includes(type));

const created = (effects: readonly Effect[]): readonly EndpointSlice[] =>
	effects.flatMap(effect => (effect.type === 'create' ? [effect.object as unknown as EndpointSlice] : []));

/** Commits what is asked for, as the record of slices would. */
function perform(index: ObjectIndex, effects: readonly Effect[]): void {
	effects.forEach((effect, i) => {
		if (effect.type === 'create') {
			const name = `${effect.object.metadata.generateName ?? ''}${[...index.list('endpointslices')].length}${i}`;
			const uid = `uid-of-${name}`;
			const object = committed({...effect.object, metadata: {...effect.object.metadata, name}});
			put(index, {...object, metadata: {...object.metadata, uid}});
		}
		if (effect.type === 'update') {
			const {endpoints} = (effect.message as Message & {patch: {endpoints: EndpointSlice['endpoints']}}).patch;
			put(index, {...(index.get(effect.key) as EndpointSlice), endpoints} as ApiObject);
		}
		const gone = effect.type === 'delete' ? index.get(effect.key) : undefined;
		if (gone !== undefined) drop(index, gone);
	});
}

const conditionsOf = (index: ObjectIndex, service = addressed()): unknown =>
	Object.fromEntries(
		created(wanted(service, index)).flatMap(({endpoints}) => endpoints.map(({targetRef, conditions}) => [targetRef?.name, conditions])),
	);

test('each pod is said to be what it is', t => {
	const index = indexOf(
		seenNode(),
		servingPod('a'),
		servingPod('bb', {status: {conditions: []}}),
		servingPod('ccc', {metadata: {deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30}}),
		servingPod('over', {status: {phase: 'Succeeded'}}),
		servingPod('early', {status: {podIP: undefined}}),
		servingPod('other', {metadata: {labels: {app: 'db'}}}),
	);
	t.deepEqual(conditionsOf(index), {
		a: {ready: true, serving: true, terminating: false},
		bb: {ready: false, serving: false, terminating: false},
		ccc: {ready: false, serving: true, terminating: true},
	});
	t.like(conditionsOf(index, addressed({publishNotReadyAddresses: true})), {bb: {ready: true}, ccc: {ready: true}});
});

test('a slice names its service, its owner and its ports', t => {
	const index = indexOf(seenNode(), servingPod('a'));
	t.like(created(wanted(addressed({ports: [{name: 'http', port: 80, targetPort: 8080}]}), index))[0], {
		addressType: 'IPv4',
		metadata: {
			generateName: 'web-',
			labels: {'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'troupe.dev'},
			ownerReferences: [{kind: 'Service', name: 'web', controller: true}],
		},
		ports: [{name: 'http', port: 8080, protocol: 'TCP'}],
		endpoints: [{addresses: ['10.0.0.1'], nodeName: 'node-a', targetRef: {kind: 'Pod', name: 'a', uid: 'uid-of-a'}}],
	});
});

test('pods of a silent node are not ready, and serve nobody once it is lost; those of an agent that restarts go on, and all come back', t => {
	const readyOn = (node: NodeObject): unknown => conditionsOf(indexOf(node, servingPod('a')));
	const out = {a: {ready: false, serving: false, terminating: false}};
	const tried = {a: {ready: false, serving: true, terminating: false}};
	const serves = {a: {ready: true, serving: true, terminating: false}};
	t.deepEqual(readyOn(seenNode('NodeSuspect', 'Unknown')), tried);
	t.deepEqual(readyOn(seenNode('NodeLost', 'Unknown')), out);
	t.deepEqual(readyOn(seenNode('AgentRestarting', 'Unknown')), serves);
	t.deepEqual(readyOn(seenNode('NodeStatusUnknown', 'Unknown')), serves);
	t.deepEqual(readyOn(seenNode()), serves);
	const known = indexOf(addressed(), servingPod('a'));
	const watch = serviceController.watches?.['nodes'];
	t.is([...(watch?.({before: seenNode(), after: seenNode('NodeSuspect', 'Unknown')}, known) ?? [])].length, 1);
	t.is([...(watch?.({before: seenNode(), after: {...seenNode(), spec: {unschedulable: true}}}, known) ?? [])].length, 0);
});

test('pods that call different ports by one name are in different slices, and those that name none are in none', t => {
	const named = (containerPort: number, name = 'http', protocol: 'TCP' | 'UDP' = 'TCP') => ({
		spec: {containers: [aContainer({ports: [{name, containerPort, protocol}]})]},
	});
	const index = indexOf(
		seenNode(),
		servingPod('a', named(8080)),
		servingPod('bb', named(9090)),
		servingPod('ccc', named(8080, 'admin')),
		servingPod('dddd', named(8080, 'http', 'UDP')),
	);
	const slices = created(wanted(addressed({ports: [{port: 80, targetPort: 'http'}]}), index));
	t.deepEqual(
		slices.map(({ports, endpoints}) => [ports?.[0]?.port, endpoints.map(({targetRef}) => targetRef?.name)]),
		[
			[8080, ['a']],
			[9090, ['bb']],
		],
	);
});

test('at most a hundred are in a slice, one change is one write, and who stays stays in its slice', t => {
	const index = indexOf(seenNode(), addressed());
	for (let i = 0; i < 250; i++) put(index, servingPod(`p${i}`, {status: {podIP: `10.1.0.${i}`}}));
	perform(index, wanted(addressed(), index));
	const sizes = (): number[] => ([...index.list('endpointslices')] as EndpointSlice[]).map(({endpoints}) => endpoints.length);
	t.deepEqual(sizes(), [100, 100, 50]);
	t.deepEqual(wanted(addressed(), index), []);
	put(index, servingPod('p120', {status: {podIP: '10.1.0.120', conditions: []}}));
	const effects = wanted(addressed(), index);
	t.deepEqual(
		effects.map(({type}) => type),
		['update'],
	);
	perform(index, effects);
	drop(index, servingPod('p5'));
	put(index, servingPod('new', {status: {podIP: '10.2.0.1'}}));
	// The new one takes the place of the one that is gone: one slice is written.
	t.is(wanted(addressed(), index).length, 1);
	for (let i = 0; i < 250; i++) drop(index, servingPod(`p${i}`));
	perform(index, wanted(addressed(), index));
	t.deepEqual(sizes(), [1]);
});

test('a service without pods has one empty slice; one without a selector has its users’ alone', t => {
	const index = indexOf(seenNode());
	t.deepEqual(
		created(wanted(addressed(), index)).map(({endpoints}) => endpoints),
		[[]],
	);
	perform(index, wanted(addressed(), index));
	t.deepEqual(wanted(addressed(), index), []);
	const theirs = {
		apiVersion: 'discovery.k8s.io/v1',
		kind: 'EndpointSlice',
		metadata: {name: 'mine', namespace: 'default', labels: {'kubernetes.io/service-name': 'web'}},
		addressType: 'IPv4',
		endpoints: [{addresses: ['10.9.9.9']}],
	};
	const manual = {...addressed(), spec: {...addressed().spec, selector: {}}} as Service;
	t.deepEqual(wanted(manual, indexOf(committed(theirs))), []);
});

test('while a write is open nothing is asked for; after a crash the same is', t => {
	const index = indexOf(seenNode(), servingPod('a'));
	const service = addressed();
	const open = wanted(service, index)[0];
	t.truthy(open);
	const pending = new Map([['x', open as never]]);
	t.deepEqual(tellRecord(service, [{type: 'wake'}], contextWith(index, {pending})).effects, []);
	t.deepEqual(wanted(service, index), [open]);
});

test('a load balancer has the addresses of nodes that are heard, or of those with endpoints', t => {
	const at = (name: string, address: string, reason = 'AgentReady', status: 'True' | 'Unknown' = 'True'): NodeObject => {
		const node = seenNode(reason, status);
		const nodeInfo = (aNode().status?.nodeInfo ?? {}) as never;
		return {
			...node,
			metadata: {...node.metadata, name, uid: `uid-of-${name}`},
			status: {...node.status, nodeInfo, addresses: [{type: 'InternalIP', address}]},
		};
	};
	const index = indexOf(
		at('node-a', '10.0.1.1'),
		at('node-b', '10.0.1.2'),
		at('node-c', '10.0.1.3', 'NodeSuspect', 'Unknown'),
		servingPod('a'),
	);
	const ingress = (service: Service): unknown => {
		const {object} = tellRecord(service, [{type: 'wake'}], contextWith(index));
		return (object as Service).status?.loadBalancer?.ingress;
	};
	const balanced = addressed({type: 'LoadBalancer', ports: [{port: 80, nodePort: 30_001}]});
	t.deepEqual(ingress(balanced), [{ip: '10.0.1.1'}, {ip: '10.0.1.2'}]);
	const local = addressed({type: 'LoadBalancer', ports: [{port: 80, nodePort: 30_001}], externalTrafficPolicy: 'Local'});
	put(index, local);
	perform(index, wanted(local, index));
	t.deepEqual(ingress(local), [{ip: '10.0.1.1'}]);
});

test('only pods that change what a slice says wake services', t => {
	const known = indexOf(addressed(), aService({selector: {app: 'db'}}, 'db'));
	const woken = (before: Pod | undefined, after: Pod | undefined): readonly string[] =>
		[...(serviceController.watches?.['pods']?.({before, after}, known) ?? [])].map(({metadata}) => metadata.name);
	const pod = servingPod('a');
	t.deepEqual(woken(undefined, pod), ['web']);
	t.deepEqual(woken(pod, {...pod, status: {...pod.status, phase: 'Running', startTime: 'x'}}), []);
	t.deepEqual(woken(pod, {...pod, metadata: {...pod.metadata, deletionTimestamp: 'x'}}), ['web']);
	t.deepEqual(woken(pod, {...pod, metadata: {...pod.metadata, labels: {app: 'db'}}}), ['web', 'db']);
	t.deepEqual(woken(pod, undefined), ['web']);
});
