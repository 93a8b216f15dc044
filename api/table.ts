// Lists as kubectl prints them: the Table of meta.k8s.io/v1. The client hides columns of priority 1 unless `-o wide`.

import type {Column, KindDefinition} from './kind.js';
import type {ApiObject, JsonObject} from './object.js';

export type TableOptions = {
	/** What each row carries of its object. */
	readonly includeObject?: 'Metadata' | 'Object' | 'None';
	/** Of the list. */
	readonly resourceVersion?: string;
	/** Later events of a watch go without. */
	readonly columnDefinitions?: boolean;
};

export type Table = {
	readonly kind: 'Table';
	readonly apiVersion: 'meta.k8s.io/v1';
	readonly metadata: {readonly resourceVersion?: string};
	readonly columnDefinitions: readonly JsonObject[];
	readonly rows: readonly TableRow[];
};

export type TableRow = {readonly cells: readonly (string | number | null)[]; readonly object?: unknown};

export function tableOf(kind: KindDefinition, objects: Iterable<ApiObject>, nowMs: number, options: TableOptions = {}): Table {
	const {includeObject = 'Metadata', resourceVersion, columnDefinitions = true} = options;
	return {
		kind: 'Table',
		apiVersion: 'meta.k8s.io/v1',
		metadata: resourceVersion === undefined ? {} : {resourceVersion},
		columnDefinitions: columnDefinitions ? kind.columns.map(definitionOf) : [],
		rows: Array.from(objects, object => rowOf(kind, object, nowMs, includeObject)),
	};
}

const definitionOf = ({name, type, priority, description}: Column): JsonObject => ({
	name,
	type,
	format: name === 'Name' ? 'name' : '',
	description,
	priority,
});

function rowOf(kind: KindDefinition, object: ApiObject, nowMs: number, include: TableOptions['includeObject']): TableRow {
	const cells = kind.columns.map(column => column.cell(object, nowMs));
	switch (include) {
		case 'None':
			return {cells};
		case 'Object':
			return {cells, object};
		default:
			return {cells, object: {kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata}};
	}
}
