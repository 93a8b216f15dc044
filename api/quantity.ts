// Quantities of Kubernetes: `500m`, `128Mi`, `1.5`, `2e3`. The source is its API conventions, "Quantity".
//
// The older dialect writes plain integers: from 1000000 on, a CPU quantity without a suffix is nano-CPUs (no machine has a
// million CPUs); a memory quantity without one is bytes anyway.

import {limits} from './limits.js';
import type {Quantity} from './shapes/pod.js';

const syntax = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d{1,3})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?$/;

const factors: {readonly [suffix: string]: number} = {
	n: 1e-9,
	u: 1e-6,
	m: 1e-3,
	k: 1e3,
	M: 1e6,
	G: 1e9,
	T: 1e12,
	P: 1e15,
	E: 1e18,
	Ki: 2 ** 10,
	Mi: 2 ** 20,
	Gi: 2 ** 30,
	Ti: 2 ** 40,
	Pi: 2 ** 50,
	Ei: 2 ** 60,
};

/** The number a quantity means, in its base unit (CPUs, bytes); undefined when the text is none. */
export function quantityValue(quantity: Quantity): number | undefined {
	if (typeof quantity === 'number') return Number.isFinite(quantity) ? quantity : undefined;
	if (quantity.length > limits.quantityCharacters) return undefined;
	const match = syntax.exec(quantity);
	if (match === null) return undefined;
	const [, sign = '', digits = '', exponent = '', suffix = ''] = match;
	const value = Number(digits + exponent) * (suffix === '' ? 1 : (factors[suffix] ?? NaN));
	return sign === '-' ? -value : value;
}

/** Of a plain integer from here on, a CPU quantity is in nano-CPUs. */
export const nanoCpusFrom = 1_000_000;

/** CPU in thousandths, rounded up as Kubernetes does; undefined when the quantity is none. */
export function cpuMillis(quantity: Quantity): number | undefined {
	const value = quantityValue(quantity);
	if (value === undefined) return undefined;
	const isPlain = typeof quantity === 'number' || /^\d+$/.test(quantity);
	const cpus = isPlain && value >= nanoCpusFrom ? value / 1e9 : value;
	return roundUp(cpus * 1000);
}

/** Memory in bytes, rounded up; undefined when the quantity is none. */
export function memoryBytes(quantity: Quantity): number | undefined {
	const value = quantityValue(quantity);
	return value === undefined ? undefined : roundUp(value);
}

/** Rounds up, but not for the last bits of a binary fraction: 0.1 CPU is 100 and not 101 thousandths. */
function roundUp(value: number): number {
	const nearest = Math.round(value);
	return Math.abs(value - nearest) <= Math.abs(value) * 1e-12 ? nearest : Math.ceil(value);
}

/** How Kubernetes would write so many thousandths of a CPU: `2`, `500m`. */
export const cpuText = (millis: number): string => (millis % 1000 === 0 ? String(millis / 1000) : `${millis}m`);

const decimal = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;

/** A number to thousandths, in the largest decimal unit in which it is whole, as Kubernetes writes it: `12`, `12500m`, `10k`. */
export function decimalText(value: number): string {
	let amount = Math.round(value * 1_000);
	let at = 0;
	for (; amount !== 0 && amount % 1_000 === 0 && at < decimal.length - 1; at++) amount /= 1_000;
	return `${amount}${amount === 0 ? '' : (decimal[at] ?? '')}`;
}

const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** Bytes in the largest binary unit in which they are a whole number: `128Mi`, `1536Mi`, `1000`. */
export function memoryText(bytes: number): string {
	let value = bytes;
	let unit = '';
	for (const next of binary) {
		if (value === 0 || value % 1024 !== 0) break;
		value /= 1024;
		unit = next;
	}
	return `${value}${unit}`;
}
