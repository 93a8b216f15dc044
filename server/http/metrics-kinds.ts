// NodeMetrics and PodMetrics of `metrics.k8s.io/v1beta1` are no objects of the store: nodes tell them when they are asked for. Here is what they look
// like, for discovery and tables.

import {cpuMillis, memoryBytes} from '../../api/quantity.js';
import {ageColumn, column, nameColumn} from '../../api/columns/common.js';
import type {Column, KindDefinition} from '../../api/kind.js';
import type {ApiObject, Draft} from '../../api/object.js';

/** What was used, as quantities: of processors on the average of the window, of memory at its end. */
export type Usage = {readonly cpu: string; readonly memory: string};

type Measured = ApiObject & {
	readonly timestamp: string;
	/** Go's form: `15s`. */
	readonly window: string;
};

/** Where it was asked for; Kubernetes has no such members. */
export type MetricsDetails = {
	/** Bytes in each second, now. Left out: it is not known. */
	readonly rates?: {readonly received?: number; readonly sent?: number; readonly read?: number; readonly written?: number};
	/** Oldest first; null where nothing was measured. `cpu` in thousandths of a processor, `memory` in bytes. */
	readonly history?: {
		readonly stepSeconds: number;
		readonly cpu: readonly (number | null)[];
		readonly memory: readonly (number | null)[];
	};
};

export type NodeMetrics = Measured & MetricsDetails & {readonly usage: Usage};

export type PodMetrics = Measured & MetricsDetails & {readonly containers: readonly {readonly name: string; readonly usage: Usage}[]};

const usagesOf = (object: ApiObject): readonly Usage[] => {
	const {usage, containers = []} = object as Partial<NodeMetrics & PodMetrics>;
	return usage === undefined ? containers.map(each => each.usage) : [usage];
};

/** Thousandths of a processor. */
export const cpuOf = (object: ApiObject): number => usagesOf(object).reduce((sum, {cpu}) => sum + (cpuMillis(cpu) ?? 0), 0);

/** Bytes. */
export const memoryOf = (object: ApiObject): number => usagesOf(object).reduce((sum, {memory}) => sum + (memoryBytes(memory) ?? 0), 0);

/** `250m`. */
export const cpuText = (millis: number): string => `${millis}m`;

const mebibyte = 1_048_576;

/** `64Mi`, rounded down as kubectl does. */
export const memoryText = (bytes: number): string => `${Math.floor(bytes / mebibyte)}Mi`;

const columns: readonly Column[] = [
	nameColumn,
	column('CPU', 'What is used of processors, in thousandths of one', object => cpuText(cpuOf(object))),
	column('Memory', 'The working set', object => memoryText(memoryOf(object))),
	column('Window', 'Over which time the processors were looked at', object => (object as Measured).window),
	ageColumn,
];

const view = {
	group: 'metrics.k8s.io',
	version: 'v1beta1',
	singular: '',
	shortNames: [],
	defaults: (draft: Draft) => draft,
	validate: () => undefined,
	columns,
};

export const nodeMetricsKind: KindDefinition = {...view, kind: 'NodeMetrics', plural: 'nodes', namespaced: false};

export const podMetricsKind: KindDefinition = {...view, kind: 'PodMetrics', plural: 'pods', namespaced: true};
