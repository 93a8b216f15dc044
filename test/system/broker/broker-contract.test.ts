import {once, type EventEmitter} from 'node:events';
import test, {type ExecutionContext} from 'ava';
import mqtt from 'mqtt';
import {createBroker} from '../../../system/broker/broker.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {noRetained} from './broker-rig.js';
import {World} from '../../../system/world/world.js';
import {WorldBroker} from '../../../system/world/broker.js';
import {brokerContract, type ContractClient, type ContractRig, type ContractWill} from './broker-contract.js';

brokerContract(test, 'broker', openReal);
brokerContract(test, 'broker of the virtual world', openVirtual);

async function openReal(t: ExecutionContext): Promise<ContractRig> {
	const broker = await createBroker({
		clock: new ManualClock(),
		authenticate: name => (name === undefined ? undefined : {name}),
		may: () => true,
		retainedSource: noRetained,
	});
	t.teardown(() => broker.close());
	const {port} = await broker.listen('127.0.0.1', 0);
	const changed = new Set<() => void>();
	const tell = (): void => {
		for (const check of changed) check();
	};
	const until = (holds: () => boolean): Promise<void> =>
		new Promise(resolve => {
			const check = (): void => {
				if (!holds()) return;
				changed.delete(check);
				resolve();
			};
			changed.add(check);
			check();
		});

	async function connect(clientId: string, will?: ContractWill): Promise<ContractClient> {
		const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
			clientId,
			username: 'everybody',
			password: 'known',
			reconnectPeriod: 0,
			timerVariant: 'native',
			...(will === undefined ? {} : {will: {...will, payload: Buffer.from(will.payload), qos: 0 as const}}),
		});
		const heard: string[] = [];
		client.on('error', () => undefined);
		client.on('close', tell);
		client.on('message', (topic, payload, {retain}) => {
			heard.push(`${retain ? '!' : ''}${topic}=${payload.toString()}`);
			tell();
		});
		t.teardown(() => client.endAsync(true));
		await once(client as unknown as EventEmitter, 'connect');
		return {
			publish: (topic, payload, retain = false) => void client.publish(topic, payload, {retain}),
			subscribe: async filter => void (await client.subscribeAsync(filter)),
			heard,
			isOpen: () => client.connected,
			end: () => client.endAsync(),
			async cut() {
				const closed = once(client as unknown as EventEmitter, 'close');
				client.stream.destroy();
				await closed;
			},
		};
	}
	return {connect, until};
}

const longMs = 60_000;

function openVirtual(): Promise<ContractRig> {
	const world = new World(7);
	const broker = new WorldBroker(world, world.process(world.host('broker')));
	const settle = (): Promise<void> => {
		world.run(1);
		return Promise.resolve();
	};

	function connect(clientId: string, will?: ContractWill): Promise<ContractClient> {
		const process = world.process(world.host(clientId));
		const heard: string[] = [];
		let isOpen = true;
		const connection = broker.connect({clientId, process, ...(will === undefined ? {} : {will}), onClosed: () => (isOpen = false)});
		return Promise.resolve({
			publish: (topic, payload, retain = false) => connection.publish(topic, payload, retain),
			subscribe(filter) {
				connection.subscribe(filter, (topic, payload, retained) => heard.push(`${retained ? '!' : ''}${topic}=${String(payload)}`));
				return settle();
			},
			heard,
			isOpen: () => isOpen,
			end() {
				connection.end();
				return settle();
			},
			cut() {
				process.kill();
				return settle();
			},
		});
	}
	return Promise.resolve({
		connect,
		until(holds) {
			for (let ms = 0; !holds(); ms++) {
				if (ms > longMs) throw new Error('it never comes to hold');
				world.run(1);
			}
			return Promise.resolve();
		},
	});
}
