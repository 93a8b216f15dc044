// Below which rest of what a host has its node is under pressure: the words of the kubelet's `--eviction-hard`. Pure.
//
// Source: Kubernetes' "Node-pressure Eviction".

import {quantityValue} from './quantity.js';

export const evictionSignals = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'pid.available'] as const;
export type EvictionSignal = (typeof evictionSignals)[number];

/** An amount (bytes, or how many), of a small host perhaps no more than a part of all there is; or such a part. `text` is as it was written. */
export type Threshold = {readonly text: string} & ({readonly amount: number; readonly mostPercent?: number} | {readonly percent: number});

/** A signal without one leads to no pressure. */
export type EvictionThresholds = {readonly [Signal in EvictionSignal]?: Threshold};

/**
 * Those of the kubelet are of hosts that do nothing else, and take a tenth of a disk: here it is what a host that people work at can spare, and never more
 * than that tenth: a small disk would be short of it from the first day on.
 */
export const usualEviction: EvictionThresholds = {
	'memory.available': {text: '100Mi', amount: 104_857_600, mostPercent: 10},
	'nodefs.available': {text: '1Gi', amount: 1_073_741_824, mostPercent: 10},
	'nodefs.inodesFree': {text: '2%', percent: 2},
	'pid.available': {text: '5%', percent: 5},
};

/** The same in words. */
export const usualThresholds = Object.entries(usualEviction)
	.map(([signal, {text}]) => `${signal}<${text}`)
	.join(',');

/** `SIGNAL<QUANTITY,SIGNAL<PERCENT%`, or `none`; or what is wrong with it. */
export function parseEvictionThresholds(text: string): EvictionThresholds | string {
	if (text === 'none') return {};
	const found: {[signal: string]: Threshold} = {};
	for (const part of text.split(',')) {
		const [signal = '', value = '', ...more] = part.trim().split('<');
		const threshold = more.length === 0 ? thresholdOf(value.trim()) : undefined;
		if (!isSignal(signal) || threshold === undefined)
			return `must be ${usualThresholds} or the like (${evictionSignals.join(', ')}), or none, got "${part.trim()}"`;
		if (Object.hasOwn(found, signal)) return `names ${signal} twice`;
		found[signal] = threshold;
	}
	return found;
}

const isSignal = (word: string): word is EvictionSignal => (evictionSignals as readonly string[]).includes(word);

function thresholdOf(text: string): Threshold | undefined {
	const percent = /^(\d{1,2}(?:\.\d{1,3})?)%$/.exec(text)?.[1];
	if (percent !== undefined) return Number(percent) > 0 ? {text, percent: Number(percent)} : undefined;
	const amount = /^\d/.test(text) ? quantityValue(text) : undefined;
	return amount === undefined || amount <= 0 || !Number.isFinite(amount) ? undefined : {text, amount};
}
