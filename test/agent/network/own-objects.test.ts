// What an agent tells of itself: servers and ready instances, and that the next agent takes nothing of it away before it knows better.

import test from 'ava';
import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {createOwnObjects} from '../../../agent/network/feed/own-objects.js';
import {createNetworkIndex} from '../../../agent/network/index/network-index.js';
import {limits} from '../../../api/limits.js';

const ready = (uid: string) => ({uid, namespace: 'default', function: 'hello', concurrency: 3, timeoutMs: 1_000});
const placeOf = (uid: string) => (uid === 'nowhere' ? undefined : {home: `/pods/${uid}`, owner: 7});
const uidsIn = (object: NetworkObject | undefined): readonly string[] =>
	object?.type === 'instances' ? object.instances.map(({uid}) => uid) : [];

test('instances come and go, each with its place, and one without is none', t => {
	const own = createOwnObjects(placeOf);
	t.deepEqual(own.all(), []);
	t.deepEqual(own.instance('a', ready('a')), {
		key: 'instances',
		object: {type: 'instances', name: 'instances', instances: [{...ready('a'), home: '/pods/a', owner: 7}]},
	});
	t.deepEqual(uidsIn(own.instance('nowhere', ready('nowhere')).object), ['a']);
	t.deepEqual(uidsIn(own.instance('b', ready('b')).object), ['a', 'b']);
	t.deepEqual(uidsIn(own.instance('a', null).object), ['b']);
	own.servers({node: 'vm', credential: 'c', ca: 'ca', servers: []});
	t.deepEqual(
		own.all().map(({key}) => key),
		['instances', 'servers'],
	);
});

test('of more instances than the router is told of there are as many as it is', t => {
	const own = createOwnObjects(placeOf);
	for (let i = 0; i <= limits.routerInstances; i++) own.instance(`u${i}`, ready(`u${i}`));
	t.is(uidsIn(own.all()[0]?.object).length, limits.routerInstances);
});

test('what is fed whole leaves what the agent before has told of itself, until it is told anew', t => {
	const own = createOwnObjects(placeOf);
	const index = createNetworkIndex();
	const service: NetworkObject = {type: 'service', namespace: 'default', name: 'web', spec: {}};
	index.replace([
		{key: 'services/default/web', object: service},
		own.instance('a', ready('a')),
		own.servers({node: 'vm', credential: 'c', ca: '', servers: []}),
	]);
	index.replace([]);
	t.deepEqual(index.keys(), ['instances', 'servers']);
	t.deepEqual(uidsIn(index.get('instances')), ['a']);
	index.change([createOwnObjects(placeOf).instance('b', ready('b'))]);
	t.deepEqual(uidsIn(index.get('instances')), ['b']);
});
