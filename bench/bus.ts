// An ask from one system to another over MQTT, in turn with the bare round trip under it: two mqtt.js clients that publish to each
// other at QoS 1 through the same broker. Everything is in one process, over sockets of the loopback.

import {once, type EventEmitter} from 'node:events';
import type {Socket} from 'node:net';
import mqtt, {type MqttClient} from 'mqtt';
import {address} from '../api/keys.js';
import {ActorSystem} from '../system/actor-system.js';
import {next, reply, type AnyBehavior, type Behavior, type Message} from '../system/behavior.js';
import {createBroker, type Broker} from '../system/broker.js';
import {Bus} from '../system/bus.js';
import {systemClock} from '../system/clock.js';
import type {Executor} from '../system/executor.js';
import {connectMqttLink, type MqttLink} from '../system/mqtt-link.js';
import {createNactExecutor} from '../system/nact-executor.js';
import {systemRandom} from '../system/random.js';
import type {Benchmark} from './benchmark.js';
import {within} from './deadline.js';
import type {Scope} from './scope.js';
import {ratios} from './table.js';

const defaultRounds = 500;
const warmUpRounds = 100;
const answerMs = 5_000;

export const busBenchmark: Benchmark = {
	name: 'bus',
	about: 'one ask to another system over MQTT, and the bare round trip at QoS 1',
	async run({rounds = defaultRounds}, scope) {
		const {broker, url} = await openBroker(scope);
		const ask = await openSystems(scope, url);
		const roundTrip = await openClients(scope, url);
		const ours: number[] = [];
		const bare: number[] = [];
		for (let round = -warmUpRounds; round < rounds; round++) {
			const times = [await timed(ask), await timed(roundTrip)] as const;
			if (round < 0) continue;
			ours.push(times[0]);
			bare.push(times[1]);
		}
		const dropped = broker.counters().outboxDropped;
		return [
			{what: 'ask', values: ours, unit: 'ms', ...(dropped === 0 ? {} : {note: `${dropped} messages were dropped`})},
			{what: 'bare round trip', values: bare, unit: 'ms'},
			{what: 'ask / bare', values: ratios(ours, bare), unit: 'x'},
		];
	},
};

async function timed(work: () => Promise<unknown>): Promise<number> {
	const startedAt = performance.now();
	await within(answerMs, 'an answer', work());
	return performance.now() - startedAt;
}

/** Everybody may come in and do everything: rights are not what is measured. */
async function openBroker(scope: Scope): Promise<{readonly broker: Broker; readonly url: string}> {
	const broker = await createBroker({
		clock: systemClock,
		authenticate: name => (name === undefined ? undefined : {name}),
		may: () => true,
		retainedSource: {match: () => [], owns: () => false},
	});
	scope.defer(() => broker.close());
	const {port} = await broker.listen('127.0.0.1', 0);
	return {broker, url: `mqtt://127.0.0.1:${port}`};
}

/** The root starts one actor, which answers every question. */
const parent: Behavior<null, null, Message> = {
	kind: 'Parent',
	init: () => next(null, [{type: 'spawn', name: 'echo', behavior: 'Echo', input: null, restart: 'permanent'}]),
	receive: state => next(state),
};
const echo: Behavior<null, null, Message> = {
	kind: 'Echo',
	init: () => next(null),
	receive: (state, {replyTo}) => next(state, reply(replyTo, {ok: true, value: null})),
};
const behaviors: {readonly [name: string]: AnyBehavior} = {Parent: parent, Echo: echo};

async function openSystems(scope: Scope, url: string): Promise<() => Promise<void>> {
	const executor = createNactExecutor(systemClock);
	scope.defer(() => executor.close());
	const [asking] = await Promise.all([openSystem(scope, executor, url, 'asking'), openSystem(scope, executor, url, 'asked')]);
	const to = address('asked', 'echo');
	return () =>
		new Promise((resolve, reject) => {
			asking.ask(to, {type: 'question'}, {deadlineMs: answerMs, cause: 'bench'}, outcome =>
				outcome.ok ? resolve() : reject(new Error(outcome.error.message)),
			);
		});
}

async function openSystem(scope: Scope, executor: Executor, url: string, name: string): Promise<ActorSystem> {
	const link = await new Promise<MqttLink>(resolve => {
		const boot = systemRandom.uuid();
		const made: MqttLink = connectMqttLink({url, self: name, password: '', clientId: `${name}-${boot}`, onConnected: () => resolve(made)});
	});
	const bus = new Bus({boot: systemRandom.uuid(), clock: systemClock, link, measure: true, accepts: () => true});
	scope.defer(() => bus.close());
	const system = new ActorSystem({
		name,
		executor,
		clock: systemClock,
		random: systemRandom,
		behaviors,
		remote: (other, to, envelope) => bus.send(other, to, envelope),
	});
	bus.join(system);
	system.start('Parent', null);
	scope.defer(() => system.close());
	return system;
}

async function openClients(scope: Scope, url: string): Promise<() => Promise<void>> {
	const [asking, asked] = await Promise.all([openClient(scope, url, 'bare-asking'), openClient(scope, url, 'bare-asked')]);
	await Promise.all([asking.subscribeAsync('bench/answer', {qos: 1}), asked.subscribeAsync('bench/question', {qos: 1})]);
	asked.on('message', () => asked.publish('bench/answer', 'answer', {qos: 1}));
	return () =>
		new Promise(resolve => {
			asking.once('message', () => resolve());
			asking.publish('bench/question', 'question', {qos: 1});
		});
}

async function openClient(scope: Scope, url: string, username: string): Promise<MqttClient> {
	const client = mqtt.connect(url, {username, password: '', clientId: username, reconnectPeriod: 0});
	scope.defer(() => client.endAsync(true));
	await once(client as unknown as EventEmitter, 'connect');
	// mqtt.js leaves Nagle's algorithm on: with delayed acknowledgements each round trip would wait 40 ms for nothing.
	(client.stream as Socket).setNoDelay(true);
	return client;
}
