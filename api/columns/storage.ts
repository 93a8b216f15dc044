// What `get` shows of claims and volumes.

import {memoryBytes, memoryText} from '../quantity.js';
import type {Quantity} from '../shapes/pod.js';

const shortModes: Readonly<Record<string, string>> = {
	ReadWriteOnce: 'RWO',
	ReadOnlyMany: 'ROX',
	ReadWriteMany: 'RWX',
	ReadWriteOncePod: 'RWOP',
};

/** `RWO,ROX`, as kubectl shows them. */
export const modesText = (modes: readonly string[] = []): string => [...new Set(modes)].map(mode => shortModes[mode] ?? mode).join(',');

/** An amount of storage as Kubernetes writes it; what is none as it stands. */
export function storageText(amounts: {readonly [resource: string]: Quantity} | undefined): string {
	const storage = amounts?.['storage'];
	if (storage === undefined) return '';
	const bytes = memoryBytes(storage);
	return bytes === undefined ? String(storage) : memoryText(bytes);
}
