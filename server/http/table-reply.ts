// Tables: what `kubectl get` prints, made from the kind's columns.

import type {KindDefinition} from '../../api/kind.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {tableOf, type Table, type TableOptions} from '../../api/table.js';
import type {Backend, Exchange} from './exchange.js';
import type {Form} from './negotiate.js';
import {refusal} from './outcome.js';
import {jsonType} from './reply.js';
import {write} from './stream.js';

export type TableVersion = Extract<Form, {type: 'table'}>['version'];
export type IncludeObject = NonNullable<TableOptions['includeObject']>;

export type TableAnswer = {
	readonly kind: KindDefinition;
	readonly objects: readonly ApiObject[];
	/** Of the list: version, and where the next page begins. */
	readonly metadata: JsonObject;
	readonly version: TableVersion;
	readonly status?: 200 | 201;
};

/** What each row carries of its object; `kubectl get --sort-by` asks for all of it. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
	const text = query.get('includeObject') ?? 'Metadata';
	if (text === 'Metadata' || text === 'Object' || text === 'None') return text;
	throw refusal('includeObject must be Metadata, Object or None');
}

/** A Table of the version that was asked for. */
export const versioned = (table: Table, version: TableVersion) => ({...table, apiVersion: `meta.k8s.io/${version}`});

/** Answers with the objects as rows, written in portions. */
export async function sendTable({control}: Backend, {query, response}: Exchange, answer: TableAnswer): Promise<void> {
	const {kind, objects, metadata, version, status = 200} = answer;
	const includeObject = includeObjectOf(query);
	const nowMs = control.nowMs();
	const {rows: _none, ...head} = versioned(tableOf(kind, [], nowMs, {includeObject}), version);
	response.writeHead(status, {'content-type': jsonType, 'cache-control': 'no-cache, private'});
	let before = `${JSON.stringify({...head, metadata}).slice(0, -1)},"rows":[`;
	for (let from = 0; from < objects.length; from += limits.listPortion) {
		const {rows} = tableOf(kind, objects.slice(from, from + limits.listPortion), nowMs, {includeObject});
		if (!(await write(response, before + JSON.stringify(rows).slice(1, -1)))) return;
		before = ',';
	}
	response.end(`${objects.length === 0 ? before : ''}]}\n`);
}
