// Subnets of nodes: each is one node's alone, for the node's life.

import test from 'ava';
import {subnets, type SubnetsMessage, type SubnetsState} from '../../actors/control/nodes/subnets.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {ApiObject} from '../../api/object.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {aRuntimeInfo} from './_agent.js';
import {aClusterConfig, aNode, contextWith, indexOf} from './_objects.js';
import {tellRecord} from './_records.js';

const routed = {pods: 'routed', services: 'proxy'} as const;

const lacking = (name: string, occupied: readonly string[] = []): NodeObject =>
	aNode({name, status: {network: {...routed, ...(occupied.length === 0 ? {} : {occupied: [...occupied]})}}});

const having = (name: string, podCIDR: string): NodeObject =>
	aNode({name, spec: {podCIDR, podCIDRs: [podCIDR]}, status: {network: routed}});

const config = (podCIDR: string): ApiObject => ({...aClusterConfig('least-pods'), spec: {network: {podCIDR}}});

const want = (node: string): SubnetsMessage => ({type: 'wantSubnet', node});

function ask(objects: readonly ApiObject[], names: readonly string[], seed = 'ours'): {state: SubnetsState; given: unknown[]} {
	const context = contextWith(indexOf(...objects));
	const begun = play(subnets, seed, [{type: 'begin'}], context);
	let {state} = begun;
	const given = names.map(name => {
		const step = playFrom(subnets, state, [want(name)], context);
		state = step.state;
		return givenIn(step.effects);
	});
	return {state, given};
}

const givenIn = (effects: readonly Effect[]): unknown =>
	effects.map(effect => (effect.type === 'tell' ? (effect.message as {podCIDR?: string}).podCIDR : effect.type))[0];

test('each node gets a subnet of its own, also while the one before is not committed, and the same when it asks again', t => {
	const objects = [config('10.8.0.0/22'), ...['a', 'b', 'c', 'd', 'e'].map(name => lacking(name))];
	const {given} = ask(objects, ['a', 'b', 'a', 'c', 'd', 'e']);
	const [a, b, again, c, d, e] = given;
	t.is(again, a);
	t.deepEqual([a, b, c, d].map(String).toSorted(), ['10.8.0.0/24', '10.8.1.0/24', '10.8.2.0/24', '10.8.3.0/24']);
	t.is(e, undefined);
});

test('what a host uses for something else, or another node has, is given to none', t => {
	const objects = [config('10.8.0.0/22'), having('a', '10.8.1.0/24'), lacking('b', ['10.8.2.0/23', 'no subnet']), lacking('c')];
	t.deepEqual(ask(objects, ['c', 'b']).given, ['10.8.0.0/24', undefined]);
});

test('what became free comes last', t => {
	const objects = [config('10.8.0.0/22'), lacking('a'), lacking('b')];
	const first = ask(objects, ['a']);
	const without = contextWith(indexOf(config('10.8.0.0/22'), lacking('b'), lacking('c'), lacking('d'), lacking('e')));
	let {state} = first;
	const later = ['b', 'c', 'd', 'e'].map(name => {
		const step = playFrom(subnets, state, [want(name)], without);
		state = step.state;
		return givenIn(step.effects);
	});
	t.is(later.at(-1), first.given[0]);
	t.is(new Set(later).size, 4);
});

test('two clusters begin at different places', t => {
	const places = ['ours', 'theirs', 'others'].map(seed => ask([config('10.0.0.0/8'), lacking('a')], ['a'], seed).given[0]);
	t.is(new Set(places).size, 3);
});

test('nothing is given in the first moment: what a crashed one had given is not in the index yet', t => {
	const context = contextWith(indexOf(lacking('a')));
	const {state, effects} = play(subnets, 'ours', [want('a'), want('a')], context);
	t.deepEqual(effects, []);
	t.deepEqual(
		playFrom(subnets, state, [{type: 'begin'}], context).effects.map(effect => effect.type === 'tell' && effect.message),
		[want('a')],
	);
});

test('a node asks when its agent says that its pods are routed, keeps what it gets, and says where none is left', t => {
	const context = contextWith(indexOf());
	const heard = {type: 'heard', info: aRuntimeInfo({network: {...routed, occupied: ['172.17.0.0/16']}}), version: '0.1.0'};
	const asking = tellRecord(aNode(), [heard], context);
	t.like(asking.effects.at(-1), {type: 'tell', to: 'troupe://control/subnets', message: {type: 'wantSubnet', node: 'node-a'}});
	const none = tellRecord(asking.object as NodeObject, [{type: 'subnetGiven', podCIDR: undefined}], context);
	t.true(
		(none.object as NodeObject).status?.conditions?.some(({type, reason}) => type === 'NetworkUnavailable' && reason === 'NoSubnetLeft'),
	);
	const given = tellRecord(none.object as NodeObject, [{type: 'subnetGiven', podCIDR: '10.8.1.0/24'}], context);
	t.like((given.object as NodeObject).spec, {podCIDR: '10.8.1.0/24', podCIDRs: ['10.8.1.0/24']});
	t.false((given.object as NodeObject).status?.conditions?.some(({type}) => type === 'NetworkUnavailable'));
	const again = tellRecord(given.object as NodeObject, [{type: 'subnetGiven', podCIDR: '10.8.2.0/24'}], context);
	t.is(again.object, given.object);
});
