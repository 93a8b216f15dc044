// What control could truly hear of each node, as only the world knows it; and a spy on the detector, which must never judge otherwise.
//
// All is as of the last reading that the detector was told of: what came later it cannot know yet.

import {limits} from '../../api/limits.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {nodeKey} from '../../actors/addresses.js';
import type {SignsMessage} from '../../actors/control/nodes/detector.js';
import type {Effect, Message} from '../../system/kernel/behavior.js';
import {worldMs} from '../../system/world/network.js';
import type {SimulatedCluster} from './cluster.js';
import type {Spy} from './spies.js';

/** How long after its last packet a node may still count as heard: until it is suspect, as the readings show it. */
const heardMs = limits.suspectAfterMs + limits.signsMs + limits.observerLagMs;

export class Hearing {
	readonly #cluster: SimulatedCluster;
	/** When packets came: the last one before the last reading, and those since. */
	readonly #packetsMs = new Map<string, number[]>();
	/** When the leader began, or last went on after it had stood still for too long. */
	#wellSinceMs = 0;
	/** In the world's time. */
	#readAtMs = 0;
	/** How fast the leader's clock runs. */
	#rate = 1;
	#lagMs = Number.NEGATIVE_INFINITY;
	/** At each reading since then at least half of the nodes were heard. */
	#halfSinceMs = Number.POSITIVE_INFINITY;
	/** Until when a node that said so may be away. */
	readonly #restartingUntilMs = new Map<string, number>();

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	onPacket(login: string): void {
		const nowMs = this.#nowMs();
		const packets = this.#packetsMs.get(login) ?? [];
		if (packets.at(-1) !== nowMs) packets.push(nowMs);
		this.#packetsMs.set(login, packets);
	}

	/** From now on it hears nothing, and can know that. */
	onDeaf(): void {
		this.#wellSinceMs = Number.POSITIVE_INFINITY;
	}

	get isDeaf(): boolean {
		return this.#wellSinceMs === Number.POSITIVE_INFINITY;
	}

	/** The observer begins, or has stood still, or could not be reached by anybody. */
	onUnwell(): void {
		this.#wellSinceMs = this.#nowMs();
	}

	/** The observer has stood still: of what came meanwhile it reads only now, and nobody counts as silent for that. */
	onLag(): void {
		this.#lagMs = this.#nowMs();
	}

	/** Whether there is one leader, and stood never still, for so long. */
	isWellFor(ms: number): boolean {
		return this.#nowMs() - Math.max(this.#wellSinceMs, this.#lagMs) >= ms;
	}

	/** Another leader, or the same anew: it knows nothing of what was heard. */
	onBegin(): void {
		this.onUnwell();
		this.#lagMs = Number.NEGATIVE_INFINITY;
		this.#halfSinceMs = Number.POSITIVE_INFINITY;
		this.#restartingUntilMs.clear();
	}

	#nowMs(): number {
		return this.#cluster.world.clock.nowMs();
	}

	readonly spy: Spy = {
		told: (_self, message) => void (message.type === 'signs' && this.#onReading(message as SignsMessage)),
		asked: (_self, effect) => this.#look(effect),
	};

	#onReading({atMs, presences}: SignsMessage): void {
		const {nodes} = this.#cluster;
		const host = this.#cluster.leader()?.host;
		if (host === undefined) return;
		this.#readAtMs = Math.round(worldMs(host, atMs));
		this.#rate = host.rate;
		for (const packets of this.#packetsMs.values()) while ((packets[1] ?? this.#readAtMs) < this.#readAtMs) packets.shift();
		for (const {node, state} of presences) {
			if (state === 'restarting') this.#restartingUntilMs.set(node, this.#readAtMs + limits.announcedRestartMs / this.#rate);
			else this.#restartingUntilMs.delete(node);
		}
		const counted = nodes.filter(({name}) => this.#hasCome(name));
		// A packet that came in the moment of the reading may be in it.
		const heard = counted.filter(({name}) => this.#untilReadingMs(this.#lastPacketMs(name, 1)) < heardMs);
		if (2 * heard.length >= counted.length) this.#halfSinceMs = Math.min(this.#halfSinceMs, this.#readAtMs);
		else if (this.#untilReadingMs(this.#lagMs) >= heardMs) this.#halfSinceMs = Number.POSITIVE_INFINITY;
	}

	/** Its record says so: its agent was here. */
	#hasCome(node: string): boolean {
		return (this.#cluster.invariants.truth(nodeKey(node)) as NodeObject | undefined)?.status?.nodeInfo !== undefined;
	}

	/** Before the last reading: one that came with it may have come after it, and counts only `withinMs` of it. */
	#lastPacketMs(node: string, withinMs = 0): number {
		return this.#packetsMs.get(node)?.findLast(atMs => atMs < this.#readAtMs + withinMs) ?? Number.NEGATIVE_INFINITY;
	}

	/** What had passed by the leader's clock; its readings are not that exact where it is fast or slow. */
	#untilReadingMs(atMs: number): number {
		return (this.#readAtMs - atMs) * this.#rate + (this.#rate === 1 ? 0 : 1);
	}

	#look(effect: Effect): void {
		if (effect.type !== 'update') return;
		const message = effect.message as Message & {readonly node?: string; readonly finding?: {readonly state: string}};
		const node = effect.key.split('/')[2] ?? '';
		const isNews = message.finding?.state === 'dead' && !this.#cluster.invariants.isGone(node);
		if (message.type === 'found' && isNews) this.#judged(node, 'is declared dead');
		if (message.type === 'evict' && message.node !== undefined) this.#judged(message.node, 'loses a pod');
	}

	/**
	 * I8: nobody is given up who was heard within the grace, nor by an observer who was not well for a whole grace and heard half of all for
	 * as long, nor who said that it will be back.
	 */
	#judged(node: string, what: string): void {
		const {invariants} = this.#cluster;
		this.#cluster.note(`${node} ${what}`);
		if (this.#cluster.keepsAll) invariants.broken(`I8: ${node} ${what}, and was never away for long`);
		const silentMs = this.#untilReadingMs(this.#lastPacketMs(node));
		if (silentMs < limits.nodeGraceMs) invariants.broken(`I8: ${node} ${what} ${silentMs} ms after a packet of it`);
		const wellMs = this.#untilReadingMs(this.#wellSinceMs);
		if (wellMs < limits.nodeGraceMs)
			invariants.broken(`I8: ${node} ${what} by an observer that was well for ${Math.max(0, wellMs)} ms only`);
		const halfMs = this.#untilReadingMs(this.#halfSinceMs);
		if (halfMs < limits.nodeGraceMs)
			invariants.broken(`I8: ${node} ${what} while half of the nodes are heard for ${Math.max(0, halfMs)} ms only`);
		if (this.#readAtMs < (this.#restartingUntilMs.get(node) ?? 0)) invariants.broken(`I8: ${node} ${what}, and said that it will be back`);
	}
}
