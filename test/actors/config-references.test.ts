// What pods name comes to their node and to no other, goes when no pod names it any more, and containers wait for it by name.

import test from 'ava';
import {failed, failure} from '../../api/errors.js';
import type {Container} from '../../api/kinds/pod.js';
import {nodeDispatcher, type NodeDispatcherMessage, type NodeDispatcherState} from '../../actors/control/sync/node-dispatcher.js';
import {wakesOf} from '../../actors/control/wakes.js';
import {assignmentObject} from '../../actors/node/cache/assignment-object.js';
import {container} from '../../actors/node/containers/container.js';
import type {ContainerActorState, ContainerChanged, ContainerMessage} from '../../actors/node/containers/container-state.js';
import {nodeDesign} from '../../actors/node/design.js';
import {hand} from '../../actors/node/pods/hand.js';
import {configCopy, type KeepConfig} from '../../actors/node/cache/config-copy.js';
import {configCache} from '../../actors/node/cache/config-cache.js';
import {syncClient as nodeEnd} from '../../actors/node/sync/sync-client.js';
import type {RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import {configKeysOf} from '../../actors/config-references.js';
import {syncProtocol, type Delta, type DeltaEntry} from '../../actors/protocol/sync-message.js';
import type {Effect, Message} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {play, playContext, playFrom, type Played} from '../../system/kernel/play.js';
import {aContainer, aPod, aReadyPod, contextWith, drop, indexOf, nowMs, put} from './_objects.js';
import {aHello, anAssignment, aRunningContainer, aRuntimeInfo, sandbox} from './_agent.js';
import {aConfigMap, aSecret, cacheOf, configMapOf, dbKey, secretCopy, settingsKey} from './_config.js';

const uses: Partial<Container> = {
	env: [{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'db', key: 'password'}}}],
	envFrom: [{configMapRef: {name: 'settings'}}],
};
const user = (name = 'web', nodeName = 'node-a') => aReadyPod({name, spec: {nodeName, containers: [aContainer(uses)]}});

test('a pod names what its containers take their environment from, each once and in its own namespace', t => {
	const {spec} = user();
	t.deepEqual(spec === undefined ? [] : configKeysOf({...spec, containers: [...spec.containers, ...spec.containers]}, 'shop'), [
		'configmaps/shop/settings',
		'secrets/shop/db',
	]);
});

test('a pod names the Secrets with which its images are pulled', t => {
	const keys = configKeysOf({containers: [aContainer()], imagePullSecrets: [{name: 'login'}, {name: 'login'}]}, 'shop');
	t.deepEqual(keys, ['secrets/shop/login']);
});

// ---- control -----------------------------------------------------------------------------------------------------------------

const sync = (node: string): string => `troupe://control/sync/${node}`;

/** Nodes and keys that a change makes dirty, in order. */
const dirtied = (index: ObjectIndex, change: ReturnType<typeof put>): string[] =>
	[...wakesOf(change, index)].flatMap(({to, message}) =>
		message.type === 'dirty' ? [`${to.slice(sync('').length)} ${(message as Message & {key: string}).key}`] : [],
	);

test('a change of a named object wakes the nodes that run a pod which names it, each once, and no others', t => {
	const index = indexOf(
		user('a'),
		user('b'),
		user('c', 'node-b'),
		aReadyPod({name: 'd', spec: {nodeName: 'node-c'}}),
		aPod({spec: {containers: [aContainer(uses)]}}),
	);
	t.deepEqual(dirtied(index, put(index, aSecret('db'))), ['node-a secrets/default/db', 'node-b secrets/default/db']);
	t.deepEqual(dirtied(index, put(index, aConfigMap('settings'))), [
		'node-a configmaps/default/settings',
		'node-b configmaps/default/settings',
	]);
	t.deepEqual(dirtied(index, put(index, aSecret('other'))), []);
	t.deepEqual(dirtied(index, drop(index, aSecret('db'))), ['node-a secrets/default/db', 'node-b secrets/default/db']);
});

test('what a pod names goes to its node before the pod, and is looked at again when the pod goes', t => {
	const index = indexOf();
	const keys = ['node-a configmaps/default/settings', 'node-a secrets/default/db', 'node-a pods/default/web'];
	const pod = user();
	t.deepEqual(dirtied(index, put(index, pod)), keys);
	t.deepEqual(dirtied(index, put(index, {...pod, metadata: {...pod.metadata, labels: {a: 'b'}}})), ['node-a pods/default/web']);
	t.deepEqual(dirtied(index, drop(index, user())), keys);
});

const input = {node: 'node-a', epoch: 7, lineage: 'ours', version: '0.1.0'};
const around = (known: ObjectIndex) => contextWith(known, {self: sync('node-a')});
const greet = (known: ObjectIndex, have = {}): Played<NodeDispatcherState> => play(nodeDispatcher, input, [aHello({have})], around(known));
const on = ({state}: Played<NodeDispatcherState>, known: ObjectIndex, ...keys: readonly string[]): Played<NodeDispatcherState> =>
	playFrom(nodeDispatcher, state, [...keys.map((key): NodeDispatcherMessage => ({type: 'dirty', key})), {type: 'flush'}], around(known));
const entriesOf = (effects: readonly Effect[]): DeltaEntry[] =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'delta' ? (effect.message as Delta).entries : []));

test('a node gets ConfigMaps whole, of Secrets the version and never a value, and nothing that its pods do not name', t => {
	const index = indexOf(user(), aConfigMap('settings', {colour: 'green'}, 3), aSecret('db', 2), aSecret('other'), aConfigMap('other'));
	const {effects} = greet(index);
	t.deepEqual(entriesOf(effects).slice(0, 2), [
		{key: settingsKey, version: 'uid-of-configmaps-settings.3', named: {type: 'configMap', data: {colour: 'green'}}},
		{key: dbKey, version: 'uid-of-secrets-db.2', named: {type: 'secret'}},
	]);
	t.deepEqual(
		entriesOf(effects).map(({key}) => key),
		[settingsKey, dbKey, 'pods/default/web'],
	);
	t.notRegex(JSON.stringify(effects), /sealed/);
});

test('a node that has them already gets them no more; another version, and the end of them, it hears', t => {
	const index = indexOf(user(), aConfigMap('settings'), aSecret('db'));
	const have = {
		[settingsKey]: 'uid-of-configmaps-settings.1',
		[dbKey]: 'uid-of-secrets-db.1',
		'secrets/default/gone': 'x',
		'configmaps/default/unnamed': 'y',
	};
	put(index, aConfigMap('unnamed'));
	const greeted = greet(index, have);
	t.deepEqual(
		entriesOf(greeted.effects).map(({key, named}) => [key, named]),
		[
			['pods/default/web', undefined],
			['secrets/default/gone', null],
			['configmaps/default/unnamed', null],
		],
	);
	put(index, aSecret('db', 2));
	const changed = on(greeted, index, dbKey);
	t.deepEqual(entriesOf(changed.effects), [{key: dbKey, version: 'uid-of-secrets-db.2', named: {type: 'secret'}}]);
	t.deepEqual(entriesOf(on(changed, index, dbKey).effects), []);
	drop(index, user());
	t.deepEqual(
		entriesOf(on(changed, index, settingsKey, dbKey, 'pods/default/web').effects).map(({key, named, assignment}) => [
			key,
			named === undefined ? assignment : named,
		]),
		[
			[settingsKey, null],
			[dbKey, null],
			['pods/default/web', null],
		],
	);
});

test('a named object that is not there yet is sent as soon as it is', t => {
	const index = indexOf(user());
	const greeted = greet(index);
	t.deepEqual(
		entriesOf(greeted.effects).map(({key}) => key),
		['pods/default/web'],
	);
	put(index, aSecret('db'));
	t.deepEqual(
		entriesOf(on(greeted, index, dbKey).effects).map(({key}) => key),
		[dbKey],
	);
});

test('large ConfigMaps keep to the window; the rest goes when it opens', t => {
	const many = Array.from({length: 12}, (_, i) => `m${i}`);
	const pod = aReadyPod({spec: {nodeName: 'node-a', containers: [aContainer({envFrom: many.map(name => ({configMapRef: {name}}))})]}});
	const index = indexOf(pod, ...many.map(name => aConfigMap(name, {text: 'x'.repeat(60_000)})));
	const greeted = greet(index);
	const first = entriesOf(greeted.effects).length;
	t.true(first > 0 && first < 8, String(first));
	const taken: NodeDispatcherMessage = {type: 'deltaTaken', session: 'session-1', number: greeted.state.deltas};
	const rest = playFrom(nodeDispatcher, greeted.state, [taken], around(index));
	t.true(entriesOf(rest.effects).length > 0);
});

// ---- node --------------------------------------------------------------------------------------------------------------------

const named = 'troupe://node-a/named';
const keep = (overrides: Partial<KeepConfig> = {}): KeepConfig => ({
	type: 'keepConfig',
	key: dbKey,
	version: 'v1',
	named: secretCopy,
	...overrides,
});

test('the node’s end hands each entry to whoever keeps it, and tells with its hello what it has', t => {
	const known = cacheOf({[settingsKey]: configMapOf({a: 'b'}), [dbKey]: secretCopy});
	const start = play(nodeEnd, {node: 'node-a', labels: {}, info: aRuntimeInfo()}, [], playContext({self: 'troupe://node-a/sync', known}));
	const hello = start.effects.flatMap(effect =>
		effect.type === 'tell' ? [effect.message as Message & {have: object; protocol: number}] : [],
	)[0];
	t.deepEqual(hello?.have, {[settingsKey]: 'v1', [dbKey]: 'v1'});
	t.is(hello?.protocol, syncProtocol);
	const entries: DeltaEntry[] = [
		{key: dbKey, version: 'v2', named: {type: 'secret'}},
		{key: 'pods/default/web', version: 'v1', assignment: anAssignment()},
	];
	const delta: Delta = {type: 'delta', session: start.state.session, number: 1, epoch: 7, lineage: 'ours', entries, complete: true};
	const {effects} = playFrom(nodeEnd, start.state, [delta], playContext({self: 'troupe://node-a/sync', known}));
	t.deepEqual(
		effects.flatMap(effect => (effect.type === 'ask' ? [[effect.to, effect.message.type]] : [])),
		[
			[named, 'keepConfig'],
			['troupe://node-a/pods', 'assign'],
		],
	);
});

test('an object is kept until control says that it is not named any more; then the edge forgets its values', t => {
	const replyTo = {to: 'troupe://node-a/sync', as: 'assigned', id: '1'};
	const kept = play(configCopy, keep({replyTo}), [], playContext({self: `${named}/secrets.default.db`}));
	t.like(kept.object, {metadata: {name: 'db', namespace: 'default', uid: dbKey}, spec: {named: {type: 'secret'}, version: 'v1'}});
	t.like(kept.effects, [{type: 'reply'}]);
	const changed = playFrom(configCopy, kept.state, [keep({version: 'v2'})], playContext({}));
	t.like(changed.object?.spec, {version: 'v2'});
	const gone = playFrom(configCopy, changed.state, [keep({named: null, replyTo})], playContext({self: `${named}/secrets.default.db`}));
	t.is(gone.object, undefined);
	t.like(gone.effects, [{type: 'reply'}, {type: 'tell', to: named, message: {type: 'retainSecrets'}}]);
});

test('after a restart all that was kept is there again, and the edge is told which Secrets those are', t => {
	const known = cacheOf({[settingsKey]: configMapOf({}), [dbKey]: secretCopy});
	const {effects} = play(configCache, null, [], playContext({self: named, known}));
	t.deepEqual(
		effects.map(effect => (effect.type === 'spawn' ? [effect.name, effect.snapshot] : effect.type === 'perform' ? effect.command : effect)),
		[['configmaps.default.settings', settingsKey], ['secrets.default.db', dbKey], {type: 'secrets.retain', keys: [dbKey]}] as unknown[],
	);
	const failedOnce = {type: 'secretsRetained', id: 'secrets/retain', outcome: failed('ERR_RUNTIME', {message: 'disk'})} as const;
	t.like(play(configCache, null, [failedOnce], playContext({self: named, known})).effects, [
		{type: 'wakeAt', message: {type: 'retainSecrets'}},
	]);
});

test('a new one gets an actor, a known one is told, and one that is not there is no trouble', t => {
	const context = playContext({self: named});
	t.like(play(configCache, null, [keep()], context).effects.at(-1), {type: 'spawn', name: 'secrets.default.db'});
	const replyTo = {to: 'x', as: 'assigned', id: '1'};
	t.like(play(configCache, null, [keep({named: null, replyTo})], context).effects.at(-1), {type: 'reply', outcome: {ok: true}});
	const withChild = {...context, children: ['secrets.default.db'], hasChild: () => true};
	t.like(play(configCache, null, [keep()], withChild).effects.at(-1), {type: 'tell', to: `${named}/secrets.default.db`});
});

test('a change of what is kept wakes the hands of the pods that name it, and they their containers', t => {
	const known = cacheOf({});
	const assignment = anAssignment({spec: {containers: [aContainer(uses), aContainer({name: 'other'})]}});
	known.apply('assignments/default/web', 1, assignmentObject(assignment, 'v1', nowMs), () => '');
	known.apply('assignments/default/db', 2, assignmentObject(anAssignment({name: 'db', uid: 'u'}), 'v1', nowMs), () => '');
	const change = known.apply(dbKey, 3, {...aSecret('db')}, () => '');
	t.deepEqual([...nodeDesign.wakesOf(change, known)], [{to: 'troupe://node-a/pods/default.web', message: {type: 'configChanged'}}]);
	const assign = {type: 'assign', key: 'pods/default/web', version: 'v1', assignment} as const;
	const self = 'troupe://node-a/pods/default.web';
	const told = play(hand, assign, [{type: 'sandboxReady', sandbox}, {type: 'configChanged'}], playContext({self})).effects;
	t.deepEqual(
		told.map(effect => (effect.type === 'tell' ? [effect.to, effect.message.type] : [])),
		[
			[`${self}/main`, 'configChanged'],
			[`${self}/other`, 'configChanged'],
		],
	);
	t.deepEqual(
		play(hand, assign, [{type: 'configChanged'}], playContext({self})).effects.filter(({type}) => type === 'tell'),
		[],
	);
});

// ---- containers --------------------------------------------------------------------------------------------------------------

const owner = 'troupe://node-a/pods/default.web';
const inspected: ContainerMessage = {
	type: 'inspected',
	id: '',
	outcome: {ok: true, value: {running: undefined, lastExit: undefined, nextAttempt: 0}},
};
const startedWith = (outcome: Extract<ContainerMessage, {type: 'started'}>['outcome']): ContainerMessage => ({
	type: 'started',
	id: 'uid-of-web/main/start/0',
	outcome,
});
const news: ContainerMessage = {type: 'configChanged'};

const begin = (known: ObjectIndex): Played<ContainerActorState> =>
	play(
		container,
		{
			assignment: anAssignment(),
			container: aContainer(uses),
			role: 'main',
			held: false,
			stopGraceMs: undefined,
			sandbox,
			sandboxes: 0,
			owner,
		},
		[inspected],
		playContext({known}),
	);
const then = (
	{state}: Played<ContainerActorState>,
	known: ObjectIndex,
	...messages: readonly ContainerMessage[]
): Played<ContainerActorState> => playFrom(container, state, messages, playContext({known}));
const told = (effects: readonly Effect[]): ContainerChanged | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.to === owner ? [effect.message as ContainerChanged] : [])).at(-1);
const waitingOf = ({effects}: Played<ContainerActorState>): readonly (string | undefined)[] => {
	const waiting = told(effects)?.status.state?.waiting;
	return [waiting?.reason, waiting?.message];
};
const starts = ({effects}: Played<ContainerActorState>): number => effects.filter(({type}) => type === 'perform').length;

const complete = cacheOf({[settingsKey]: configMapOf({colour: 'green'}), [dbKey]: secretCopy});
const withoutSecret = cacheOf({[settingsKey]: configMapOf({})});

test('a container waits by name for what is not there, says so once, and starts by itself when it has come', t => {
	const waiting = begin(cacheOf({}));
	t.deepEqual(waitingOf(waiting), ['CreateContainerConfigError', 'configmap "settings" not found']);
	t.deepEqual(told(waiting.effects)?.events, [
		{event: 'Warning', reason: 'Failed', message: 'configmap "settings" not found', fieldPath: 'spec.containers{main}'},
	]);
	t.is(starts(waiting), 0);
	t.deepEqual(then(waiting, cacheOf({}), news).effects, []);
	const next = then(waiting, withoutSecret, news);
	t.deepEqual(waitingOf(next), ['CreateContainerConfigError', 'secret "db" not found']);
	t.is(starts(then(next, complete, news)), 1);
});

test('the command that starts it names Secrets and holds no value', t => {
	const [effect] = begin(complete).effects;
	const command = effect?.type === 'perform' ? (effect.command as Extract<RuntimeCommand, {type: 'container.start'}>) : undefined;
	t.deepEqual(command?.spec.env.slice(4), [
		{name: 'colour', value: 'green'},
		{name: 'PASSWORD', parts: [{secret: 'db', version: 'v1', key: 'password', optional: false, otherwise: undefined}]},
	]);
});

test('what the edge does not find is waited for like what was known to be missing', t => {
	const missing = failed('ERR_CONFIG_MISSING', {message: "couldn't find key password in Secret default/db"});
	const waiting = then(begin(complete), complete, startedWith(missing));
	t.deepEqual(waitingOf(waiting), ['CreateContainerConfigError', "couldn't find key password in Secret default/db"]);
	t.false(waiting.effects.some(({type}) => type === 'wakeAt'));
	t.is(starts(then(waiting, complete, news)), 1);
});

test('news that come while the edge is looking are not lost', t => {
	const asked = then(begin(complete), complete, news);
	t.is(starts(asked), 0);
	const again = then(asked, complete, startedWith(failed('ERR_CONFIG_MISSING', {message: 'gone'})));
	t.is(starts(again), 1);
	t.deepEqual(waitingOf(then(again, complete, startedWith(failed('ERR_CONFIG_MISSING', {message: 'gone'})))), [
		'CreateContainerConfigError',
		'gone',
	]);
});

test('a Secret that cannot be fetched is tried again after a while, and at once when control is back', t => {
	const unreachable = {ok: false, error: failure('ERR_NOT_REACHABLE', {message: 'no server answers'})} as const;
	const waiting = then(begin(complete), complete, startedWith(unreachable));
	t.deepEqual(waitingOf(waiting), ['CreateContainerConfigError', 'no server answers']);
	t.like(
		waiting.effects.find(({type}) => type === 'wakeAt'),
		{name: 'retry'},
	);
	t.is(starts(then(waiting, complete, {type: 'retry'})), 1);
	t.is(starts(then(waiting, complete, news)), 1);
});

test('a container that runs is not disturbed by news', t => {
	const running = then(begin(complete), complete, startedWith({ok: true, value: aRunningContainer()}));
	t.deepEqual(then(running, cacheOf({}), news).effects, []);
	t.is(told(running.effects)?.status.state?.running !== undefined, true);
});
