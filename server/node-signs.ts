// What control hears of the nodes, put together for the detector: beats, presences, packets on any connection, and how well control
// itself hears (the lag of its loop, its own canary through the broker). It judges nothing.
//
// It ticks only while there is a node elsewhere to hear of, or pods of one whose record was deleted.

import {limits} from '../api/limits.js';
import {bootOfBeat, parsePresence} from '../api/presence.js';
import {formatTopic, nodesFilter, parseTopic} from '../api/topics.js';
import type {SignsMessage} from '../actors/control/nodes/detector.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import type {Signs} from '../system/presence/membership.js';
import type {PubSub} from '../system/links/pubsub.js';

export type NodeSignsOptions = {
	/** Of this start of the server: no other one hears its canary. */
	readonly serverId: string;
	readonly pubsub: PubSub;
	readonly clock: Clock;
	/** Nodes of which anything came at that time (monotonic) or later: of the broker, or of the links to one elsewhere. */
	readonly heardSince: (atMs: number) => readonly string[];
	/** Whether a node is known, and not in this process; of others nothing is told. */
	readonly isRemote: (node: string) => boolean;
	/** Whether there is one at all, or a pod that is bound to neither such a node nor one of this process. */
	readonly anyRemote: () => boolean;
	readonly tell: (message: SignsMessage) => void;
	/** A canary that was longer on its way is no proof of good hearing. */
	readonly lagMs?: () => number;
};

export type NodeSigns = {
	/** To be called when a node appeared that was not heard of yet, so that its silence is noticed, too. */
	readonly wake: () => void;
	readonly close: () => void;
};

type Presences = Signs['presences'];

/** Listens, and ticks when there is reason to. */
export function startNodeSigns(options: NodeSignsOptions): NodeSigns {
	const {serverId, pubsub, clock, heardSince, isRemote, anyRemote, tell, lagMs = () => limits.observerLagMs} = options;
	const canaryTopic = formatTopic({type: 'canary', server: serverId});
	let beats = new Map<string, string | undefined>();
	let presences = new Map<string, Presences>();
	let canaryHeard = false;
	let lastMs = 0;
	let cancelTick: Cancel | undefined;

	/** The remote node that a topic is of. */
	const nodeOf = (topic: string): string | undefined => {
		const parsed = parseTopic(topic);
		const node = parsed?.type === 'beat' || parsed?.type === 'presence' ? parsed.node : undefined;
		return node !== undefined && isRemote(node) ? node : undefined;
	};
	const wait = (): void => {
		lastMs = clock.monotonicMs();
		pubsub.publish(canaryTopic, String(lastMs), {retain: false});
		cancelTick = clock.after(limits.signsMs, tick);
	};
	const wake = (): void => {
		if (cancelTick === undefined && anyRemote()) wait();
	};
	const tick = (): void => {
		cancelTick = undefined;
		const atMs = clock.monotonicMs();
		tell({
			type: 'signs',
			atMs,
			lagMs: Math.max(0, atMs - lastMs - limits.signsMs),
			canaryHeard,
			beats: [...beats.keys()],
			boots: Object.fromEntries([...beats].flatMap(([node, boot]) => (boot === undefined ? [] : [[node, boot]]))),
			packets: heardSince(lastMs).filter(isRemote),
			presences: [...presences.values()].flat(),
		});
		beats = new Map();
		presences = new Map();
		canaryHeard = false;
		wake();
	};

	const ends = [
		pubsub.subscribe(nodesFilter('beat'), (topic, payload) => {
			const node = nodeOf(topic);
			if (node === undefined) return;
			beats.set(node, bootOfBeat(payload));
			wake();
		}),
		pubsub.subscribe(nodesFilter('presence'), (topic, payload) => {
			const node = nodeOf(topic);
			const presence = parsePresence(payload);
			if (node === undefined || presence === undefined) return;
			presences.set(node, [...(presences.get(node) ?? []), {node, ...presence}].slice(-limits.presencesPerReading));
			wake();
		}),
		pubsub.subscribe(canaryTopic, (_topic, payload) => {
			if (clock.monotonicMs() - Number(payload) < lagMs()) canaryHeard = true;
		}),
	];
	wake();

	return {
		wake,
		close() {
			cancelTick?.();
			for (const end of ends) end();
		},
	};
}
