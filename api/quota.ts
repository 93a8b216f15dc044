// What the names in a quota bound, and their amounts as whole numbers: cpu in thousandths, memory and storage in bytes, anything else counted.

import {gpuResource} from './gpu.js';
import type {Json} from './object.js';
import {quantityValue} from './quantity.js';
import {amountOf, amountText, isQuantity} from './resource-amount.js';

export type QuotaResource =
	/** Objects of a kind, whatever becomes of them. */
	| {readonly type: 'objects'; readonly plural: string; readonly group: string}
	/** Pods that are not over. */
	| {readonly type: 'pods'}
	/** What pods ask for that are not over. */
	| {readonly type: 'compute'; readonly part: 'requests' | 'limits'; readonly resource: 'cpu' | 'memory' | typeof gpuResource}
	/** Claims of volumes of one class. */
	| {readonly type: 'claims'; readonly storageClass: string}
	/** What claims of volumes ask for: all, or those of one class. */
	| {readonly type: 'storage'; readonly storageClass?: string};

/** The core kinds that have a name of their own, beside `count/`. */
const counted = ['configmaps', 'persistentvolumeclaims', 'replicationcontrollers', 'resourcequotas', 'secrets', 'services'] as const;

const byName: ReadonlyMap<string, QuotaResource> = new Map<string, QuotaResource>([
	['pods', {type: 'pods'}],
	['requests.storage', {type: 'storage'}],
	...(['cpu', 'memory'] as const).flatMap((resource): (readonly [string, QuotaResource])[] => [
		[resource, {type: 'compute', part: 'requests', resource}],
		[`requests.${resource}`, {type: 'compute', part: 'requests', resource}],
		[`limits.${resource}`, {type: 'compute', part: 'limits', resource}],
	]),
	// As in Kubernetes: what is not shared has no limit beside its request.
	[`requests.${gpuResource}`, {type: 'compute', part: 'requests', resource: gpuResource}],
	...counted.map((plural): readonly [string, QuotaResource] => [plural, {type: 'objects', plural, group: ''}]),
]);

/** Names that a quota may have, `count/` aside. */
export const quotaNames: readonly string[] = [...byName.keys()].sort();

/** What `<class>.storageclass.storage.k8s.io/<name>` bounds: classes have the names of objects. */
const ofClass = /^([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\.storageclass\.storage\.k8s\.io\/(requests\.storage|persistentvolumeclaims)$/;

const countName = /^count\/([a-z0-9-]+)(?:\.([a-z0-9.-]+))?$/;

/** Undefined: no quota can be of that. */
export function quotaResource(name: string): QuotaResource | undefined {
	const [, plural, group = ''] = countName.exec(name) ?? [];
	if (plural !== undefined) return {type: 'objects', plural, group};
	const [, storageClass, what] = ofClass.exec(name) ?? [];
	if (storageClass === undefined) return byName.get(name);
	return {type: what === 'persistentvolumeclaims' ? 'claims' : 'storage', storageClass};
}

/** The resource whose unit the amounts of a name have; undefined for what is counted. */
function unitOf(name: string): string | undefined {
	const bounded = quotaResource(name);
	return bounded?.type === 'compute' ? bounded.resource : bounded?.type === 'storage' ? 'storage' : undefined;
}

/** Undefined for what is no quantity. */
export function quotaAmount(name: string, quantity: Json | undefined): number | undefined {
	const unit = unitOf(name);
	if (unit !== undefined) return amountOf(unit, quantity);
	return isQuantity(quantity) ? quantityValue(quantity) : undefined;
}

/** The amount as Kubernetes would write it. */
export function quotaText(name: string, amount: number): string {
	const unit = unitOf(name);
	return unit === undefined ? String(amount) : amountText(unit, amount);
}
