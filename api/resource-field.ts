// What a container asks for and may use, as a variable of its environment: the `resourceFieldRef` of Kubernetes.

import {cpuMillis, memoryBytes} from './quantity.js';
import type {Container, Quantity, ResourceFieldRef} from './shapes/pod.js';

export const resourceFields = ['limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'] as const;

/** The units a value may be counted in; `0` is how Kubernetes writes the default, 1. */
export const divisors: {readonly cpu: readonly string[]; readonly memory: readonly string[]} = {
	cpu: ['0', '1', '1m'],
	memory: ['0', '1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
};

/** The value in units of the divisor, rounded up as in Kubernetes; 0 for what the container does not ask for. */
export function resourceValue({resource, divisor = '1'}: ResourceFieldRef, {resources}: Pick<Container, 'resources'>): string {
	const [part = '', name = ''] = resource.split('.');
	const quantity = (part === 'limits' ? resources?.limits : resources?.requests)?.[name];
	const amountOf = (value: Quantity): number => (name === 'cpu' ? cpuMillis(value) : memoryBytes(value)) ?? 0;
	const unit = amountOf(divisor) === 0 ? amountOf('1') : amountOf(divisor);
	return String(Math.ceil(amountOf(quantity ?? 0) / unit));
}
