// `get` for people: the server's tables, drawn; with -w a row for each change.

import {ageSince} from '../../api/duration.js';
import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {isTable, tableAccept, type List, type Table, type TableColumn, type TableRow} from '../cluster/lists.js';
import {missingNamespace} from '../cluster/missing-namespace.js';
import {displayName, pathOf, type Resource, type Target} from '../cluster/resources.js';
import {cellText, drawRow, drawTable, paintStatus, widthsOf} from '../screen/table.js';
import type {Terminal} from '../screen/terminal.js';
import {widthFor} from '../screen/text-width.js';
import {watch} from '../cluster/watch.js';
import {exitCodeOf, search, selectorsFor, type SearchResult, type Search} from './search.js';

/** Which columns are shown, and what stands in front of them. */
export type Layout = {
	readonly columns: readonly TableColumn[];
	readonly wide: boolean;
	readonly withNamespace: boolean;
	readonly prefix: string;
};

/** Prints a table for each kind; answers with the exit code. */
export async function showTables(client: Client, wanted: Search, terminal: Terminal): Promise<number> {
	const found = await search<Table | List | ApiObject>(client, wanted, tableAccept, terminal);
	const tables = found.map(one => ({target: one.target, table: tableOf(one)})).filter(({table}) => (table.rows ?? []).length > 0);
	if (tables.length === 0 && exitCodeOf(found) === 0 && !wanted.ignoreNotFound) {
		terminal.note(nothingFound(wanted));
		const missing = isNamespaced(wanted) ? await missingNamespace(client, wanted.namespace) : undefined;
		if (missing !== undefined) terminal.note(`note: ${missing.message}`);
	}
	const severalKinds = new Set(found.map(({target}) => target.resource.plural)).size > 1;
	const drawn = await Promise.all(tables.map(({target, table}) => draw(target.resource, table, wanted, severalKinds, terminal)));
	terminal.out(drawn.join('\n'));
	return exitCodeOf(found);
}

/** What is said instead of an empty table. */
export const nothingFound = (search: Search): string =>
	isNamespaced(search) ? `No resources found in ${search.namespace} namespace.` : 'No resources found';

const isNamespaced = (search: Search): search is Search & {readonly namespace: string} =>
	search.namespace !== undefined && search.targets.some(({resource}) => resource.namespaced);

/** The answers about one kind as one table. */
function tableOf({answers}: SearchResult<Table | List | ApiObject>): Table {
	const tables = answers.map(answer => (isTable(answer) ? answer : plainTable(answer)));
	return {
		kind: 'Table',
		columnDefinitions: tables.find(({columnDefinitions}) => (columnDefinitions ?? []).length > 0)?.columnDefinitions ?? [],
		rows: tables.flatMap(({rows}) => rows ?? []),
	};
}

/** For a server that makes no table of this kind: name and age. */
function plainTable(answer: List | ApiObject): Table {
	const objects = 'items' in answer ? (answer.items ?? []) : [answer as ApiObject];
	return {
		kind: 'Table',
		columnDefinitions: [{name: 'Name'}, {name: 'Age'}],
		rows: objects.map(object => ({cells: [object.metadata.name, ageText(object)], object})),
	};
}

const ageText = ({metadata: {creationTimestamp}}: ApiObject): string => ageSince(creationTimestamp, Date.now());

function layoutOf(resource: Resource, table: Table, wanted: Search, severalKinds: boolean): Layout {
	return {
		columns: table.columnDefinitions ?? [],
		wide: wanted.format === 'wide',
		withNamespace: wanted.namespace === undefined && resource.namespaced,
		prefix: severalKinds ? displayName(resource, '') : '',
	};
}

const shown = ({columns, wide}: Layout): readonly number[] =>
	columns.flatMap((column, at) => (wide || (column.priority ?? 0) === 0 ? [at] : []));

/** The names of the columns that are shown. */
export const headOf = (layout: Layout): string[] => [
	...(layout.withNamespace ? ['NAMESPACE'] : []),
	...shown(layout).map(at => (layout.columns[at]?.name ?? '').toUpperCase()),
];

/** The texts under them. */
export const rowOf = (layout: Layout, {cells, object}: TableRow): string[] => [
	...(layout.withNamespace ? [object?.metadata?.namespace ?? ''] : []),
	...shown(layout).map(at => (at === 0 ? layout.prefix : '') + cellText(cells[at])),
];

/** Colours the status column, on a terminal. */
export function painter(head: readonly string[], {colours}: Terminal): (cell: string, column: number) => string {
	const status = head.indexOf('STATUS');
	return (cell, column) => (column === status ? paintStatus(cell, colours) : cell);
}

async function draw(resource: Resource, table: Table, wanted: Search, severalKinds: boolean, terminal: Terminal): Promise<string> {
	const layout = layoutOf(resource, table, wanted, severalKinds);
	const head = headOf(layout);
	const rows = (table.rows ?? []).map(row => rowOf(layout, row));
	return drawTable(head, rows, await widthFor(rows.flat()), painter(head, terminal));
}

/** Prints the table and then a row for each change, until the server ends the watch. */
export async function watchTable(client: Client, wanted: Search, target: Target, terminal: Terminal): Promise<number> {
	const path = pathOf(target.resource, wanted.namespace);
	const query = selectorsFor(wanted, target);
	const first = (await client.json({path, query, accept: tableAccept})) as Table | List;
	let table = isTable(first) ? first : plainTable(first);
	const layout = layoutOf(target.resource, table, wanted, false);
	const head = headOf(layout);
	const paint = painter(head, terminal);
	let widths = widthsOf([head, ...(table.rows ?? []).map(row => rowOf(layout, row))], text => text.length);
	const print = async (row: TableRow) => {
		const cells = rowOf(layout, row);
		const widthOf = await widthFor(cells);
		widths = widthsOf([cells], widthOf).map((width, at) => Math.max(width, widths[at] ?? 0));
		terminal.out(drawRow(cells, widths, widthOf, paint));
	};
	terminal.out(drawRow(head, widths, text => text.length));
	for (const row of table.rows ?? []) await print(row);
	const version = first.metadata?.resourceVersion;
	for await (const event of watch(client, {path, query: {...query, resourceVersion: version}, accept: tableAccept})) {
		table = isTable(event.object) ? event.object : plainTable(event.object as ApiObject);
		for (const row of table.rows ?? []) await print(row);
	}
	return 0;
}
