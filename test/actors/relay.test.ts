// What nodes say to each other of relayed connections by way of control: who may, to what, and how much of it at a time.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {relay, type RelayMessage, type RelayState} from '../../actors/control/network/relay.js';
import {nodeRelay, type NodeRelayMessage, type NodeRelayState} from '../../actors/node/network/relay.js';
import {acceptsFromControl, acceptsFromNode} from '../../actors/protocol/accepted-messages.js';
import {laneOf} from '../../actors/protocol/lanes.js';
import type {RelayStep} from '../../actors/protocol/relay-message.js';
import type {Context, Effect, Message} from '../../system/kernel/behavior.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {aNode, aPod, before, contextWith, indexOf} from './_objects.js';

const network = {pods: 'shared', services: 'proxy'} as const;
const near = aNode({name: 'near', status: {network}});
const other = aNode({name: 'other', status: {network}});
const far = aNode({name: 'far', status: {network: {...network, reach: 'relayed'}}});
const pod = aPod({name: 'web', spec: {nodeName: 'far'}, status: {podIP: '127.1.0.5'}});

const slice = (rest: Partial<EndpointSlice['endpoints'][number]> = {}, ports: EndpointSlice['ports'] = [{port: 8080}]): EndpointSlice => ({
	apiVersion: 'discovery.k8s.io/v1',
	kind: 'EndpointSlice',
	metadata: {
		name: 'web-abcde',
		namespace: 'default',
		uid: 'uid-of-slice',
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: before,
		labels: {'kubernetes.io/service-name': 'web'},
	},
	addressType: 'IPv4',
	endpoints: [{addresses: ['127.1.0.5'], nodeName: 'far', targetRef: {kind: 'Pod', name: 'web', uid: pod.metadata.uid}, ...rest}],
	ports,
});

const replyTo = (id: string) => ({to: 'troupe://near/edge', as: 'edge', id});
const says = (step: RelayStep, id = '1', rest: Partial<{node: string; to: string}> = {}): RelayMessage => ({
	type: 'relay',
	node: 'near',
	to: 'far',
	session: 's',
	step,
	replyTo: replyTo(id),
	...rest,
});
const open: RelayStep = {step: 'open', address: '127.1.0.5', port: 8080};

const played = (messages: readonly RelayMessage[], objects: readonly ApiObject[], state?: RelayState, rest: Partial<Context> = {}) => {
	const context = contextWith(indexOf(...objects), rest);
	return state === undefined ? play(relay, null, messages, context) : playFrom(relay, state, messages, context);
};
const outcomeOf = (effects: readonly Effect[]): string => {
	const [effect] = effects;
	if (effect?.type === 'reply') return effect.outcome.ok ? 'ok' : effect.outcome.error.code;
	return effect?.type === 'ask' ? `asked ${effect.to}` : 'nothing';
};

test('a node gets a connection to an endpoint of a Service on a node behind NAT, and the pod is named by control', t => {
	const {effects} = played([says(open)], [near, far, pod, slice()]);
	t.deepEqual(effects, [
		{
			type: 'ask',
			to: 'troupe://far/relay',
			message: {type: 'relayed', from: 'near', session: 's', step: {step: 'open', uid: pod.metadata.uid, port: 8080}},
			as: 'relayAnswered',
			id: '1',
			deadlineMs: limits.relayAnswerMs,
		},
	]);
});

test('nothing else: no other address, port, node, protocol, pod or slice', t => {
	const objects = [near, other, far, pod, slice()];
	const refused: readonly (readonly [string, RelayMessage, readonly ApiObject[]])[] = [
		['another port', says({...open, port: 22}), objects],
		['another address', says({...open, address: '127.0.0.1'}), objects],
		['between nodes that reach each other', says(open, '1', {to: 'other'}), objects],
		['to itself', says(open, '1', {node: 'far'}), objects],
		['a node that is not there', says(open, '1', {to: 'nowhere'}), objects],
		['UDP', says(open), [near, far, pod, slice({}, [{port: 8080, protocol: 'UDP'}])]],
		['no pod', says(open), [near, far, slice()]],
		['another pod of that name', says(open), [near, far, {...pod, metadata: {...pod.metadata, uid: 'another'}}, slice()]],
		['a pod elsewhere', says(open), [near, far, aPod({name: 'web', spec: {nodeName: 'other'}, status: {podIP: '127.1.0.5'}}), slice()]],
		['an address of the host', says({...open, address: '10.0.0.1'}), [near, far, pod, slice({addresses: ['10.0.0.1']})]],
		['what is no pod', says(open), [near, far, pod, slice({targetRef: {kind: 'Node', name: 'far'}})]],
		['a slice of no Service', says(open), [near, far, pod, {...slice(), metadata: {...slice().metadata, labels: {}}}]],
	];
	for (const [what, message, present] of refused) t.is(outcomeOf(played([message], present).effects), 'ERR_FORBIDDEN', what);
	t.is(outcomeOf(played([says(open, '1', {node: 'far', to: 'near'})], objects).effects), 'ERR_FORBIDDEN');
});

test('a node behind NAT gets connections to pods of others', t => {
	const there = aPod({name: 'web', spec: {nodeName: 'near'}, status: {podIP: '10.244.1.2'}});
	const own = slice({addresses: ['10.244.1.2'], nodeName: 'near'});
	const message = says({...open, address: '10.244.1.2'}, '1', {node: 'far', to: 'near'});
	t.is(outcomeOf(played([message], [near, far, there, own]).effects), 'asked troupe://near/relay');
});

test('so much is under way to a node, the rest waits in order, and goes as answers come', t => {
	const data = 'A'.repeat(80_000);
	const messages = Array.from({length: 6}, (_, i) => says({step: 'data', number: i + 1, data}, String(i)));
	const first = played(messages, [near, far]);
	t.is(first.state.asked.size, 4);
	t.is(first.state.waiting.get('far')?.length, 2);
	const next = played([{type: 'relayAnswered', id: '1', outcome: succeeded(null)}], [near, far], first.state);
	t.deepEqual(
		next.effects.map(effect => (effect.type === 'reply' ? effect.to.id : effect.type === 'ask' ? effect.id : effect.type)),
		['0', '5'],
	);
	// What waited for too long is nobody's any more.
	const late = played(
		[{type: 'relayAnswered', id: '2', outcome: failed('ERR_TIMEOUT', {address: 'x', deadlineMs: 1})}],
		[near, far],
		next.state,
		{
			monotonicMs: contextWith(indexOf()).monotonicMs + limits.relayAnswerMs,
		},
	);
	t.is(late.state.waiting.size, 0);
	t.is(late.effects.length, 1);
});

test('a node that asks without end is refused, and others are heard', t => {
	const greedy = Array.from({length: limits.relayAsks + 1}, (_, i) => says({step: 'keep'}, String(i)));
	const {state, effects} = played(greedy, [near, far]);
	t.is(outcomeOf(effects), 'ERR_BUSY');
	t.is(
		played([says({step: 'keep'}, '1', {node: 'other'})], [near, far], state).state.waiting.get('far')?.length,
		limits.relayAsks - limits.relayUnderWay + 1,
	);
});

test('control takes from a node what it says itself, and of a size that was agreed on', t => {
	const takes = (message: object, to = 'troupe://control/relay'): boolean => acceptsFromNode('near', to, message as Message);
	const of = (step: object): object => ({type: 'relay', node: 'near', to: 'far', session: 's', step});
	for (const step of [
		open,
		{step: 'data', number: 1, data: 'AAAA'},
		{step: 'end', number: 2},
		{step: 'credit', bytes: 5},
		{step: 'keep'},
		{step: 'reset'},
	])
		t.true(takes(of(step)), JSON.stringify(step));
	for (const step of [
		{step: 'open', address: '127.0.0.1', port: 0},
		{step: 'open', port: 1},
		{step: 'data', number: 0, data: 'AAAA'},
		{step: 'data', number: 1, data: ''},
		{step: 'data', number: 1, data: 'A'.repeat(limits.relayChunkBytes * 2)},
		{step: 'credit', bytes: -1},
		{step: 'credit', bytes: limits.relayWindowBytes + 1},
		{step: 'other'},
		{},
	])
		t.false(takes(of(step)), JSON.stringify(step).slice(0, 80));
	t.false(takes({...of(open), node: 'far'}));
	t.false(takes({...of(open), session: ''}));
	t.false(takes(of(open), 'troupe://control/sync'));
	t.true(takes({type: 'relayAnswered', id: '1', outcome: succeeded(null)}));
	t.false(takes({type: 'other', id: '1', outcome: succeeded(null)}));
	const toNode = {type: 'relayed', from: 'far', session: 's', step: open};
	t.true(acceptsFromControl('control', 'troupe://near/relay', toNode));
	t.false(acceptsFromControl('far', 'troupe://near/relay', toNode));
	t.false(acceptsFromControl('control', 'troupe://near/runtime', toNode));
	t.is(laneOf('troupe://near/edge', 'troupe://control/relay'), 'bulk');
});

test("the node's edge takes what was passed on, and its answer is the answer", t => {
	const relayed: NodeRelayMessage = {type: 'relayed', from: 'near', session: 's', step: {step: 'keep'}, replyTo: replyTo('7')};
	const context = contextWith(indexOf());
	const asked = play<null, NodeRelayState, NodeRelayMessage>(nodeRelay, null, [relayed], context);
	t.deepEqual(asked.effects, [
		{
			type: 'perform',
			command: {type: 'relay.take', from: 'near', session: 's', step: {step: 'keep'}},
			key: 'relay/0',
			as: 'relayTaken',
		},
	]);
	const answered = playFrom(nodeRelay, asked.state, [{type: 'relayTaken', id: 'relay/0', outcome: succeeded(null)}], context);
	t.deepEqual(answered.effects, [{type: 'reply', to: replyTo('7'), outcome: succeeded(null)}]);
	t.is(answered.state.waiting.size, 0);
	const many = Array.from({length: limits.relayTaking + 1}, () => relayed);
	t.is(outcomeOf(play<null, NodeRelayState, NodeRelayMessage>(nodeRelay, null, many, context).effects), 'ERR_BUSY');
});
