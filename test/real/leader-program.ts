// One server in small: leadership, a control system of plain records over etcd, a door of lines, and a peer system to which every write
// sends an order. Arguments: URL of etcd, name, port of the peer.
//
// A request is `{id, op, key, spec}`, an answer `{id, ok, epoch, version}` or `{id, error, leader}`. An order is `{server, epoch, order}`.

import net from 'node:net';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {succeeded, type Outcome} from '../../api/errors.js';
import {address, parseObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {systemClock} from '../../system/time/clock.js';
import {openDurableSystem, type DurableSystem} from '../../system/commit/durable-system.js';
import {connectEtcd} from '../../system/store/etcd-client.js';
import {createEtcdElection} from '../../system/leadership/etcd-election.js';
import {createEtcdStore} from '../../system/store/etcd-store.js';
import {lead, type Led, type TermGuard} from '../../system/leadership/leadership.js';
import {createNactExecutor} from '../../system/kernel/nact-executor.js';
import {systemRandom} from '../../system/time/random.js';
import {record, recordAt, recordKey, recordsRoot} from '../system/commit/record-world.js';

export type Request = {readonly id: number; readonly op: 'write' | 'arm'; readonly key: string; readonly spec?: unknown};
export type Answer =
	| {readonly id: number; readonly ok: true; readonly epoch: number; readonly version: number}
	| {readonly id: number; readonly ok: false; readonly error: string};
export type Order = {readonly server: string; readonly epoch: number; readonly order: string};

const [url = '', name = '', peerPort = '0'] = process.argv.slice(2);
const say = (what: string): void => void process.stdout.write(`${what}\n`);
const executor = createNactExecutor(systemClock);
const peer = net.connect(Number(peerPort), '127.0.0.1');

type Server = Led & {readonly durable: DurableSystem};

function open({mayAct, onFenced}: TermGuard, done: (outcome: Outcome<Server>) => void): void {
	const driver = createEtcdStore(connectEtcd(url, systemClock), systemClock);
	let epoch = 0;
	openDurableSystem(
		{
			name: 'control',
			design: {
				behaviors: {records: recordsRoot, record},
				root: 'records',
				termsOf: () => [],
				wakesOf: () => [],
				schemaVersionOf: () => 1,
				upgrade: (_plural, _from, object) => object,
				recordOf: key => recordAt(parseObjectKey(key).name),
				watched: true,
				resync: true,
			},
			inputOf: () => null,
			driver,
			executor,
			clock: systemClock,
			random: systemRandom,
			remote: (_system, _to, {message}) => void peer.write(`${JSON.stringify({server: name, epoch, order: message.type})}\n`),
			onFenced,
			mayAct,
		},
		outcome => {
			if (!outcome.ok) {
				void driver.close();
				return done(outcome);
			}
			const durable = outcome.value;
			epoch = durable.pipeline.epoch();
			const close = (then: () => void): void => void driver.close().then(then);
			done(
				succeeded({
					durable,
					begin: durable.begin,
					kill() {
						durable.kill();
						close(() => undefined);
					},
					stop: stopped => durable.stop(() => close(stopped)),
				}),
			);
		},
	);
}

const door = net.createServer(socket => {
	socket.on('error', () => undefined);
	createInterface(socket).on('line', line => {
		const request = JSON.parse(line) as Request;
		answer(request, reply => void socket.write(`${JSON.stringify(reply)}\n`));
	});
});
await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve));
const {port} = door.address() as net.AddressInfo;

const leadership = lead<Server>({
	election: createEtcdElection({client: connectEtcd(url, systemClock), clock: systemClock, random: systemRandom}),
	self: {id: name, api: String(port)},
	clock: systemClock,
	open,
	onLeading: ({durable}) => say(`leading ${durable.pipeline.epoch()} ${durable.index.size}`),
	onStandby: reason => say(`standby ${reason}`),
	onProblem: message => say(`problem ${message}`),
});
say(`door ${port}`);

function answer({id, op, key, spec}: Request, send: (answer: Answer) => void): void {
	const durable = leadership.control()?.durable;
	if (durable === undefined) return send({id, ok: false, error: 'ERR_STANDBY'});
	const isThere = durable.index.get(recordKey(key)) !== undefined;
	const to = isThere ? recordAt(key) : address('control', '');
	if (op === 'arm') {
		durable.system.tell(to, armed(key), 'test');
		return send({id, ok: true, epoch: durable.pipeline.epoch(), version: 0});
	}
	const message = isThere ? {type: 'write', spec, effects: [order(key)]} : {type: 'create', input: {name: key, spec}};
	durable.system.ask(to, message, {deadlineMs: 5_000, cause: 'test'}, outcome => {
		if (!outcome.ok) return send({id, ok: false, error: outcome.error.code});
		const {metadata} = (outcome.value ?? {metadata: {resourceVersion: '0'}}) as ApiObject;
		send({id, ok: true, epoch: durable.pipeline.epoch(), version: Number(metadata.resourceVersion)});
	});
}

const order = (what: string): Effect => ({type: 'tell', to: 'troupe://peer/inbox', message: {type: what}});

/** An order that waits in a timer of its actor. */
const armed = (key: string) => ({
	type: 'act',
	effects: [{type: 'wakeAt', name: 'armed', atMs: systemClock.nowMs() + 1_000, message: {type: 'act', effects: [order(`armed ${key}`)]}}],
});
