// One server of the control plane in the virtual world: it campaigns, and while it leads it holds a control system, a broker (if
// there is none elsewhere), the signs of the nodes and the topics for tools, put together as `troupe server` does.

import type {Outcome} from '../../api/errors.js';
import {address, controlSystem} from '../../api/keys.js';
import {detectorPath, nodeKey} from '../../actors/addresses.js';
import {openControl, type ControlSystem} from '../../actors/control/start.js';
import {startNodeSigns, type NodeSigns} from '../../server/node-signs.js';
import {createTopics, retainedObjects} from '../../server/topics.js';
import type {Election} from '../../system/leadership/election.js';
import {lead, type Led, type TermGuard} from '../../system/leadership/leadership.js';
import {createMemoryElection, type LeaseStore} from '../../system/leadership/memory-election.js';
import {createSoleElection} from '../../system/leadership/sole-election.js';
import {WorldBroker} from '../../system/world/broker.js';
import type {WorldProcess} from '../../system/world/process.js';
import {controlUplink} from '../../system/world/uplink.js';
import type {SimulatedCluster} from './cluster.js';
import type {TermOfWorld} from './invariants.js';
import {boot, storeOf, type Machine} from './machine.js';

/** A term that is on. */
export type Term = Led & {
	readonly control: ControlSystem;
	readonly ofWorld: TermOfWorld;
	readonly epoch: number;
	/** In the leader's own process. */
	readonly broker: WorldBroker | undefined;
};

export type Server = Machine<Term>;

export function startServer(cluster: SimulatedCluster, server: Server, leases: LeaseStore | undefined): void {
	const {world} = cluster;
	const {process, boot: bootId} = boot(server, world);
	const election: Election =
		leases === undefined
			? createSoleElection()
			: createMemoryElection({
					leases,
					clock: process.clock,
					reaches: () => !server.trouble.unreachable && process.liveness() === 'running',
				});
	process.enter(() =>
		lead<Term>({
			election,
			self: {id: bootId, api: server.name},
			clock: process.clock,
			open: (term, done) => openTerm(cluster, server, process, leases, `${bootId}-term`, term, done),
			onLeading(term) {
				server.system = term;
				cluster.note(`${server.name} leads, epoch ${term.epoch}, version ${term.control.pipeline.meta.version}`);
			},
			onStandby: reason => standDown(cluster, server, leases, `stands down: ${reason}`),
			onProblem: message => standDown(cluster, server, leases, `could not begin: ${message}`),
		}),
	);
}

/** Who has no other to lead in its place starts anew, as whoever watches the process would have it. */
function standDown(cluster: SimulatedCluster, server: Server, leases: LeaseStore | undefined, why: string): void {
	server.system = undefined;
	server.uplink = undefined;
	cluster.note(`${server.name} ${why}`);
	if (leases === undefined) cluster.gaveUp(server, why);
}

/** Whether the lease is that term's, as whoever keeps it knows. */
const isHeld = ({holder, clock}: LeaseStore, term: number | undefined): boolean =>
	holder !== undefined && holder.term === term && holder.expiresAtMs > clock.monotonicMs();

let terms = 0;

function openTerm(
	cluster: SimulatedCluster,
	server: Server,
	process: WorldProcess,
	leases: LeaseStore | undefined,
	id: string,
	{mayAct, onFenced}: TermGuard,
	done: (outcome: Outcome<Term>) => void,
): void {
	const {world, invariants, design} = cluster;
	const serverId = `${id}-${++terms}`;
	const broker = cluster.hasExternalBroker ? undefined : new WorldBroker(world, process);
	if (broker !== undefined) cluster.lookOn(broker, server);
	const uplink = controlUplink(world, process, controlSystem, () => broker ?? cluster.externalBroker);
	server.uplink = uplink;
	const late: {control?: ControlSystem; signs?: NodeSigns} = {};
	const epoch = (): number => late.control?.pipeline.epoch() ?? 0;
	const number = leases?.holder?.term;
	const ofWorld: TermOfWorld = {
		epoch: () => late.control?.pipeline.epoch(),
		holdsLease: () => leases === undefined || isHeld(leases, number),
	};
	const publish = (topic: string, payload: string, retain: boolean): void => {
		invariants.onSaid(server, ofWorld, `a publish to ${topic}`);
		if (broker === undefined) uplink.pubsub.publish(topic, payload, {retain});
		else broker.publish(topic, payload, false); // What is retained it serves from the index.
	};
	const topics = createTopics({broker: {publish: (topic, payload, {retain}) => publish(topic, String(payload), retain)}, epoch});
	const drop = (): void => {
		late.signs?.close();
		late.control?.kill();
		uplink.leave();
		broker?.close();
	};
	openControl(
		{
			driver: storeOf(server, process, world, {
				checksums: cluster.checksums,
				onDurable: batch => invariants.onDurable(server, batch),
				onKilled: () => cluster.killed(server),
			}),
			executor: process.executor,
			clock: process.clock,
			random: process.random,
			links: invariants.mandated(server, ofWorld, uplink.links),
			mayAct: cluster.goesOn ? () => true : mayAct,
			boot: `${serverId}`,
			version: '0.0.0',
			measure: world.serialises,
			perform: invariants.autoscaled.performFor(process),
			localNodes: cluster.localNodes,
			design: invariants.watched(design),
			observer: cluster.observer,
			onFenced,
			onChange(change) {
				invariants.onChange(server, change);
				if (cluster.hasWatcher) topics.onChange(change);
				if (change.key.startsWith('nodes/')) late.signs?.wake();
			},
			onEscalation: error => cluster.escalated(server, error.message),
		},
		outcome => {
			if (!outcome.ok) {
				invariants.onRefusedStart(design, outcome.error);
				drop();
				return done(outcome);
			}
			const control = outcome.value;
			late.control = control;
			cluster.sabotage?.(control);
			invariants.onLoaded(design, control);
			if (broker !== undefined && cluster.hasWatcher) {
				const source = retainedObjects(control.index, epoch);
				broker.retainedSource = filter => [...source.match(filter)].map(({topic, payload}) => ({topic, payload: String(payload())}));
			}
			const begin = (): void => {
				control.begin();
				late.signs = startNodeSigns({
					serverId,
					pubsub: uplink.pubsub,
					clock: process.clock,
					heardSince: atMs => (broker ?? uplink).heardSince(atMs),
					isRemote: node => cluster.localNodes.length === 0 && control.index.entry(nodeKey(node)) !== undefined,
					anyRemote: () => cluster.localNodes.length === 0 && [...control.index.list('nodes')].length > 0,
					tell: signs => control.system.tell(address(controlSystem, detectorPath), signs, 'signs'),
				});
			};
			done({
				ok: true,
				value: {control, ofWorld, epoch: epoch(), broker, begin, kill: drop, stop: stopped => control.stop(stopped)},
			});
		},
	);
}
