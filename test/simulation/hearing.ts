// What control could truly hear of each node, as only the world knows it; and a spy on the detector, which must never judge otherwise.

import {limits} from '../../api/limits.js';
import {nodeKey} from '../../actors/addresses.js';
import {detector} from '../../actors/control/detector.js';
import type {AnyBehavior, Context, Effect, Message, Next} from '../../system/behavior.js';
import type {SystemDesign} from '../../system/durable-system.js';
import type {SimulatedCluster} from './cluster.js';

/** A reading and a half: what came that recently may not be told yet. */
const slackMs = limits.signsMs * 1.5;

export class Hearing {
	readonly #cluster: SimulatedCluster;
	/** When packets came: those of the last reading, and the one before them. */
	readonly #packetsMs = new Map<string, number[]>();
	/** When the leader began, or last went on after it had stood still for too long. */
	#wellSinceMs = 0;

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	onPacket(login: string): void {
		const nowMs = this.#nowMs();
		const packets = this.#packetsMs.get(login) ?? [];
		while ((packets[1] ?? nowMs) <= nowMs - slackMs) packets.shift();
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

	#nowMs(): number {
		return this.#cluster.world.clock.nowMs();
	}

	/** The same design, whose detector is looked at. */
	spied(design: SystemDesign): SystemDesign {
		const behavior = design.behaviors[detector.kind];
		if (behavior === undefined) return design;
		const spy: AnyBehavior = {
			...behavior,
			receive: (state: unknown, message: Message, context: Context) => {
				const next = behavior.receive(state, message, context) as Next<unknown>;
				for (const effect of next.effects) this.#look(effect);
				return next;
			},
		};
		return {...design, behaviors: {...design.behaviors, [detector.kind]: spy}};
	}

	#look(effect: Effect): void {
		if (effect.type !== 'update') return;
		const message = effect.message as Message & {readonly node?: string; readonly finding?: {readonly state: string}};
		const node = effect.key.split('/')[2] ?? '';
		const isNews = message.finding?.state === 'dead' && !this.#cluster.invariants.isGone(node);
		if (message.type === 'found' && isNews) this.#judged(node, 'is declared dead');
		if (message.type === 'evict' && message.node !== undefined) this.#judged(message.node, 'loses a pod');
	}

	/** I8: nobody is given up who was heard within the grace, nor by an observer who was not well for a whole grace. */
	#judged(node: string, what: string): void {
		const {invariants, nodes} = this.#cluster;
		const nowMs = this.#nowMs();
		this.#cluster.note(`${node} ${what}`);
		if (this.#cluster.keepsAll) invariants.broken(`I8: ${node} ${what}, and was never away for long`);
		const toldMs = this.#packetsMs.get(node)?.findLast(atMs => atMs <= nowMs - slackMs);
		const silentMs = nowMs - (toldMs ?? Number.NEGATIVE_INFINITY);
		if (silentMs < limits.nodeGraceMs - slackMs) invariants.broken(`I8: ${node} ${what} ${silentMs} ms after a packet of it`);
		const wellMs = nowMs - this.#wellSinceMs;
		if (wellMs < limits.nodeGraceMs - slackMs)
			invariants.broken(`I8: ${node} ${what} by an observer that was well for ${Math.max(0, wellMs)} ms only`);
		const others = nodes.filter(({name}) => name !== node && invariants.truth(nodeKey(name)) !== undefined);
		const heard = others.filter(({name}) => nowMs - (this.#packetsMs.get(name)?.at(-1) ?? 0) < limits.nodeGraceMs);
		if (heard.length * 2 < others.length)
			invariants.broken(`I8: ${node} ${what} while ${heard.length} of ${others.length} others are heard`);
	}
}
