// One round of the scheduler: what is committed, what is asked for, and what the round itself has decided so far.

import type {SchedulerStrategy} from '../../../api/scheduler-strategies.js';
import {defaultStrategy, type ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {Context, Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {clusterConfigKey} from '../../addresses.js';
import type {PodMessage} from '../pods/pod.js';
import {belowDefault, nominated, portOnNode, repelling} from '../pod-terms.js';
import {addNominee, candidatesOf, dropNominee, occupy, type Candidate} from './candidate.js';
import {lookAgain, type Look} from './look.js';
import {needsOf, repels} from './needs.js';
import type {PortCheck} from './room.js';

export type Round = {
	readonly known: Known;
	readonly strategy: SchedulerStrategy;
	readonly candidates: readonly Candidate[];
	readonly byName: ReadonlyMap<string, Candidate>;
	/** Binds that are not committed, those of this round included; by uid. */
	readonly asked: Map<string, {readonly pod: Pod; readonly node: string}>;
	/** Uids of pods that are asked to leave. */
	readonly leaving: Set<string>;
	/** Where room is kept, as committed or asked for; undefined: no more. By uid. */
	readonly nominations: Map<string, string | undefined>;
	readonly holdsPort: PortCheck;
	/** The lowest priority of the pods of a node, as far as somebody looked. */
	readonly lowest: Map<Candidate, number>;
	/** Ports of `asked`, as terms of the index. */
	readonly ports: Set<string>;
	readonly looks: Map<string, Look>;
	readonly random: () => number;
	/** Whether there is a bound pod that counts less than those who say nothing. */
	readonly hasLower: boolean;
	/** Whether there is a pod that keeps others away. */
	isRepelling: boolean;
	/** The round-robin's place in the list of nodes. */
	turn: number;
	/** Decided since the scheduler began. */
	binds: number;
	/** Nodes and pods that were looked at: a measure of time. */
	work: number;
};

export function roundOf({known, pending, random}: Context, turn: number, binds: number): Round {
	const candidates = candidatesOf(known);
	const ports = new Set<string>();
	const round: Round = {
		known,
		strategy: (known.get(clusterConfigKey) as ClusterConfig | undefined)?.spec?.scheduler?.strategy ?? defaultStrategy,
		candidates,
		byName: new Map(candidates.map(candidate => [candidate.name, candidate])),
		asked: new Map(),
		leaving: new Set(),
		nominations: new Map(),
		holdsPort: portCheck(known, ports),
		lowest: new Map(),
		ports,
		looks: new Map(),
		random: random.next,
		hasLower: known.countByTerm('pods', belowDefault) > 0,
		isRepelling: known.countByTerm('pods', repelling) > 0,
		turn,
		binds,
		work: candidates.length,
	};
	const writes = [...pending.values()];
	for (const write of writes) takePending(round, write);
	keepRoom(round);
	return round;
}

/** Whether somebody else than those thought away has the port. */
function portCheck(known: Known, asked: ReadonlySet<string>): PortCheck {
	return (node, port, without) => {
		const term = portOnNode(node, port);
		if (asked.has(term)) return true;
		const holders = known.countByTerm('pods', term);
		if (holders === 0 || without.length === 0) return holders > 0;
		return holders > without.filter(({spec}) => spec !== undefined && needsOf(spec).ports.includes(port)).length;
	};
}

/** A write that is asked for counts as done. */
function takePending(round: Round, write: Pending): void {
	if (write.type !== 'update') return;
	const message = write.message as PodMessage;
	const pod = podAt(round.known, write.key);
	if (pod === undefined) return;
	const {uid} = pod.metadata;
	if (message.type === 'preempt') round.leaving.add(uid);
	if (message.type === 'nominate') round.nominations.set(uid, message.nodeName);
	// One whose bind is committed and not yet answered is in the index already.
	if (message.type !== 'bind' || pod.spec?.nodeName !== undefined) return;
	const candidate = round.byName.get(message.nodeName);
	if (candidate === undefined) round.asked.set(uid, {pod, node: message.nodeName});
	else place(round, candidate, pod);
}

const podAt = (known: Known, key: ObjectKey): Pod | undefined => known.get(key) as Pod | undefined;

/** Room is kept for those that are nominated and neither bound nor asked to be. */
function keepRoom(round: Round): void {
	const {known, nominations} = round;
	for (const object of known.byTerm('pods', nominated)) {
		const {metadata, status} = object as Pod;
		if (!nominations.has(metadata.uid)) nominations.set(metadata.uid, status?.nominatedNodeName);
	}
	for (const [uid, node] of nominations) {
		const pod = known.byUid(uid) as Pod | undefined;
		if (pod !== undefined && pod.spec?.nodeName === undefined && !round.asked.has(uid)) nominate(round, pod, node);
	}
}

/** Keeps room for a pod, or keeps it no more. */
export function nominate(round: Round, {metadata: {uid}, spec}: Pod, node: string | undefined): void {
	const before = round.byName.get(round.nominations.get(uid) ?? '');
	if (before !== undefined) dropNominee(before, uid);
	round.nominations.set(uid, node);
	const now = round.byName.get(node ?? '');
	if (now !== undefined && spec !== undefined) addNominee(now, {uid, needs: needsOf(spec)});
}

/** What one decision takes, the next of the same round finds taken. */
export function take(round: Round, candidate: Candidate, pod: Pod): void {
	if (round.nominations.has(pod.metadata.uid)) nominate(round, pod, undefined);
	place(round, candidate, pod);
	round.binds++;
	if (round.strategy === 'round-robin') round.turn = (candidate.index + 1) % round.candidates.length;
}

function place(round: Round, candidate: Candidate, pod: Pod): void {
	const {spec} = pod;
	if (spec === undefined) return;
	const needs = needsOf(spec);
	occupy(candidate, needs);
	round.asked.set(pod.metadata.uid, {pod, node: candidate.name});
	for (const port of needs.ports) round.ports.add(portOnNode(candidate.name, port));
	if (repels(spec) && !round.isRepelling) {
		// Nobody looked at who keeps others away as long as there was none.
		round.isRepelling = true;
		round.looks.clear();
	} else for (const look of round.looks.values()) lookAgain(look, pod, candidate);
}
