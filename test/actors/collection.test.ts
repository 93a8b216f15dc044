// Who gets a name, and which creates are refused before there is a record.

import test from 'ava';
import {pod as podKind} from '../../api/kinds/pod.js';
import {node as nodeKind} from '../../api/kinds/node.js';
import type {Draft} from '../../api/object.js';
import {collectionBehavior} from '../../actors/control/objects/collection.js';
import type {Context, Effect} from '../../system/kernel/behavior.js';
import {play} from '../../system/kernel/play.js';
import {aContainer, aNamespace, aNode, aPod, aReplicaSet, contextWith, indexOf, now, ownedBy} from './_objects.js';

const replyTo = {to: 'troupe://control/edge', as: 'edge', id: '1'};
const self = 'troupe://control/pods';
const pods = collectionBehavior(podKind);
const draft = (metadata: object = {name: 'web', namespace: 'default'}): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata,
	spec: {containers: [aContainer()]},
});

const creating = (object: Draft, context: Context, more: object = {}): readonly Effect[] =>
	play(pods, null, [{type: 'create', object, replyTo, ...more}], context).effects;

const codeOf = ([effect]: readonly Effect[]): string | undefined =>
	effect?.type === 'reply' && !effect.outcome.ok ? effect.outcome.error.code : undefined;

test('the records of everything in the index are started', t => {
	const known = indexOf(aPod({name: 'a'}), aPod({name: 'b', metadata: {namespace: 'shop'}}), aNode());
	t.deepEqual(play(pods, null, [], contextWith(known)).effects, [
		{type: 'spawn', name: 'default.a', behavior: 'Pod', snapshot: 'pods/default/a'},
		{type: 'spawn', name: 'shop.b', behavior: 'Pod', snapshot: 'pods/shop/b'},
	]);
	t.deepEqual(play(collectionBehavior(nodeKind), null, [], contextWith(known)).effects, [
		{type: 'spawn', name: 'node-a', behavior: 'Node', snapshot: 'nodes/_/node-a'},
	]);
});

test('a create starts a record, which answers', t => {
	t.deepEqual(creating(draft(), contextWith(indexOf(), {self})), [
		{type: 'spawn', name: 'default.web', behavior: 'Pod', input: {object: draft(), dryRun: false, replyTo}},
	]);
});

test('an object that names no namespace goes to the default one', t => {
	const [effect] = creating(draft({name: 'web'}), contextWith(indexOf(), {self}));
	t.like(effect, {name: 'default.web', input: {object: {metadata: {name: 'web', namespace: 'default'}}}});
});

test('a name that is taken is a conflict', t => {
	t.is(codeOf(creating(draft(), contextWith(indexOf(aPod()), {self}))), 'ERR_ALREADY_EXISTS');
});

test('a create whose name is just being created waits for that', t => {
	const message = {type: 'create', object: draft(), replyTo} as const;
	t.deepEqual(creating(draft(), contextWith(indexOf(), {self, children: ['default.web']})), [
		{type: 'tell', to: `${self}/default.web`, message},
	]);
});

test('a generated name keeps its prefix and avoids names that are taken or just being created', t => {
	const generated = draft({generateName: 'web-', namespace: 'default'});
	const nameOf = (context: Context): string => {
		const [effect] = creating(generated, context);
		return effect?.type === 'spawn' ? effect.name : '';
	};
	const first = nameOf(contextWith(indexOf(), {self}));
	t.regex(first, /^default\.web-[a-z0-9]{5}$/);
	const second = nameOf(contextWith(indexOf(aPod({name: first.slice('default.'.length)})), {self}));
	const third = nameOf(contextWith(indexOf(), {self, children: [first]}));
	t.regex(second, /^default\.web-[a-z0-9]{5}$/);
	t.not(second, first);
	t.is(third, second);
});

test('a dry run is an actor apart, and a taken name is a conflict there too', t => {
	const [effect] = creating(draft(), contextWith(indexOf(), {self, children: ['default.web']}), {dryRun: true});
	t.like(effect, {type: 'spawn', behavior: 'Pod', input: {dryRun: true}});
	t.regex(effect?.type === 'spawn' ? effect.name : '', /^dry-run\./);
	t.is(codeOf(creating(draft(), contextWith(indexOf(aPod()), {self}), {dryRun: true})), 'ERR_ALREADY_EXISTS');
});

test('nothing is created in a namespace that is missing or ends', t => {
	const shop = draft({name: 'web', namespace: 'shop'});
	t.is(codeOf(creating(shop, contextWith(indexOf(), {self}))), 'ERR_NOT_FOUND');
	t.is(codeOf(creating(shop, contextWith(indexOf(aNamespace('shop', {deletionTimestamp: now})), {self}))), 'ERR_FORBIDDEN');
});

test('nothing is created for a controller that is gone or ends', t => {
	const set = aReplicaSet();
	const owned = draft({name: 'web', namespace: 'default', ownerReferences: [ownedBy(set)]});
	t.is(codeOf(creating(owned, contextWith(indexOf(), {self}))), 'ERR_CONFLICT');
	t.is(codeOf(creating(owned, contextWith(indexOf(aReplicaSet({metadata: {deletionTimestamp: now}})), {self}))), 'ERR_CONFLICT');
	t.like(creating(owned, contextWith(indexOf(set), {self})), [{type: 'spawn', name: 'default.web'}]);
});

test('owner references of any shape reach the record, which refuses them in words', t => {
	for (const ownerReferences of [[null], 'me', {controller: true}, [{controller: true}], [[]], null]) {
		const effects = creating(draft({name: 'web', namespace: 'default', ownerReferences}), contextWith(indexOf(), {self}));
		t.like(effects, [{type: 'spawn', name: 'default.web'}]);
	}
});

test('a name with a slash never leads to the record of another object', t => {
	const effects = creating(
		draft({name: 'web/status', namespace: 'default'}),
		contextWith(indexOf(aPod()), {self, children: ['default.web']}),
	);
	t.like(effects, [{type: 'spawn', behavior: 'Pod'}]);
	t.false(JSON.stringify(effects).includes('"default.web"'));
});
