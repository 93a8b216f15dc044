// Amounts of a resource as whole numbers: cpu in thousandths, memory and storage in bytes, GPUs counted.

import {gpuResource} from './gpu.js';
import type {Json} from './object.js';
import {cpuMillis, cpuText, memoryBytes, memoryText, quantityValue} from './quantity.js';
import type {Quantity} from './shapes/pod.js';

export const isQuantity = (value: Json | undefined): value is Quantity => typeof value === 'string' || typeof value === 'number';

const bytes: ReadonlySet<string> = new Set(['memory', 'storage']);

/** Undefined for what is no quantity, or of another resource. */
export function amountOf(resource: string, quantity: Json | undefined): number | undefined {
	if (!isQuantity(quantity)) return undefined;
	if (resource === 'cpu') return cpuMillis(quantity);
	if (resource === gpuResource) return quantityValue(quantity);
	return bytes.has(resource) ? memoryBytes(quantity) : undefined;
}

/** The amount as Kubernetes would write it. */
export const amountText = (resource: string, amount: number): string =>
	resource === 'cpu' ? cpuText(amount) : resource === gpuResource ? String(amount) : memoryText(amount);
