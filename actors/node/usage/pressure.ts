// Whether a host has too little left of something, as its node tells it: at once when it has, and no more only after a while in which it had enough. Pure.
//
// Source: the kubelet's eviction manager.

import {limits} from '../../../api/limits.js';
import {evictionSignals, type EvictionSignal, type EvictionThresholds, type Threshold} from '../../../api/eviction-thresholds.js';
import {pressures, type Pressure} from '../../../api/node-pressure.js';
import type {HostRoom} from '../runtime/runtime-port.js';

const pressureOf: {readonly [Signal in EvictionSignal]: Pressure} = {
	'memory.available': 'MemoryPressure',
	'nodefs.available': 'DiskPressure',
	'nodefs.inodesFree': 'DiskPressure',
	'pid.available': 'PIDPressure',
};

const resourceOf: {readonly [Signal in EvictionSignal]: string} = {
	'memory.available': 'memory',
	'nodefs.available': 'ephemeral-storage',
	'nodefs.inodesFree': 'inodes',
	'pid.available': 'pids',
};

/** One that is below its threshold now. */
export type Shortage = {readonly pressure: Pressure; readonly resource: string; readonly text: string};

export function shortagesOf(room: HostRoom, thresholds: EvictionThresholds): readonly Shortage[] {
	return evictionSignals.flatMap(signal => {
		const [has, threshold] = [room[signal], thresholds[signal]];
		if (has === undefined || threshold === undefined) return [];
		const {amount, text} = amountOf(threshold, has.all);
		if (has.free >= amount) return [];
		const resource = resourceOf[signal];
		return [
			{
				pressure: pressureOf[signal],
				resource,
				text: `low on resource: ${resource}; threshold: ${text}, available: ${amountText(signal, has.free)}`,
			},
		];
	});
}

function amountOf(threshold: Threshold, all: number): {readonly amount: number; readonly text: string} {
	if (!('amount' in threshold)) return {text: threshold.text, amount: (all * threshold.percent) / 100};
	const {amount, text, mostPercent = 100} = threshold;
	const most = (all * mostPercent) / 100;
	return amount > most && mostPercent < 100 ? {amount: most, text: `${mostPercent}%`} : {amount, text};
}

const kibibyte = 1_024;

export const amountText = (signal: EvictionSignal, amount: number): string =>
	signal === 'memory.available' || signal === 'nodefs.available' ? `${Math.floor(amount / kibibyte)}Ki` : String(amount);

/** Pressures that hold: when each was last seen, by the clock that never jumps, and in which words it is told. */
export type Pressed = {readonly [Kind in Pressure]?: {readonly seenMs: number; readonly message: string}};

/** The words stay those with which it began, so that an amount that moves is no news. */
export function pressedAfter(before: Pressed, shortages: readonly Shortage[], monotonicMs: number): Pressed {
	return Object.fromEntries(
		pressures.flatMap(pressure => {
			const was = before[pressure];
			const now = shortages.find(each => each.pressure === pressure);
			if (now !== undefined) return [[pressure, {seenMs: monotonicMs, message: was?.message ?? `the node is ${now.text}`}]];
			return was !== undefined && monotonicMs - was.seenMs < limits.pressureHoldMs ? [[pressure, was]] : [];
		}),
	);
}

type Told = {readonly type: string; readonly status: 'True' | 'False'; readonly reason: string; readonly message: string};

const words: {readonly [Kind in Pressure]: readonly [pressed: string, well: string, message: string]} = {
	MemoryPressure: ['AgentHasInsufficientMemory', 'AgentHasSufficientMemory', 'the node has sufficient memory available'],
	DiskPressure: ['AgentHasDiskPressure', 'AgentHasNoDiskPressure', 'the node has no disk pressure'],
	PIDPressure: ['AgentHasInsufficientPID', 'AgentHasSufficientPID', 'the node has sufficient process ids available'],
};

/** All of them, as conditions of a node. */
export const pressureConditions = (pressed: Pressed): readonly Told[] =>
	pressures.map(type => {
		const [reason, wellReason, wellMessage] = words[type];
		const now = pressed[type];
		return now === undefined
			? {type, status: 'False', reason: wellReason, message: wellMessage}
			: {type, status: 'True', reason, message: now.message};
	});
