// Two actor systems that talk over an MQTT broker: an actor of `north` asks one of `south`, watches it, and hears of its end. All three
// are in this process to be short; each system has a connection of its own and might as well be on another host.
//
// `node build/examples/actors/two-systems.js`

import {succeeded} from '../../api/errors.js';
import {address} from '../../api/keys.js';
import {createBroker} from '../../system/broker/broker.js';
import {ActorSystem} from '../../system/kernel/actor-system.js';
import {next, reply, stop, type AnyBehavior, type Behavior, type Command, type Effect, type Message, type Reply} from '../../system/kernel/behavior.js';
import {createNactExecutor} from '../../system/kernel/nact-executor.js';
import {Bus} from '../../system/links/bus.js';
import {connectMqttLink} from '../../system/links/mqtt-link.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';

type Multiply = Message & {readonly factors: readonly [number, number]};
type Print = Command & {readonly text: string; readonly isLast: boolean};

const there = address('south', '');
const multiply: Multiply = {type: 'multiply', factors: [6, 7]};

/** In `south`: answers one question and ends. */
const multiplier: Behavior<null, null, Multiply> = {
	kind: 'Multiplier',
	init: () => next(null),
	receive: (state, {factors: [a, b], replyTo}) => stop(state, reply(replyTo, succeeded(a * b))),
};

/** In `north`: what it hears of the other comes as a message and as a signal. A behaviour does nothing itself, not even print. */
const asker: Behavior<null, null, Reply<number>> = {
	kind: 'Asker',
	init: () =>
		next(null, [
			{type: 'watch', address: there},
			{type: 'ask', to: there, message: multiply, as: 'product', id: '6 * 7'},
		]),
	receive: (state, {type, id, outcome}) =>
		next(state, type === 'product' ? [print(`${id} is ${outcome.ok ? outcome.value : outcome.error.message}`)] : []),
	signal: (state, signal) => (signal.type === 'down' ? stop(state, [print(`${there} has ended: ${signal.reason.type}`, true)]) : next(state)),
};

function print(text: string, isLast = false): Effect {
	const command: Print = {type: 'print', text, isLast};
	return {type: 'perform', command, key: text, as: 'printed'};
}

const broker = await createBroker({
	clock: systemClock,
	authenticate: name => (name === undefined ? undefined : {name}),
	may: () => true,
	retainedSource: {match: () => [], owns: () => false},
});
const {port} = await broker.listen('127.0.0.1', 0);
const executor = createNactExecutor(systemClock);
const closing: (() => unknown)[] = [() => broker.close(), () => executor.close()];

function startSystem(name: string, root: AnyBehavior): void {
	const boot = systemRandom.uuid();
	const link = connectMqttLink({url: `mqtt://127.0.0.1:${port}`, self: name, password: '', clientId: `${name}-${boot}`});
	const bus = new Bus({boot, clock: systemClock, links: {control: link}, measure: true, accepts: () => true});
	const system = new ActorSystem({
		name,
		executor,
		clock: systemClock,
		random: systemRandom,
		behaviors: {root},
		remote: (other, to, envelope) => bus.send(other, to, envelope),
		perform(command, done) {
			const {text, isLast} = command as Print;
			console.log(text);
			done(succeeded(undefined));
			if (isLast) for (const close of closing.toReversed()) close();
		},
	});
	bus.join(system);
	system.start('root', null);
	closing.push(() => bus.close(), () => system.close());
}

startSystem('south', multiplier);
startSystem('north', asker);
