// What every node that serves traffic is told of the network, that it is told no more than that, and how its node hands it on.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {Ingress} from '../../api/kinds/ingress.js';
import type {Service} from '../../api/kinds/service.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {nodeDispatcher, type NodeDispatcherMessage, type NodeDispatcherState} from '../../actors/control/sync/node-dispatcher.js';
import {wakesOf} from '../../actors/control/wakes.js';
import {configCopy} from '../../actors/node/cache/config-copy.js';
import {network, type NetworkMessage, type NetworkState} from '../../actors/node/network/network.js';
import type {NetworkCommand} from '../../actors/node/runtime/network-port.js';
import {syncClient} from '../../actors/node/sync/sync-client.js';
import type {NetworkObject} from '../../actors/protocol/network-object.js';
import type {Delta, DeltaEntry, Hello} from '../../actors/protocol/sync-message.js';
import type {Effect, Message} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {play, playContext, playFrom, type Played} from '../../system/kernel/play.js';
import {aHello, aRuntimeInfo} from './_agent.js';
import {cacheOf} from './_config.js';
import {aNode, before, contextWith, drop, indexOf, put} from './_objects.js';

const info = {pods: 'shared', services: 'proxy'} as const;
const serving = (name: string) => aNode({name, status: {network: info, addresses: [{type: 'InternalIP', address: '10.0.0.1'}]}});
const metadata = (name: string, labels = {}): ApiObject['metadata'] => ({
	name,
	namespace: 'default',
	uid: `uid-of-${name}`,
	resourceVersion: '1',
	generation: 1,
	creationTimestamp: before,
	labels,
});
const aService = (port = 80, status: Service['status'] = {loadBalancer: {}}): Service => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: metadata('web'),
	spec: {clusterIP: '10.96.0.7', ports: [{port, protocol: 'TCP'}]},
	status,
});
const aSlice = (...addresses: string[]): EndpointSlice => ({
	apiVersion: 'discovery.k8s.io/v1',
	kind: 'EndpointSlice',
	metadata: metadata('web-abcde', {'kubernetes.io/service-name': 'web'}),
	addressType: 'IPv4',
	endpoints: addresses.map(address => ({addresses: [address]})),
	ports: [{port: 8080}],
});
const serviceKey = 'services/default/web';
const sliceKey = 'endpointslices/default/web-abcde';

// ---- control -----------------------------------------------------------------------------------------------------------------

const sync = 'troupe://control/sync/';
const dirtied = (index: ObjectIndex, change: ReturnType<typeof put>): string[] =>
	wakesOf(change, index).flatMap(({to, message}) =>
		message.type === 'dirty' ? [`${to.slice(sync.length)} ${(message as Message & {key: string}).key}`] : [],
	);

test('a change of the network is told to each node that serves traffic, and to none that does not', t => {
	const index = indexOf(serving('node-a'), aNode({name: 'old'}), serving('node-b'));
	t.deepEqual(dirtied(index, put(index, aService())), [`node-a ${serviceKey}`, `node-b ${serviceKey}`]);
	t.deepEqual(dirtied(index, put(index, aSlice('10.0.0.3'))), [`node-a ${sliceKey}`, `node-b ${sliceKey}`]);
	t.deepEqual(dirtied(index, drop(index, aService())), [`node-a ${serviceKey}`, `node-b ${serviceKey}`]);
});

test('a status is no news for them, nor are labels; an address of a node is', t => {
	const index = indexOf(serving('node-a'), aService());
	t.deepEqual(dirtied(index, put(index, aService(80, {loadBalancer: {ingress: [{ip: '10.0.0.1'}]}}))), []);
	t.deepEqual(dirtied(index, put(index, {...aService(), metadata: metadata('web', {tier: 'front'})})), []);
	t.deepEqual(dirtied(index, put(index, aService(81))), [`node-a ${serviceKey}`]);
	const {status, ...node} = serving('node-a');
	t.deepEqual(dirtied(index, put(index, {...node, status: {...status, conditions: []}})), []);
	t.deepEqual(dirtied(index, put(index, {...node, status: {...status, addresses: [{type: 'InternalIP', address: '10.0.0.2'}]}})), [
		'node-a nodes/_/node-a',
	]);
});

const input = {node: 'node-a', epoch: 7, lineage: 'ours', version: '0.1.0'};
const around = (known: ObjectIndex) => contextWith(known, {self: `${sync}node-a`});
const greet = (known: ObjectIndex, hello: Partial<Hello> = {}): Played<NodeDispatcherState> =>
	play(nodeDispatcher, input, [aHello({info: aRuntimeInfo({network: info}), ...hello})], around(known));
const entriesOf = (effects: readonly Effect[]): DeltaEntry[] =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'delta' ? (effect.message as Delta).entries : []));

test('a node gets the small form of all of it at its hello, and one of before there was a network gets nothing', t => {
	const index = indexOf(serving('node-a'), aService(), aSlice('10.0.0.3'), {...aSlice('10.0.0.9'), metadata: metadata('of-nobody')});
	t.deepEqual(
		entriesOf(greet(index).effects).map(({key, named}) => [key, named?.type === 'network' ? named.object : named]),
		[
			[serviceKey, {type: 'service', namespace: 'default', name: 'web', spec: aService().spec}],
			[
				sliceKey,
				{
					type: 'endpoints',
					namespace: 'default',
					name: 'web-abcde',
					service: 'web',
					addressType: 'IPv4',
					endpoints: [{addresses: ['10.0.0.3']}],
					ports: [{port: 8080}],
				},
			],
			['nodes/_/node-a', {type: 'node', name: 'node-a', addresses: ['10.0.0.1'], pods: 'shared', podCIDR: undefined}],
		] as unknown[],
	);
	t.deepEqual(entriesOf(greet(index, {info: aRuntimeInfo()}).effects), []);
});

test('what a node has already is not sent again, what is gone is taken from it, and all of it where it serves no traffic any more', t => {
	const index = indexOf(serving('node-a'), aService());
	const first = entriesOf(greet(index).effects);
	const have = Object.fromEntries(first.map(({key, version}) => [key, version]));
	t.deepEqual(entriesOf(greet(index, {have}).effects), []);
	t.deepEqual(
		entriesOf(greet(index, {have: {...have, [sliceKey]: 'x'}}).effects).map(({key, named}) => [key, named]),
		[[sliceKey, null]],
	);
	t.deepEqual(
		entriesOf(greet(index, {have, info: aRuntimeInfo()}).effects).map(({key, named}) => [key, named]),
		[
			[serviceKey, null],
			['nodes/_/node-a', null],
		],
	);
});

test('what changed between a hello and the record of it is told once the record is there', t => {
	const index = indexOf();
	const greeted = greet(index);
	put(index, serving('node-a'));
	put(index, aService());
	const heard: NodeDispatcherMessage = {type: 'heardTaken', id: 'heard', outcome: succeeded(null)};
	const {effects} = playFrom(nodeDispatcher, greeted.state, [heard], around(index));
	t.deepEqual(
		entriesOf(effects).map(({key}) => key),
		[serviceKey, 'nodes/_/node-a'],
	);
});

test('what went between a hello and the record of it is taken from the node once the record is there', t => {
	const index = indexOf(aService(), aSlice('10.0.0.3'));
	const greeted = greet(index);
	put(index, serving('node-a'));
	drop(index, aService());
	const heard: NodeDispatcherMessage = {type: 'heardTaken', id: 'heard', outcome: succeeded(null)};
	const {effects} = playFrom(nodeDispatcher, greeted.state, [heard], around(index));
	t.deepEqual(
		entriesOf(effects).map(({key, named}) => [key, named === null]),
		[
			[serviceKey, true],
			['nodes/_/node-a', false],
		],
	);
});

// ---- node --------------------------------------------------------------------------------------------------------------------

const object: NetworkObject = {type: 'service', namespace: 'default', name: 'web', spec: {clusterIP: '10.96.0.7'}};
const copy = {type: 'network', object} as const;
const self = 'troupe://node-a/network';

test('what is kept is told to the actor of the network once it is committed, its end too', t => {
	const context = playContext({self: 'troupe://node-a/named/services.default.web'});
	const kept = play(configCopy, {type: 'keepConfig', key: serviceKey, version: '1', named: copy}, [], context);
	t.deepEqual(kept.effects, [{type: 'tell', to: self, message: {type: 'networkChanged', key: serviceKey}}]);
	const gone = playFrom(configCopy, kept.state, [{type: 'keepConfig', key: serviceKey, version: '', named: null}], context);
	t.is(gone.object, undefined);
	t.deepEqual(gone.effects, [{type: 'tell', to: self, message: {type: 'networkChanged', key: serviceKey}}]);
});

const begin = (known = cacheOf({[serviceKey]: copy})): Played<NetworkState> => play(network, null, [], playContext({self, known}));
const then = ({state}: Played<NetworkState>, known: ObjectIndex, ...messages: readonly NetworkMessage[]): Played<NetworkState> =>
	playFrom(network, state, messages, playContext({self, known}));
const commands = ({effects}: Played<NetworkState>): NetworkCommand[] =>
	effects.flatMap(effect => (effect.type === 'perform' ? [effect.command as NetworkCommand] : []));
const taken: NetworkMessage = {type: 'networkTaken', id: 'network', outcome: succeeded(null)};
const notTaken: NetworkMessage = {type: 'networkTaken', id: 'network', outcome: failed('ERR_RUNTIME', {message: 'no data plane'})};
const changed = (key: string): NetworkMessage => ({type: 'networkChanged', key});

test('at its start it tells all the cache has, and nothing else while that is under way', t => {
	const known = cacheOf({[serviceKey]: copy});
	const begun = begin(known);
	t.deepEqual(commands(begun), [
		{type: 'network.enforce', policies: []},
		{type: 'network.replace', changes: [{key: serviceKey, object}]},
	]);
	// But to rules of the kernel.
	t.deepEqual(commands(then(begun, known, changed(serviceKey))), [{type: 'network.learn', changes: [{key: serviceKey, object}]}]);
});

test('policies go by themselves, before all else and while something else is under way', t => {
	const policyKey = 'networkpolicies/default/p';
	const policy: NetworkObject = {type: 'policy', namespace: 'default', name: 'p', pods: [{uid: 'u'}], ingress: []};
	const known = cacheOf({[serviceKey]: copy, [policyKey]: {type: 'network', object: policy}});
	const begun = begin(known);
	t.deepEqual(commands(begun), [
		{type: 'network.enforce', policies: [policy]},
		{type: 'network.replace', changes: [{key: serviceKey, object}]},
	]);
	const later = then(begun, cacheOf({[serviceKey]: copy}), changed(policyKey));
	t.deepEqual(commands(later), [{type: 'network.enforce', policies: []}]);
	const failedOnce = then(begun, known, notTaken);
	t.deepEqual(commands(then(failedOnce, known, changed(policyKey))), [{type: 'network.enforce', policies: [policy]}]);
	t.deepEqual(commands(then(begun, known, {type: 'heard', id: 'policies', outcome: succeeded(null)})), []);
});

test('a ready instance of a function is passed on at once, also while something else is under way, and so is its end', t => {
	const instance = {uid: 'u1', namespace: 'default', function: 'hello', concurrency: 3, timeoutMs: 1_000};
	const begun = begin();
	const ready = then(begun, cacheOf({}), {type: 'instanceChanged', uid: 'u1', instance});
	t.deepEqual(commands(ready), [{type: 'network.instance', uid: 'u1', instance}]);
	t.deepEqual(commands(then(ready, cacheOf({}), {type: 'instanceChanged', uid: 'u1', instance: null})), [
		{type: 'network.instance', uid: 'u1', instance: null},
	]);
	t.not(
		network.coalesce?.({type: 'instanceChanged', uid: 'u1', instance}),
		network.coalesce?.({type: 'instanceChanged', uid: 'u2', instance}),
	);
});

test('what changed meanwhile goes in the next command, the newest of each key, and what is gone as gone', t => {
	const begun = begin();
	const newer = {...object, spec: {clusterIP: '10.96.0.8'}};
	const known = cacheOf({[serviceKey]: {type: 'network', object: newer}});
	const next = then(begun, known, changed(serviceKey), changed(sliceKey), changed(serviceKey), taken);
	t.deepEqual(commands(next), [
		{
			type: 'network.change',
			changes: [
				{key: serviceKey, object: newer},
				{key: sliceKey, object: undefined},
			],
		},
	]);
	t.deepEqual(commands(then(next, known, taken)), []);
});

test('after a command that failed all is told again, after ever longer waits, and nothing in between', t => {
	const known = cacheOf({[serviceKey]: copy});
	const failedOnce = then(begin(), known, notTaken);
	const [wait] = failedOnce.effects;
	t.like(wait, {type: 'wakeAt', name: 'again', message: {type: 'again'}});
	t.is(network.trouble?.(failedOnce.state), 'no data plane');
	t.deepEqual(commands(then(failedOnce, known, changed(serviceKey))), [{type: 'network.learn', changes: [{key: serviceKey, object}]}]);
	const again = then(failedOnce, known, changed(serviceKey), {type: 'again'});
	t.deepEqual(commands(again), [{type: 'network.replace', changes: [{key: serviceKey, object}]}]);
	const failedTwice = then(again, known, notTaken);
	const delay = ({effects: [effect]}: Played<NetworkState>): number => (effect?.type === 'wakeAt' ? effect.atMs : 0);
	t.true(delay(failedTwice) > delay(failedOnce));
	const over = then(failedTwice, known, {type: 'again'}, taken);
	t.is(network.trouble?.(over.state), undefined);
	t.deepEqual(
		commands(then(over, known, changed(sliceKey))).map(({type}) => type),
		['network.learn', 'network.change'],
	);
});

test('it shows what serves, how large that is, and what it cannot do', t => {
	const known = cacheOf({[serviceKey]: copy});
	const begun = begin(known);
	t.is(network.describe?.(begun.state), 'no data plane, 1 service');
	const told = then(begun, known, {
		type: 'networkStatus',
		status: {pid: 77, memoryBytes: 52 * 1_048_576, problems: ['router: 127.0.0.1:8080 is taken']},
	});
	t.is(network.describe?.(told.state), 'data plane 77, 52 MiB, 1 service');
	t.is(network.trouble?.(told.state), 'router: 127.0.0.1:8080 is taken');
});

test('a hello has room for so many objects; of the others control says all, and what it says nothing of is gone', t => {
	const name = (index: number): string => `services/default/${'x'.repeat(50)}-${index}`;
	const count = Math.ceil(limits.helloNetworkCharacters / 60);
	const known = cacheOf(Object.fromEntries(Array.from({length: count}, (_, index) => [name(index), copy])));
	const context = playContext({self: 'troupe://node-a/sync', known});
	const begun = play(syncClient, {node: 'node-a', labels: {}, info: aRuntimeInfo({network: info})}, [], context);
	const [hello] = begun.effects.flatMap(effect => (effect.type === 'tell' ? [effect.message as Hello] : []));
	const said = Object.keys(hello?.have ?? {});
	t.true(said.length > 0 && said.length < count);
	const left = count - said.length;
	const last = name(count - 1);
	t.false(said.includes(last));
	const entries: DeltaEntry[] = [{key: last, version: '2', named: copy}];
	const delta: Delta = {type: 'delta', session: begun.state.session, number: 1, epoch: 7, lineage: 'ours', entries, complete: true};
	const {effects} = playFrom(
		syncClient,
		begun.state,
		[delta, {type: 'assigned', id: `${begun.state.session} 1 ${last}`, outcome: succeeded(null)}],
		context,
	);
	const forgotten = effects.filter(effect => effect.type === 'tell' && effect.message.type === 'keepConfig');
	t.is(forgotten.length, left - 1);
});

// ---- certificates ------------------------------------------------------------------------------------------------------------

const anIngress = (...secrets: string[]): Ingress => ({
	apiVersion: 'networking.k8s.io/v1',
	kind: 'Ingress',
	metadata: metadata('web'),
	spec: {tls: secrets.map(secretName => ({hosts: ['a.test'], secretName}))},
});
const aSecret = (generation = 1, type = 'kubernetes.io/tls'): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Secret',
	metadata: {...metadata('web-tls'), generation},
	...{type, data: {'tls.crt': 'SECRET-MARKER', 'tls.key': 'SECRET-MARKER'}},
});
const certificateAt = 'certificates/default/web-tls';
const ingressAt = 'ingresses/default/web';

test('a Secret that an Ingress names in its tls is told to nodes that serve traffic, before the Ingress, and again when it changes or goes', t => {
	const index = indexOf(serving('node-a'));
	t.deepEqual(dirtied(index, put(index, aSecret())), []);
	t.deepEqual(dirtied(index, put(index, anIngress('web-tls'))), [`node-a ${certificateAt}`, `node-a ${ingressAt}`]);
	t.deepEqual(dirtied(index, put(index, aSecret(2))), [`node-a ${certificateAt}`]);
	t.deepEqual(dirtied(index, drop(index, aSecret(2))), [`node-a ${certificateAt}`]);
	put(index, aSecret(3));
	t.deepEqual(dirtied(index, put(index, anIngress('other'))), [
		`node-a ${certificateAt}`,
		'node-a certificates/default/other',
		`node-a ${ingressAt}`,
	]);
	t.deepEqual(dirtied(index, put(index, aSecret(4))), []);
});

test('of a certificate nodes that serve TLS hear that it is there, as which version and of which type; others hear nothing, and nobody a value', t => {
	const index = indexOf(serving('node-a'), anIngress('web-tls', 'missing'), aSecret(7));
	const told = (certificates: boolean, have: Hello['have'] = {}) =>
		entriesOf(greet(index, {have, info: aRuntimeInfo({network: {...info, ...(certificates ? {certificates: true} : {})}})}).effects);
	const of = (entries: readonly DeltaEntry[]) => entries.filter(({key}) => key.startsWith('certificates/'));
	const object = {type: 'certificate', namespace: 'default', name: 'web-tls', version: 'uid-of-web-tls.7', isTls: true};
	t.deepEqual(of(told(true)), [{key: certificateAt, version: 'uid-of-web-tls.7', named: {type: 'network', object}}] as unknown[]);
	t.deepEqual(of(told(false)), []);
	t.deepEqual(of(told(true, {[certificateAt]: 'uid-of-web-tls.7'})), []);
	t.deepEqual(of(told(false, {[certificateAt]: 'uid-of-web-tls.7'})), [{key: certificateAt, version: '', named: null}] as unknown[]);
	t.false(JSON.stringify([told(true), told(false)]).includes('MARKER'));
	put(index, aSecret(8, 'Opaque'));
	t.like(of(told(true))[0]?.named, {object: {isTls: false}});
	put(index, anIngress('missing'));
	t.deepEqual(of(told(true)), []);
});
