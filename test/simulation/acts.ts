// Makes the acts of a plan happen. What lasts for a while ends by itself, or at `calm`.

import {objectAddress, objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {noPacketFaults} from '../../system/world/world.js';
import type {WorldHost} from '../../system/world/network.js';
import type {WorldProcess} from '../../system/world/process.js';
import {wellStore} from '../../system/world/store.js';
import type {Clients} from './clients.js';
import type {Server, SimulatedCluster, SimulatedNode} from './cluster.js';
import {kill} from './machine.js';
import {describeAct, type Act, type Place} from './plan.js';
import {newerDesign} from './upgrade.js';
import type {Watcher} from './watcher.js';

/** Where an exclusive program runs; the first node when it runs nowhere. */
const holderIn = ({nodes, programs}: SimulatedCluster): SimulatedNode | undefined =>
	nodes.find(node => programs.runsExclusive(node)) ?? nodes[0];

export type Stage = {readonly cluster: SimulatedCluster; readonly clients: Clients; readonly watcher: Watcher | undefined};

const chosen = <Value>(values: readonly Value[], share: number): Value | undefined => values[Math.floor(share * values.length)];

export function perform(stage: Stage, act: Act): void {
	const {cluster, clients} = stage;
	const {world} = cluster;
	const machineAt = (place: Place): Server | SimulatedNode | undefined => {
		if (place === 'control') return cluster.leader() ?? cluster.servers[0];
		return place === 'holder' ? holderIn(cluster) : chosen(cluster.nodes, place);
	};
	const later = (ms: number, undo: () => void): void => void world.clock.after(ms, undo);
	cluster.note(describeAct(act));
	switch (act.type) {
		case 'create':
			return clients.create(act);
		case 'scale':
			return clients.scale(act.set, act.replicas);
		case 'deleteSet':
			return clients.delete(act.set);
		case 'expose':
			return clients.services.expose(act);
		case 'deleteService':
			return clients.services.delete(act.service);
		case 'createStateful':
		case 'createDaemon':
			return clients.named.create(act);
		case 'changeNamed':
			return clients.named.change(act);
		case 'deleteNamed':
			return clients.named.delete(act.set);
		case 'createPod':
			return clients.createPod(act);
		case 'release':
			return clients.release(act.pod);
		case 'configure':
			return clients.configure(act.name, act.value);
		case 'rollOut':
			return cluster.invariants.rollouts.create(act);
		case 'change':
			return cluster.invariants.rollouts.change(act);
		case 'autoscale':
			return cluster.invariants.autoscaled.create(act);
		case 'createJob':
			return clients.jobs.createJob(act);
		case 'changeJob':
			return clients.jobs.change('jobs', act.job, act.spec);
		case 'deleteJob':
			return clients.jobs.delete('jobs', act.job);
		case 'createCron':
			return clients.jobs.createCron(act);
		case 'changeCron':
			return clients.jobs.change('cronjobs', act.cron, act.spec);
		case 'deleteCron':
			return clients.jobs.delete('cronjobs', act.cron);
		case 'spurnJobs':
			clients.jobs.spurns = true;
			return later(act.forMs, () => void (clients.jobs.spurns = false));
		case 'nextMinute':
			return clients.jobs.nextMinute(act.inMs);
		case 'createQuota':
			return cluster.invariants.bounds.createQuota(act);
		case 'createBudget':
			return cluster.invariants.bounds.createBudget(act);
		case 'evict':
			return cluster.invariants.bounds.evict(act.pod);
		case 'deleteClaim':
			return clients.claims.delete(act.claim);
		case 'retain':
			return clients.claims.retain(act.volume);
		case 'createClass':
			return clients.createClass(act.name, act.value);
		case 'createGuest':
			return clients.createGuest(act);
		case 'taint':
		case 'cordon': {
			const {name} = chosen(cluster.nodes, act.node) ?? {};
			if (name === undefined) return;
			if (act.type === 'cordon' && act.by === 'cordon') clients.closeNode(name, {unschedulable: true});
			else clients.closeNode(name, {taints: [{key: 'maintenance', effect: act.type === 'taint' ? 'NoExecute' : 'NoSchedule'}]});
			return later(act.forMs, () => {
				cluster.invariants.taints.onEnd(name, act.forMs);
				clients.openNode(name);
			});
		}
		case 'deletePod': {
			const name = chosen(cluster.pods(), act.pod)?.metadata.name;
			return name === undefined ? undefined : clients.deletePod(name, act.graceSeconds);
		}
		case 'killProgram':
			return killProgram(cluster, chosen(cluster.nodes, act.node), act);
		case 'loseSandbox':
			return loseSandbox(cluster, chosen(cluster.nodes, act.node), act.pod);
		case 'crashActor':
			return crashActor(cluster, machineAt(act.place), act.actor);
		case 'crashRecord': {
			const record = chosen(cluster.objects(act.of), act.record)?.metadata;
			const leader = cluster.leader();
			if (record === undefined || leader === undefined) return;
			cluster.note(`crash of ${act.of} ${record.name}`);
			return cluster.crash(leader, objectAddress(objectKey(act.of, record.namespace, record.name)));
		}
		case 'kill': {
			const machine = machineAt(act.place);
			if (machine?.process === undefined) return;
			kill(machine);
			return later(act.forMs, () => cluster.restart(machine));
		}
		case 'restart': {
			const node = chosen(cluster.nodes, act.node);
			if (node?.process === undefined) return;
			node.process.enter(() => node.uplink?.leave());
			// What it said is on the wire by then.
			return later(partingMs, () => {
				kill(node);
				later(act.forMs, () => cluster.restart(node));
			});
		}
		case 'killAtCommit': {
			const machine = machineAt(act.place);
			if (machine?.process !== undefined) machine.commitsToLive = act.commits;
			return;
		}
		case 'hostDown': {
			const node = chosen(cluster.nodes, act.node);
			if (node?.hasPower !== true) return;
			cluster.powerOff(node);
			return later(act.forMs, () => cluster.powerOn(node));
		}
		case 'brokerDown':
			cluster.stopBroker();
			return later(act.forMs, () => cluster.startBroker());
		case 'stop':
		case 'freeze': {
			const process = machineAt(act.place)?.process;
			if (process?.liveness() !== 'running') return;
			if (act.type === 'stop') process.stop();
			else process.freeze();
			return later(act.forMs, () => goOn(cluster, process));
		}
		case 'slow': {
			const host = chosen(cluster.nodes, act.node)?.host;
			if (host === undefined) return;
			Object.assign(host, {latencyMs: act.latencyMs, perMessageMs: act.perMessageMs});
			return later(act.forMs, () => void Object.assign(host, {latencyMs: 0, perMessageMs: 0}));
		}
		case 'clockJump': {
			const host = machineAt(act.place)?.host;
			if (host !== undefined) host.wallOffsetMs += act.byMs;
			cluster.hasJumpedClocks = true;
			return;
		}
		case 'cutConnection': {
			const line = chosen(cluster.nodes, act.node)?.uplink?.lines[act.line];
			line?.cut(true);
			return later(act.forMs, () => line?.unbar());
		}
		case 'partition':
			return partition(cluster, act, later);
		case 'cutLink': {
			const {host} = chosen(cluster.nodes, act.node) ?? {};
			return host === undefined ? undefined : cutOff(cluster, [host], 'both', act.forMs, later);
		}
		case 'deafen':
			return deafen(cluster, act.forMs, later);
		case 'cutWatcher':
			return stage.watcher?.cut();
		case 'packets':
			world.packets = act.faults;
			return later(act.forMs, () => void (world.packets = noPacketFaults));
		case 'store': {
			const machine = machineAt(act.place);
			if (machine === undefined) return;
			machine.trouble = act.trouble;
			return later(act.forMs, () => void (machine.trouble = wellStore));
		}
		case 'damage': {
			const machine = machineAt(act.place);
			if (machine === undefined) return;
			cluster.damage(machine, act.record, act.how);
			return later(act.forMs, () => cluster.repairs.get(machine.disk)?.());
		}
		case 'runtime': {
			const node = chosen(cluster.nodes, act.node);
			if (node === undefined) return;
			node.runtimeTrouble = act;
			return later(act.forMs, () => void (node.runtimeTrouble = undefined));
		}
		case 'upgrade':
		case 'downgrade':
			return changeCode(cluster, act.type);
	}
}

type KillProgram = Extract<Act, {type: 'killProgram'}>;

function killProgram(cluster: SimulatedCluster, node: SimulatedNode | undefined, {pod, container: name}: KillProgram): void {
	if (node === undefined) return;
	const {programs} = node;
	const uid = chosen(
		[...programs.pods.keys()].filter(each => name === undefined || programs.find({uid: each, container: name}) !== undefined),
		pod,
	);
	if (uid === undefined) return;
	const container = name ?? 'main';
	const running = programs.find({uid, container});
	if (running === undefined || running.exit !== undefined) return;
	if (name !== undefined) cluster.note(`${running.spec.podName}/${name} dies on ${node.name}`);
	cluster.programs.onProgramEnded(node, uid, [container]);
	programs.crash(uid, container, 137);
}

function loseSandbox(cluster: SimulatedCluster, node: SimulatedNode | undefined, pod: number): void {
	const uid = chosen([...(node?.programs.pods.keys() ?? [])], pod);
	if (node === undefined || uid === undefined || !node.programs.loseSandbox(uid)) return;
	cluster.note(`the sandbox of ${node.programs.pods.get(uid)?.name ?? uid} dies on ${node.name}`);
	cluster.programs.onProgramEnded(node, uid);
}

function crashActor(cluster: SimulatedCluster, machine: Server | SimulatedNode | undefined, actor: number): void {
	if (machine === undefined) return;
	const system = 'programs' in machine ? machine.system?.system : machine.system?.control.system;
	const address = chosen([...(system?.addresses() ?? [])], actor);
	if (address === undefined || address.endsWith('/')) return; // The root is the process.
	cluster.note(`crash of ${address}`);
	cluster.crash(machine, address);
}

/** How long an agent that leaves waits for its words to be sent. */
const partingMs = 100;
const canaryMs = limits.suspectAfterMs + 2 * limits.signsMs;

/** The leader hears neither its nodes nor its own canary. */
function deafen(cluster: SimulatedCluster, forMs: number, later: (ms: number, undo: () => void) => void): void {
	const {externalBroker, hearing, world} = cluster;
	const leader = cluster.leader()?.host;
	if (externalBroker === undefined || leader === undefined) return;
	const there = externalBroker.process.host;
	world.network.cut(leader, there);
	world.network.cut(there, leader);
	// Another such act may end this one.
	const isCut = (): boolean => !world.network.isWhole(leader, there);
	if (forMs > canaryMs) later(canaryMs, () => void (isCut() && hearing.onDeaf()));
	later(forMs, () => {
		if (hearing.isDeaf || (forMs > canaryMs && isCut())) hearing.onUnwell();
		world.network.mend(leader, there);
		world.network.mend(there, leader);
	});
}

type PartitionAct = Extract<Act, {type: 'partition'}>;

/** The share says how many of the nodes, from the first on; one at least. */
function partition(
	cluster: SimulatedCluster,
	{nodes, way, forMs, holds}: PartitionAct,
	later: (ms: number, undo: () => void) => void,
): void {
	const holder = holderIn(cluster);
	const away =
		nodes === 'holder'
			? holder === undefined
				? []
				: [holder]
			: cluster.nodes.slice(0, Math.max(1, Math.round(nodes * cluster.nodes.length)));
	cutOff(
		cluster,
		away.map(({host}) => host),
		way,
		forMs,
		later,
		holds === true,
	);
}

/** Nobody of those who serve reaches these hosts, or is reached by them. */
function cutOff(
	cluster: SimulatedCluster,
	away: readonly WorldHost[],
	way: PartitionAct['way'],
	forMs: number,
	later: (ms: number, undo: () => void) => void,
	holds = false,
): void {
	const {network} = cluster.world;
	const ways = away.flatMap(host =>
		cluster
			.hosts()
			.flatMap(there => [...(way === 'down' ? [] : [[host, there] as const]), ...(way === 'up' ? [] : [[there, host] as const])]),
	);
	for (const [from, to] of ways) network.cut(from, to, holds);
	later(forMs, () => {
		for (const [from, to] of ways) network.mend(from, to);
	});
}

/** A restart in good order as far as the store is concerned: the next start has other code. */
function changeCode(cluster: SimulatedCluster, what: 'upgrade' | 'downgrade'): void {
	const {olderDesign} = cluster;
	cluster.design = what === 'upgrade' ? newerDesign(olderDesign) : olderDesign;
	cluster.wasUpgraded ||= what === 'upgrade';
	for (const server of cluster.servers) {
		kill(server);
		cluster.restart(server);
	}
}

/** A leader that stood still for long has not heard anybody. */
function goOn(cluster: SimulatedCluster, process: WorldProcess): void {
	const stillMs = process.liveness() === 'dead' ? 0 : process.stillMs();
	if (cluster.leader()?.process === process) {
		if (stillMs >= limits.observerLagMs) cluster.hearing.onLag();
		if (stillMs >= limits.observerLagMs + limits.signsMs) cluster.hearing.onUnwell();
	}
	process.goOn();
}

/** The faults end, what is down comes up. */
export function calm({cluster}: Stage): void {
	const {world} = cluster;
	cluster.note('quiet from here');
	cluster.invariants.autoscaled.isQuiet = true;
	world.packets = noPacketFaults;
	world.network.mendAll();
	if (cluster.wasUpgraded) cluster.design = newerDesign(cluster.olderDesign);
	cluster.startBroker();
	for (const repair of [...cluster.repairs.values()]) repair();
	for (const node of cluster.nodes) {
		node.runtimeTrouble = undefined;
		node.hasPower = true;
		for (const line of Object.values(node.uplink?.lines ?? {})) line.unbar();
	}
	for (const machine of [...cluster.servers, ...cluster.nodes]) {
		machine.trouble = wellStore;
		machine.commitsToLive = undefined;
		Object.assign(machine.host, {latencyMs: 0, perMessageMs: 0});
		if (machine.process !== undefined) goOn(cluster, machine.process);
		cluster.restart(machine);
	}
}
