// What the API answers with, as far as the printers look at it.

import {apiVersionOf} from '../../api/catalogue.js';
import type {ApiObject} from '../../api/object.js';
import type {Client, Query} from '../client.js';
import {pathOf, type Resource} from './resources.js';

export type List = {
	readonly metadata?: {readonly resourceVersion?: string; readonly continue?: string};
	readonly items?: readonly ApiObject[] | null;
};

export type TableColumn = {readonly name: string; readonly type?: string; readonly priority?: number};
export type TableRow = {
	readonly cells: readonly unknown[];
	readonly object?: {readonly metadata?: {readonly name?: string; readonly namespace?: string}};
};
export type Table = {
	readonly kind: 'Table';
	readonly metadata?: {readonly resourceVersion?: string};
	readonly columnDefinitions: readonly TableColumn[] | null;
	readonly rows: readonly TableRow[] | null;
};

/** Asks for a table made by the server, and takes plain objects where it knows none. */
export const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export const isTable = (value: unknown): value is Table =>
	typeof value === 'object' && value !== null && (value as {readonly kind?: unknown}).kind === 'Table';

/** Every object that the query leaves, with kind and apiVersion set. */
export async function listAll(
	client: Client,
	resource: Resource,
	namespace: string | undefined,
	query: Query = {},
): Promise<readonly ApiObject[]> {
	const {items} = (await client.json({path: pathOf(resource, namespace), query})) as List;
	return (items ?? []).map(item => withKind(item, resource));
}

/** One object. Throws ERR_NOT_FOUND. */
export async function getOne(client: Client, resource: Resource, namespace: string, name: string): Promise<ApiObject> {
	return (await client.json({path: pathOf(resource, namespace, name)})) as ApiObject;
}

/** Items of a list may leave out what the list itself says. */
export const withKind = (object: ApiObject, resource: Resource): ApiObject => ({
	...object,
	apiVersion: apiVersionOf(resource),
	kind: resource.kind,
});
