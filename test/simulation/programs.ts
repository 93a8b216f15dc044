// What happens to programs, looked at as it happens: where they are started, how often, and who orders their end.

import {limits} from '../../api/limits.js';
import type {PersistentVolume} from '../../api/kinds/persistentvolume.js';
import {claimKey, volumeKey} from '../../actors/config-references.js';
import type {ContainerSpec, RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import {leaseEnded, type SimulatedHost} from '../../agent/simulated/host.js';
import type {SimulatedCluster} from './cluster.js';
import {Ends} from './ends.js';
import type {Invariants} from './invariants.js';
import type {SimulatedNode} from './node.js';
import {stillBehind, hasSidecars, missingBefore, sidecarNames} from './sidecars.js';

export class Programs {
	readonly #cluster: SimulatedCluster;
	readonly #invariants: Invariants;
	/** Starts, and ends that something called for, by node, uid and container. */
	readonly #starts = new Map<string, number>();
	readonly #ends = new Map<string, number>();
	/** How often a pod was removed from a host, by node and uid. */
	readonly #removals = new Map<string, number>();
	readonly ends = new Ends();
	readonly #firstStartMs = new Map<string, number>();

	constructor(cluster: SimulatedCluster, invariants: Invariants) {
		this.#cluster = cluster;
		this.#invariants = invariants;
	}

	/** The host as its agent sees it; every start is looked at, and what happens to programs reaches the agent when it runs. */
	observed(node: SimulatedNode): SimulatedHost {
		const {programs, process} = node;
		return {
			...programs,
			start: (spec, program, watcher) => {
				const running = programs.find(spec.id);
				if (running !== undefined && running.exit === undefined)
					this.#invariants.broken(`I1: ${spec.id.uid} runs on ${node.name} and is started again`);
				if (running?.exit?.reason === leaseEnded) this.onProgramEnded(node, spec.id.uid);
				if (spec.exclusive === true || this.#invariants.hasName(spec.id.uid)) this.#checkAlone(node, spec.id.uid, spec.podName);
				this.#checkVolumes(node, spec.id.uid, spec.podName);
				this.#checkOrder(node, spec);
				const container = programs.start(spec, program, watcher);
				this.ends.onStart(node.name, container);
				this.#onStart(node, spec.id.uid, spec.id.container, spec.podName, program.ends !== undefined);
				return container;
			},
			removePod: uid => {
				const key = `${node.name}/${uid}`;
				if (programs.pods.has(uid)) this.#removals.set(key, (this.#removals.get(key) ?? 0) + 1);
				programs.removePod(uid);
			},
			attend: (watcher, listener, hear) =>
				programs.attend(
					watcher,
					(container, exit) => process?.enter(() => listener(container, exit)),
					event => process?.enter(() => hear(event)),
				),
		};
	}

	/**
	 * I1: a pod runs where its record was bound, and nowhere else. I4: a program that did not end is not started again.
	 */
	#onStart(node: SimulatedNode, uid: string, container: string, pod: string, endsByItself: boolean): void {
		this.#cluster.note(`start of ${pod}/${container} on ${node.name}`);
		const bound = this.#invariants.nodesOf(uid);
		if (!bound.has(node.name))
			this.#invariants.broken(`I1: pod ${pod} runs on ${node.name} and was bound to ${[...bound.keys()].join() || 'no node'}`);
		const key = `${node.name}/${uid}/${container}`;
		const starts = (this.#starts.get(key) ?? 0) + 1;
		this.#starts.set(key, starts);
		if (endsByItself) return this.#checkBackoff(node, key, starts);
		if (starts > 1 && this.#cluster.keepsAll)
			this.#invariants.broken(`I8: pod ${pod} ended on ${node.name}, which was never away for long`);
		const called = 1 + (this.#ends.get(key) ?? 0);
		if (starts > called) this.#invariants.broken(`I4: pod ${pod} was started ${starts} times, ${called} were called for`);
	}

	/** I19: what has sidecars starts after them, one after the other. */
	#checkOrder({name, programs}: SimulatedNode, {id, podName}: ContainerSpec): void {
		const pod = this.#invariants.pod(id.uid);
		if (pod === undefined || !hasSidecars(pod)) return;
		const missing = missingBefore(programs, id);
		if (missing.length > 0) this.#invariants.broken(`I19: ${podName}/${id.container} starts on ${name} before ${missing.join()}`);
	}

	runsExclusive({programs}: SimulatedNode): boolean {
		return [...programs.pods.keys()].some(uid => {
			const container = programs.find({uid, container: 'main'});
			return container?.spec.exclusive === true && container.exit === undefined;
		});
	}

	/** I16: what a pod's claim keeps is on the host where the pod is started, and on no other. */
	#checkVolumes({name, programs}: SimulatedNode, uid: string, pod: string): void {
		for (const {source} of programs.pods.get(uid)?.volumes ?? []) {
			if (source.type !== 'local') continue;
			const having = this.#cluster.nodes.filter(node => node.programs.localVolumes.has(source.volume)).map(node => node.name);
			if (having.join() !== name) this.#invariants.broken(`I16: ${pod} is started on ${name}, its volume is on ${having.join()}`);
		}
	}

	/** I1: of an exclusive pod, and of a set of one such, nothing runs on any host when it is started. */
	#checkAlone(node: SimulatedNode, uid: string, pod: string): void {
		const sole = this.#invariants.soleOf(uid);
		for (const {name, programs} of this.#cluster.nodes) {
			for (const other of programs.pods.keys()) {
				const container = this.#invariants.soleOf(other) === sole ? programs.find({uid: other, container: 'main'}) : undefined;
				if (container === undefined || container.exit !== undefined) continue;
				this.#invariants.broken(`I1: exclusive pod ${pod} is started on ${node.name} while ${container.spec.podName} runs on ${name}`);
			}
		}
	}

	/** I7: a program that keeps failing is tried ever more rarely; a new agent, or actor, may begin again with its back-off. */
	#checkBackoff(node: SimulatedNode, key: string, starts: number): void {
		const nowMs = this.#cluster.world.clock.nowMs();
		const firstMs = this.#firstStartMs.get(key) ?? nowMs;
		this.#firstStartMs.set(key, firstMs);
		const elapsedMs = nowMs - firstMs;
		const inOneLife = 4 + Math.log2(1 + elapsedMs / limits.containerBackoffFirstMs) + elapsedMs / limits.containerBackoffMaxMs;
		const lives = node.starts + this.#cluster.crashesWanted;
		if (starts > inOneLife * lives) this.#invariants.broken(`I7: ${key} was started ${starts} times in ${elapsedMs} ms and ${lives} lives`);
	}

	/** I16: what a claim keeps is not removed while the claim is there, nor while a pod has it that is there, nor when it is to be retained. */
	#checkRemoval({name, programs}: SimulatedNode, volume: string): void {
		const record = this.#invariants.truth(volumeKey(volume)) as PersistentVolume | undefined;
		const {claimRef, persistentVolumeReclaimPolicy} = record?.spec ?? {};
		const claim = claimRef === undefined ? undefined : this.#invariants.truth(claimKey(claimRef.namespace, claimRef.name));
		if (claim !== undefined && claim.metadata.uid === claimRef?.uid)
			this.#invariants.broken(`I16: ${name} is to remove ${volume}, and its claim ${claim.metadata.name} is there`);
		if (persistentVolumeReclaimPolicy === 'Retain') this.#invariants.broken(`I16: ${name} is to remove ${volume}, which is to be retained`);
		for (const [uid, {volumes}] of programs.pods) {
			const pod = this.#invariants.pod(uid);
			const hasIt = volumes?.some(({source}) => source.type === 'local' && source.volume === volume) === true;
			if (hasIt && pod?.spec?.nodeName === name && pod.metadata.deletionTimestamp === undefined)
				this.#invariants.broken(`I16: ${name} is to remove ${volume}, and ${pod.metadata.name} has it`);
		}
	}

	/** I16: what runs has what its claim keeps. */
	#checkKept({name, programs}: SimulatedNode): void {
		for (const [uid, {volumes}] of programs.pods)
			for (const {source} of volumes ?? []) {
				if (source.type !== 'local' || programs.localVolumes.has(source.volume)) continue;
				const running = programs.find({uid, container: 'main'});
				if (running !== undefined && running.exit === undefined)
					this.#invariants.broken(`I16: ${running.spec.podName} runs on ${name}, and ${source.volume} was removed`);
			}
	}

	/** I4: nobody orders the end of what is wanted. */
	onCommand(node: SimulatedNode, command: RuntimeCommand): void {
		this.#checkKept(node);
		if (command.type === 'volume.remove') this.#checkRemoval(node, command.volume);
		if (command.type !== 'container.stop' && command.type !== 'sandbox.remove') return;
		const uid = command.type === 'container.stop' ? command.id.uid : command.uid;
		const pod = this.#invariants.pod(uid);
		const container = command.type === 'container.stop' ? `/${command.id.container}` : '';
		this.#cluster.note(`${command.type} of ${pod?.metadata.name ?? uid}${container} on ${node.name}`);
		const early = command.type === 'container.stop' ? stillBehind(node.programs, command) : [];
		if (early.length > 0)
			this.#invariants.broken(`I19: ${pod?.metadata.name ?? uid}${container} is to end on ${node.name} before ${early.join()}`);
		if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || pod.spec?.nodeName !== node.name) {
			// A pod that was bound anew elsewhere may be bound to this node again.
			if (command.type === 'sandbox.remove') this.onProgramEnded(node, uid);
			return;
		}
		// What was lost and bound anew to the very same node hears of both late, and in order: as often as it was bound before.
		const isFormer = (this.#removals.get(`${node.name}/${uid}`) ?? 0) < (this.#invariants.nodesOf(uid).get(node.name) ?? 0) - 1;
		if (isFormer) return command.type === 'sandbox.remove' ? this.onProgramEnded(node, uid) : undefined;
		if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return;
		// Where it could not be written that it is gone, it is removed once more: before the next one begins nothing is lost by that.
		if (command.type === 'sandbox.remove' && !node.programs.pods.has(uid)) return;
		// What runs in a sandbox that has died has to end, to run in the next one.
		if (command.type === 'container.stop' && node.programs.pods.get(uid)?.isLost === true) return;
		this.#invariants.broken(`I4: ${node.name} orders ${command.type} of pod ${pod.metadata.name}, which is wanted`);
	}

	/** Of all containers that run on, when none is named. */
	onProgramEnded(node: SimulatedNode, uid: string, containers: readonly string[] = ['main', ...sidecarNames]): void {
		for (const container of containers) {
			const key = `${node.name}/${uid}/${container}`;
			this.#ends.set(key, (this.#ends.get(key) ?? 0) + 1);
		}
	}

	onReboot(node: SimulatedNode): void {
		for (const uid of node.programs.pods.keys()) this.onProgramEnded(node, uid);
	}
}
