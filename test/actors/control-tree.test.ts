// What stands around the records: the root with what every cluster starts with, and the door where nodes register.

import test from 'ava';
import {failed} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {kinds} from '../../api/catalogue.js';
import {controlDesign} from '../../actors/control/design.js';
import {controllers} from '../../actors/control/kinds.js';
import {controlRoot, type ControlRootInput} from '../../actors/control/root.js';
import {syncSupervisor} from '../../actors/control/sync/sync-supervisor.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {aClusterConfig, aNode, aPriorityClass, contextWith, indexOf, nowMs} from './_objects.js';
import {aHello} from './_agent.js';

const term = {epoch: 7, lineage: 'ours', version: '0.1.0'};
const input: ControlRootInput = {...term, localNodes: ['node-a']};
const self = 'troupe://control/sync';
const systemClasses = [aPriorityClass('system-cluster-critical', 2_000_000_000), aPriorityClass('system-node-critical', 2_000_001_000)];

test('the root starts a collection for each kind, the scheduler, the detector and the door for nodes', t => {
	const {effects} = play(controlRoot, input, [], contextWith(indexOf(aClusterConfig('least-pods'), ...systemClasses)));
	t.deepEqual(
		effects.map(effect => (effect.type === 'spawn' ? [effect.name, effect.restart] : [])),
		['activators', 'autoscalers', ...kinds.map(({plural}) => plural), 'scheduler', 'detector', 'sync', 'subnets', 'relay', 'inspector'].map(
			name => [name, 'permanent'],
		),
	);
	for (const effect of effects)
		if (effect.type === 'spawn') t.true(Object.hasOwn(controlDesign.behaviors, effect.behavior), effect.behavior);
});

test('every kind has records: a controller is of one kind that is acted on, and a kind without one is idle', t => {
	const plurals = controllers.map(({plural}) => plural);
	for (const {watches = {}} of controllers)
		for (const plural of Object.keys(watches))
			t.true(
				kinds.some(kind => kind.plural === plural),
				`a watch of ${plural}`,
			);
	t.deepEqual(plurals, [...new Set(plurals)]);
	for (const plural of plurals)
		t.true(
			kinds.some(kind => kind.plural === plural),
			plural,
		);
	for (const {kind} of kinds) t.is(controlDesign.behaviors[kind]?.kind, kind);
});

test('no actor of control does anything for a message that it does not know, whatever else that says', t => {
	const state = {object: aNode({}), session: 'greeted'};
	for (const [name, {receive}] of Object.entries(controlDesign.behaviors))
		t.is(receive(state, {type: 'zzz', uid: state.object.metadata.uid, pod: 'web'}, contextWith(indexOf())), undefined, name);
	for (const {plural, receive} of controllers) t.is(receive?.(state.object, {type: 'zzz'}, contextWith(indexOf())), undefined, plural);
});

test('a new cluster gets its default namespace, its configuration and the priorities of the system, an old one keeps its own', t => {
	const created = (known: ReturnType<typeof indexOf>) =>
		play(controlRoot, input, [], contextWith(known)).effects.flatMap(effect => (effect.type === 'create' ? [effect.id] : []));
	const bare = indexOf();
	bare.apply('namespaces/_/default', 99, undefined, () => '');
	const classes = ['priorityclasses/_/system-cluster-critical', 'priorityclasses/_/system-node-critical'];
	t.deepEqual(created(bare), ['namespaces/_/default', 'clusterconfigs/_/cluster', ...classes]);
	t.deepEqual(created(indexOf(aClusterConfig('round-robin'), ...systemClasses)), []);
});

test('a new cluster begins with the class it was given, also when that is only taken later', t => {
	const specs = (more: Partial<ControlRootInput>, ...messages: readonly {readonly type: 'furnish'}[]): unknown =>
		play(controlRoot, {...input, ...more}, messages, contextWith(indexOf())).effects.flatMap(effect =>
			effect.type === 'create' && effect.id === 'clusterconfigs/_/cluster' ? [effect.object.spec] : [],
		);
	t.deepEqual(specs({}), [{}]);
	t.deepEqual(specs({settings: {runtime: {default: 'docker'}}}, {type: 'furnish'}), [{runtime: {default: 'docker'}}]);
});

test('what could not be made is tried again after a second', t => {
	const outcome = failed('ERR_STORE', {message: 'full'});
	const {effects} = play(controlRoot, input, [{type: 'outcome', id: 'x', outcome}], contextWith(indexOf()));
	t.deepEqual(effects, [{type: 'wakeAt', name: 'furnish', atMs: nowMs + 1000, message: {type: 'furnish'}}]);
	const there = failed('ERR_ALREADY_EXISTS', {name: 'default'});
	t.deepEqual(play(controlRoot, input, [{type: 'outcome', id: 'x', outcome: there}], contextWith(indexOf())).effects, []);
});

test('a new leader knows nothing of any node, and asks each for its hello', t => {
	const {effects} = play(syncSupervisor, term, [], contextWith(indexOf(aNode()), {self}));
	t.like(effects, [
		{type: 'tell', to: 'troupe://control/nodes/node-a', message: {type: 'unheard', reason: 'NodeStatusUnknown'}},
		{type: 'tell', to: 'troupe://node-a/sync', message: {type: 'callHello'}},
	]);
});

const passedOn = [
	{type: 'spawn', name: 'node-a', behavior: 'NodeDispatcher', input: {...term, node: 'node-a'}},
	{type: 'tell', to: `${self}/node-a`, message: aHello()},
];

test('the hello of a known node goes to its own sync', t => {
	const start = play(syncSupervisor, term, [], contextWith(indexOf(aNode()), {self}));
	t.deepEqual(playFrom(syncSupervisor, start.state, [aHello()], contextWith(indexOf(aNode()), {self})).effects, passedOn as never);
});

test('every node is told which servers there are, and whoever says hello later as well', t => {
	const context = contextWith(indexOf(aNode()), {self});
	const servers = {type: 'servers', servers: ['https://a:1', 'https://b:2']} as const;
	const told = {type: 'tell', to: 'troupe://node-a/sync', message: {...servers, graceMs: limits.nodeGraceMs}} as const;
	const known = playFrom(syncSupervisor, play(syncSupervisor, term, [], context).state, [servers], context);
	t.deepEqual(known.effects, [told]);
	t.deepEqual(playFrom(syncSupervisor, known.state, [aHello()], context).effects, [...passedOn, told] as never);
	const config = aClusterConfig('least-pods');
	const hurried = contextWith(indexOf(aNode(), {...config, spec: {...config.spec, nodes: {grace: '1s'}}}), {self});
	const now = {...told, message: {...servers, graceMs: 1_000}};
	t.deepEqual(playFrom(syncSupervisor, known.state, [{type: 'settings'}], hurried).effects, [now]);
});

test('an unknown node is registered with its labels first', t => {
	const context = contextWith(indexOf(), {self});
	const hello = aHello({labels: {zone: 'x'}});
	const asked = play(syncSupervisor, term, [hello], context);
	t.deepEqual(asked.effects, [
		{
			type: 'create',
			id: 'register/node-a',
			object: {apiVersion: 'v1', kind: 'Node', metadata: {name: 'node-a', labels: {zone: 'x'}}, spec: {}},
		},
	]);
	for (const outcome of [{ok: true, value: null} as const, failed('ERR_ALREADY_EXISTS', {name: 'node-a'})]) {
		const done = playFrom(syncSupervisor, asked.state, [{type: 'outcome', id: 'register/node-a', outcome}], context);
		t.like(done.effects, [
			{type: 'spawn', name: 'node-a'},
			{type: 'tell', message: {type: 'hello'}},
		]);
		t.is(done.state.registering.size, 0);
	}
	const broken = playFrom(
		syncSupervisor,
		asked.state,
		[{type: 'outcome', id: 'register/node-a', outcome: failed('ERR_STORE', {message: 'full'})}],
		context,
	);
	t.deepEqual(broken.effects, []);
	t.is(broken.state.registering.size, 0);
});

test('a node of another protocol is told so', t => {
	const {effects} = play(syncSupervisor, term, [aHello({protocol: 99})], contextWith(indexOf(), {self}));
	t.like(effects, [{type: 'tell', to: 'troupe://node-a/sync', message: {type: 'refused', error: {code: 'ERR_BAD_REQUEST'}}}]);
});

test("a node that remembers another lineage is told so and not registered, unless that is replaced by an operator's word", t => {
	const hello = aHello({lineage: 'another'});
	const {effects, state} = play(syncSupervisor, term, [hello], contextWith(indexOf(), {self}));
	t.like(effects, [{type: 'tell', to: 'troupe://node-a/sync', message: {type: 'refused'}}]);
	t.is(state.registering.size, 0);
	const restored = play(syncSupervisor, {...term, replaces: ['another']}, [hello], contextWith(indexOf(), {self}));
	t.is(restored.state.registering.size, 1);
});
