// A real control plane in memory, and its doors for objects (HTTP) and for nodes and tools (MQTT).

import type {ExecutionContext} from 'ava';
import {AppError, type Failure} from '../../api/errors.js';
import {may, type Identity} from '../../api/roles.js';
import {openControl, type ControlOptions, type ControlSystem} from '../../actors/control/start.js';
import {controlPlaneOf} from '../../cli/serving/control/control-plane.js';
import {createInspection} from '../../server/inspect/inspection.js';
import {createGateway} from '../../server/gateway.js';
import {sealsOf} from '../../server/seal.js';
import {createBroker} from '../../system/broker/broker.js';
import {brokerLink} from '../../system/links/broker-link.js';
import {systemClock} from '../../system/time/clock.js';
import {createMemoryStore} from '../../system/store/memory-store.js';
import {createNactExecutor} from '../../system/kernel/nact-executor.js';
import {systemRandom} from '../../system/time/random.js';
import {ask, type Ask} from '../server/support.js';
import {authenticate} from '../system/broker/broker-rig.js';

const admin: Identity = {name: 'admin', role: 'admin'};

/** Open until the end of the test. What is called a bug fails it. `more`: of the control system. */
export async function openDoors(t: ExecutionContext, more: Partial<Pick<ControlOptions, 'design' | 'perform' | 'onChange'>> = {}) {
	const executor = createNactExecutor(systemClock);
	const broker = await createBroker<Identity>({
		clock: systemClock,
		authenticate,
		may,
		retainedSource: {match: () => [], owns: () => false},
	});
	const links = {control: brokerLink(broker, 'control'), bulk: brokerLink(broker, 'control', 'bulk')};
	const options = {
		executor,
		clock: systemClock,
		random: systemRandom,
		links,
		measure: true,
		boot: systemRandom.uuid(),
		driver: createMemoryStore(executor.defer),
		version: '0.0.0',
		mayBeNode: (name: string): boolean => name.startsWith('node-'),
		onFenced: (message: string) => t.fail(message),
		onEscalation: ({message}: Failure) => t.fail(message),
		...more,
	};
	const control = await new Promise<ControlSystem>((resolve, reject) =>
		openControl(options, outcome => (outcome.ok ? resolve(outcome.value) : reject(AppError.of(outcome.error)))),
	);
	control.begin();
	const plane = controlPlaneOf({control, ownNodes: () => [], userSystems: () => [], clock: systemClock});
	const gateway = createGateway({
		upstream: () => ({
			type: 'serving',
			control: plane,
			inspection: createInspection({control: plane, clock: systemClock, auditLog: entry => void t.log(entry)}),
			authenticate: token => (token === 'admin' ? admin : undefined),
			access: undefined,
			seals: sealsOf(new Uint8Array(32)),
		}),
		tls: undefined,
		version: '0.0.0',
		clock: systemClock,
		onBug: error => t.fail(String(error)),
	});
	const [api, mqtt] = await Promise.all([gateway.listen('127.0.0.1', 0), broker.listen('127.0.0.1', 0)]);
	t.teardown(async () => {
		await gateway.close();
		control.kill();
		await control.bus.close();
		await broker.close();
		executor.close();
	});
	const call = (method: string, path: string, body?: string | Buffer, headers: Ask['headers'] = {}) =>
		ask(`http://127.0.0.1:${api.port}${path}`, {
			method,
			headers: {authorization: 'Bearer admin', ...headers},
			...(body === undefined ? {} : {body}),
		});
	return {control, plane, broker, garbage: () => links.control.garbage() + links.bulk.garbage(), call, mqttPort: mqtt.port};
}

export type Doors = Awaited<ReturnType<typeof openDoors>>;
