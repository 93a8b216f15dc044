// An ask from one system to another over MQTT, and a tell that is answered by a tell, in turn with the bare round trip under both:
// two mqtt.js clients that publish to each other at QoS 1 through the same broker. One at a time is under way, with the same text in
// it; everything is in one process, over sockets of the loopback.

import {once, type EventEmitter} from 'node:events';
import type {Socket} from 'node:net';
import mqtt, {type MqttClient} from 'mqtt';
import {address} from '../api/keys.js';
import {ActorSystem} from '../system/kernel/actor-system.js';
import {next, reply, tell, type AnyBehavior, type Behavior, type Message} from '../system/kernel/behavior.js';
import {createBroker, type Broker} from '../system/broker/broker.js';
import {Bus} from '../system/links/bus.js';
import {systemClock} from '../system/time/clock.js';
import type {Executor} from '../system/kernel/executor.js';
import {connectMqttLink, type MqttLink} from '../system/links/mqtt-link.js';
import {createNactExecutor} from '../system/kernel/nact-executor.js';
import {systemRandom} from '../system/time/random.js';
import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import type {Scope} from './harness/scope.js';
import {ratios} from './harness/table.js';

const defaultRounds = 500;
const warmUpRounds = 100;
const answerMs = 5_000;
/** What is said and answered, on both sides. */
const text = 'x'.repeat(200);
/** A round trip through the bus, by the bare one. */
const goal = {atMost: 1.3};

export const busBenchmark: Benchmark = {
	name: 'bus',
	about: `an ask and a tell to another system over MQTT, and the bare round trip at QoS 1; ${text.length} bytes each way`,
	async run({rounds = defaultRounds}, scope) {
		const {broker, url} = await openBroker(scope);
		const {ask, tellAndHear} = await openSystems(scope, url);
		const roundTrip = await openClients(scope, url);
		const [asks, tells, bare]: [number[], number[], number[]] = [[], [], []];
		for (let round = -warmUpRounds; round < rounds; round++) {
			const times = [await timed(ask), await timed(roundTrip), await timed(tellAndHear)] as const;
			if (round < 0) continue;
			asks.push(times[0]);
			bare.push(times[1]);
			tells.push(times[2]);
		}
		const dropped = broker.counters().outboxDropped;
		return [
			{what: 'ask and answer', values: asks, unit: 'ms', ...(dropped === 0 ? {} : {note: `${dropped} messages were dropped`})},
			{what: 'tell there, tell back', values: tells, unit: 'ms'},
			{what: 'bare round trip', values: bare, unit: 'ms'},
			{what: 'ask / bare', values: ratios(asks, bare), unit: 'x', goal},
			{what: 'tell / bare', values: ratios(tells, bare), unit: 'x', goal},
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

type Said = Message & {readonly text: string};

/** The root starts one actor that answers, and one that hears answers which nobody asked for. */
const parent: Behavior<null, null, Message> = {
	kind: 'Parent',
	init: () =>
		next(null, [
			{type: 'spawn', name: 'echo', behavior: 'Echo', input: null, restart: 'permanent'},
			{type: 'spawn', name: 'ear', behavior: 'Ear', input: null, restart: 'permanent'},
		]),
	receive: state => next(state),
};
const echo: Behavior<null, null, Said> = {
	kind: 'Echo',
	init: () => next(null),
	receive(state, said) {
		if (said.replyTo !== undefined) return next(state, reply(said.replyTo, {ok: true, value: said.text}));
		return next(state, [tell<Said>(address('asking', 'ear'), {type: 'back', text: said.text})]);
	},
};

let whenHeard: () => void = () => undefined;
const ear: Behavior<null, null, Said> = {
	kind: 'Ear',
	init: () => next(null),
	receive(state) {
		whenHeard();
		return next(state);
	},
};
const behaviors: {readonly [name: string]: AnyBehavior} = {Parent: parent, Echo: echo, Ear: ear};

type Trips = {readonly ask: () => Promise<void>; readonly tellAndHear: () => Promise<void>};

async function openSystems(scope: Scope, url: string): Promise<Trips> {
	const executor = createNactExecutor(systemClock);
	scope.defer(() => executor.close());
	const [asking] = await Promise.all([openSystem(scope, executor, url, 'asking'), openSystem(scope, executor, url, 'asked')]);
	const to = address('asked', 'echo');
	const said: Said = {type: 'said', text};
	return {
		ask: () =>
			new Promise((resolve, reject) => {
				asking.ask(to, said, {deadlineMs: answerMs, cause: 'bench'}, outcome =>
					outcome.ok ? resolve() : reject(new Error(outcome.error.message)),
				);
			}),
		tellAndHear: () =>
			new Promise(resolve => {
				whenHeard = resolve;
				asking.tell(to, said, 'bench');
			}),
	};
}

async function openSystem(scope: Scope, executor: Executor, url: string, name: string): Promise<ActorSystem> {
	const link = await new Promise<MqttLink>(resolve => {
		const boot = systemRandom.uuid();
		const made: MqttLink = connectMqttLink({url, self: name, password: '', clientId: `${name}-${boot}`, onConnected: () => resolve(made)});
	});
	const bus = new Bus({boot: systemRandom.uuid(), clock: systemClock, links: {control: link}, measure: true, accepts: () => true});
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
	asked.on('message', () => asked.publish('bench/answer', text, {qos: 1}));
	return () =>
		new Promise(resolve => {
			asking.once('message', () => resolve());
			asking.publish('bench/question', text, {qos: 1});
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
