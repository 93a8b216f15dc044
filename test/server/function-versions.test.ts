// Calls of one version of a function: whom they ask for a slot, also when that changes meanwhile, and what becomes of them when the version is gone.

import {once} from 'node:events';
import {createServer} from 'node:http';
import {connect, type AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {activatorOf, activatorsAddress} from '../../actors/addresses.js';
import type {Acquire} from '../../actors/control/functions/function-message.js';
import {versionOf} from '../../actors/control/functions/function-version.js';
import {AppError, failed, succeeded} from '../../api/errors.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {createFunctionCalls} from '../../server/functions/calls.js';
import {isHopeless, whyNoInstance} from '../../server/functions/why-no-instance.js';
import {systemClock} from '../../system/time/clock.js';
import {aFunction, anInstance, digest, version} from '../actors/_functions.js';
import {testCluster} from './cluster.js';

const old = aFunction({artifact: digest('b')});
const word = versionOf(old) ?? '';
const setOf = (fn: FunctionObject, revision: number): ReplicaSet => version(fn, revision, 0)[0] as ReplicaSet;

/** A cluster whose activators give out the slots of one instance; who was asked, and for what. */
async function world(t: ExecutionContext) {
	const cluster = testCluster();
	const instance = createServer((_request, response) => void response.end('"done"')).listen(0, '127.0.0.1');
	await once(instance, 'listening');
	t.teardown(() => {
		instance.closeAllConnections();
		instance.close();
	});
	const {port} = instance.address() as AddressInfo;
	const connectHere = () => async () => {
		const socket = connect(port, '127.0.0.1');
		await once(socket, 'connect');
		return socket;
	};
	const calls = createFunctionCalls({control: cluster.control, clock: systemClock, connectHere});
	t.teardown(() => calls.close());
	cluster.answers.set(activatorsAddress, () => succeeded({uid: 'one', pod: 'add-1', node: 'here'}));
	for (const revision of [undefined, 1]) cluster.answers.set(activatorOf('default', 'add', revision), () => succeeded(null));
	const called = (of?: string) =>
		calls.callWhole(
			{namespace: 'default', name: 'add'},
			{
				...{id: 'call', by: undefined, path: undefined, contentType: 'application/json', headers: {}},
				...{body: Buffer.from('{}'), answerBytes: 100, version: of},
			},
		);
	const asked = (): readonly object[] =>
		cluster.asked.flatMap(({message}) => {
			const {type, revision, version: wanted} = message as unknown as Acquire;
			return type === 'acquire'
				? [{...(revision === undefined ? {} : {revision}), ...(wanted === undefined ? {} : {version: wanted})}]
				: [];
		});
	return {cluster, called, asked};
}

test('a call of the newest version asks for that one, and one that says none as ever', async t => {
	const {cluster, called, asked} = await world(t);
	cluster.put(old);
	t.is((await called(word)).body.toString(), '"done"');
	await called();
	t.deepEqual(asked(), [{version: word}, {}]);
});

test('a call of an older version asks the activator that the version has, whatever traffic says of others', async t => {
	const {cluster, called, asked} = await world(t);
	cluster.put(aFunction({traffic: [{revision: 2}]}, {apart: [1]}));
	cluster.put(setOf(old, 1));
	await called(word);
	cluster.put(aFunction({traffic: [{revision: 1, weight: 0}, {}]}));
	await called(word);
	cluster.put(aFunction());
	await called(word);
	t.deepEqual(asked(), [{revision: 1}, {revision: 1}, {version: word}]);
});

test('a call whose version gets an activator of its own, or is the newest one again, asks there', async t => {
	const {cluster, called, asked} = await world(t);
	cluster.put(aFunction());
	cluster.put(setOf(old, 1));
	const slot = succeeded({uid: 'one', pod: 'add-1', node: 'here'});
	const turns = [
		() => void cluster.put(aFunction({}, {apart: [1]})),
		() => void cluster.put({...old, status: {}}),
		// The activator went in just that moment.
		() => undefined,
	];
	cluster.answers.set(activatorsAddress, () => {
		const turn = turns.shift();
		turn?.();
		return turn === undefined ? slot : failed('ERR_ACTOR_STOPPED', {address: activatorsAddress});
	});
	await called(word);
	t.deepEqual(asked(), [{version: word}, {revision: 1}, {version: word}, {version: word}]);
});

test('an activator that is not there again and again is no reason to ask for ever', async t => {
	const {cluster, called, asked} = await world(t);
	cluster.put(old);
	cluster.answers.set(activatorsAddress, () => failed('ERR_ACTOR_STOPPED', {address: activatorsAddress}));
	await t.throwsAsync(called(word), {instanceOf: AppError, code: 'ERR_ACTOR_STOPPED'});
	t.true(asked().length < 10);
});

test('a call of a version that is gone is told so, also when it goes meanwhile, and asks nobody', async t => {
	const {cluster, called, asked} = await world(t);
	cluster.put(aFunction());
	const gone = {instanceOf: AppError, code: 'ERR_VERSION_GONE', message: /^the function "default\/add" has no version "\w+" any more: /};
	await t.throwsAsync(called(word), gone);
	t.deepEqual(asked(), []);
	cluster.put(old);
	cluster.answers.set(activatorsAddress, () => {
		cluster.put(aFunction());
		return failed('ERR_ACTOR_STOPPED', {address: activatorsAddress});
	});
	await t.throwsAsync(called(word), gone);
	await t.throwsAsync((await world(t)).called(word), {code: 'ERR_NOT_FOUND'});
});

test('a version whose instances end again and again keeps no call of another one waiting, nor lets it hope', t => {
	const cluster = testCluster();
	const broken = (set: ReplicaSet, name: string): Pod => {
		const terminated = {
			exitCode: 1,
			message: `${name} cannot be loaded`,
			startedAt: '2030-01-01T00:00:00Z',
			finishedAt: '2030-01-01T00:00:01Z',
		};
		const status = {name: 'function', image: 'python', ready: false, restartCount: 9, lastState: {terminated}};
		return {...anInstance(set, name), status: {phase: 'Running', containerStatuses: [status]}} as unknown as Pod;
	};
	const fn = aFunction({}, {apart: [1]});
	const [oldSet, newSet] = [setOf(old, 1), setOf(fn, 2)];
	for (const object of [fn, oldSet, newSet, anInstance(oldSet, 'well'), broken(newSet, 'ill')]) cluster.put(object);
	const {index} = cluster.control;
	const add = {namespace: 'default', name: 'add'};
	t.true(isHopeless(index, add, {}));
	t.true(isHopeless(index, add, {version: versionOf(fn) ?? ''}));
	t.false(isHopeless(index, add, {revision: 1}));
	t.regex(whyNoInstance(index, add, {}, 1_000), /within 1 s: ill: ill cannot be loaded$/);
	t.regex(whyNoInstance(index, add, {revision: 1}, 1_000), /within 1 s: none was free$/);
	cluster.put(aFunction());
	t.false(isHopeless(index, add, {}), 'the older one stands in for it');
	t.true(isHopeless(index, add, {version: versionOf(fn) ?? ''}));
});
