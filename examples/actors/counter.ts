// A counter under a supervisor. What it cannot count crashes it, and its supervisor starts it again: what it had counted, and the messages
// that wait for it, are kept. One crash too many in a minute is the failure of the supervisor, which then starts anew itself.
//
// `node build/examples/actors/counter.js`

import {succeeded} from '../../api/errors.js';
import {address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {ActorSystem} from '../../system/kernel/actor-system.js';
import {next, reply, tell, type Behavior, type Message} from '../../system/kernel/behavior.js';
import {createNactExecutor} from '../../system/kernel/nact-executor.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';

type Add = Message & {readonly amount: number};
type Count = ApiObject & {readonly spec: {readonly count: number}};

const key = 'counters/demo/visits';
const metadata = {name: 'visits', namespace: 'demo', uid: '1', resourceVersion: '', generation: 1, creationTimestamp: ''};

/** A function from a state and a message to a new state and effects. The state is an object: it is committed before the answer goes out. */
const counter: Behavior<null, Count, Add> = {
	kind: 'Counter',
	init: () => next({apiVersion: 'demo/v1', kind: 'Counter', metadata, spec: {count: 0}}),
	receive(state, {amount, replyTo}) {
		if (!Number.isInteger(amount)) throw new Error(`${amount} is no whole number`);
		const count = state.spec.count + amount;
		return next({...state, spec: {count}}, reply(replyTo, succeeded(count)));
	},
	persistence: {key: () => key, objectOf: state => state, withObject: (_state, object) => object as Count, restore: object => object as Count},
};

/** Starts the counter, from what was committed if there is such a thing, and hands on what it is asked. */
const supervisor: Behavior<null, null, Message> = {
	kind: 'Supervisor',
	init: () => next(null, [{type: 'spawn', name: 'counter', behavior: 'counter', snapshot: key}]),
	receive: (state, message) => next(state, [tell(address('demo', 'counter'), message)]),
};

const executor = createNactExecutor(systemClock);
const index = new ObjectIndex();
const system = new ActorSystem({
	name: 'demo',
	executor,
	clock: systemClock,
	random: systemRandom,
	behaviors: {supervisor, counter},
	// In the place of a store: what is committed is kept in memory.
	persistent: {
		known: index,
		submit: ({object, done}) => executor.defer(() => done({ok: true, change: index.apply(key, index.version + 1, object, () => '')})),
		recordEvent: () => undefined,
	},
	observer: {lifecycle: ({type, address: of}) => console.log(`  ${of} ${type}`)},
});

system.start('supervisor', null);
const bad = Array<number>(limits.restartIntensity + 1).fill(0.5);
for (const amount of [1, 2, ...bad, 4]) {
	await new Promise<void>(resolve => {
		const message: Add = {type: 'add', amount};
		system.ask(address('demo', ''), message, {deadlineMs: 5_000, cause: 'example'}, outcome => {
			console.log(`add ${amount}: ${outcome.ok ? String(outcome.value) : outcome.error.message}`);
			resolve();
		});
	});
}
system.stop(() => executor.close());
