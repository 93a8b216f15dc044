// What an agent is connected by: three connections of one login to whichever server leads. Control carries what must be quick, and
// presence with its will; bulk what is large; the beat has a thread of its own. Each comes back by itself.
//
// One agent per node: a second one is refused by the broker as long as the first lives, and says so instead of trying for ever.

import {formatClientId} from '../../api/client-id.js';
import {limits} from '../../api/limits.js';
import {createAnnouncer} from './announcer.js';
import {standInBeat} from './beat.js';
import {startBeatThread, type BeatThread, type BeatThreadOptions} from './beat-thread.js';
import {paceOf, usualPace} from './pace.js';
import {systemClock} from '../time/clock.js';
import type {Links} from '../links/link.js';
import {connectMqttLink, type MqttLink, type MqttLinkOptions} from '../links/mqtt-link.js';

export type UplinkOptions = {
	/** `mqtts://host:port` (or `mqtt://…`) of all servers; asked before each attempt, since it grows with what servers tell. */
	readonly servers: () => readonly [string, ...string[]];
	readonly node: string;
	/** The node's own credential. */
	readonly password: string;
	/** Random per start of the agent. */
	readonly boot: string;
	/** PEM of the cluster's authority. */
	readonly ca?: string;
	/** After each (re)connect of the control connection. */
	readonly onConnected?: () => void;
	readonly onDisconnected?: () => void;
	/** Why it is not connected, in words without secrets; with the CONNACK code where the broker refused. */
	readonly onProblem?: (problem: string, code?: number) => void;
	/** Another agent of this node lives. Nothing is tried any more; the process is to say this line and end. */
	readonly onRefused: (reason: string) => void;
	/** How it beats, where many agents share a process: otherwise by a thread of its own. */
	readonly startBeat?: (options: BeatThreadOptions) => BeatThread;
};

export type Uplink = {
	readonly links: Links;
	/** For other topics: lifecycle goes by control, metrics by bulk. */
	readonly control: MqttLink;
	readonly bulk: MqttLink;
	/** To be said before a stop that is meant to be followed by a start. */
	readonly announceRestart: () => void;
	/** Whether the agent says nothing at all: it is cut off as by a network. */
	readonly silence: (isSilent: boolean) => void;
	/** A silent node has so long: it beats so that it is heard within it. */
	readonly hurry: (graceMs: number) => void;
	/** Says goodbye on all connections: no will is published. */
	readonly close: () => Promise<void>;
};

/** CONNACK: the broker has another agent of this login [MQTT 3.1.1, table 3.1]. */
export const identifierRejected = 2;

export function openUplink(options: UplinkOptions): Uplink {
	const {servers, node, password, boot, onConnected, onDisconnected, onProblem, startBeat = startBeatThread} = options;
	const login = {password, boot, node, ...(options.ca === undefined ? {} : {ca: options.ca})};
	const announcer = createAnnouncer({node, boot, publish: (...said) => control.publish(...said)});
	const second = secondAgentWatch(options, () => void close());

	const link = (lane: 'control' | 'bulk', more: Partial<MqttLinkOptions>): MqttLink =>
		connectMqttLink({...login, url: servers, self: node, clientId: formatClientId(node, boot, lane), lane, ...more});
	const control = link('control', {
		will: announcer.will,
		onConnected() {
			second.accepted();
			announcer.online();
			onConnected?.();
		},
		...(onDisconnected === undefined ? {} : {onDisconnected}),
		onProblem(problem, code) {
			if (code === identifierRejected) second.refused();
			onProblem?.(problem, code);
		},
	});
	control.subscribe(announcer.topic, (_topic, payload) => announcer.hear(payload));
	const bulk = link('bulk', {});
	/** While the beat has no connection of its own it takes this one; where there is no time to find that out, always. */
	let pace = usualPace;
	const standIn = standInBeat({node, boot, clock: systemClock, publish: control.publish, pace: () => pace});
	let isSilent = false;
	let stands = false;
	const beatHere = (): void => standIn((!stands || pace.beatsTwice) && !isSilent);
	beatHere();
	const beat = startBeat({
		...login,
		servers,
		clock: systemClock,
		onLine(standsNow) {
			stands = standsNow;
			beatHere();
		},
		// A host that vanished says nothing, and on a link that was away TCP waits for up to as long again: the other two may still do.
		onSilent() {
			control.verify(limits.controlAnswerMs);
			bulk.verify(limits.bulkAnswerMs);
		},
		onProblem: problem => onProblem?.(problem),
	});
	const close = async (): Promise<void> => {
		await Promise.all([control.close(), bulk.close(), beat.close()]);
		standIn(false);
	};
	const silence = (silent: boolean): void => {
		isSilent = silent;
		beatHere();
		for (const each of [control, bulk, beat]) each.silence(isSilent);
	};
	const hurry = (graceMs: number): void => {
		pace = paceOf(Math.min(Math.max(graceMs, limits.nodeGraceLeastMs), limits.nodeGraceMostMs));
		beat.hurry(pace.graceMs);
		beatHere();
	};
	return {links: {control, bulk}, control, bulk, announceRestart: announcer.restarting, silence, hurry, close};
}

/** Gives up when the broker refuses this agent for longer than one that is dead could be taken for alive. */
function secondAgentWatch(
	{node, onRefused}: UplinkOptions,
	giveUp: () => void,
): {readonly accepted: () => void; readonly refused: () => void} {
	let sinceMs: number | undefined;
	let over = false;
	return {
		accepted() {
			sinceMs = undefined;
		},
		refused() {
			const nowMs = systemClock.monotonicMs();
			sinceMs ??= nowMs;
			if (over || nowMs - sinceMs < limits.secondAgentMs) return;
			over = true;
			giveUp();
			onRefused(`another agent of node "${node}" is connected: stop that one first, or join under another name`);
		},
	};
}
