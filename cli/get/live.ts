// `get -w` on a terminal: one table that is drawn in place as objects change. Ages and countdowns go on by themselves; what was deleted
// says so for a moment.

import {kindOf, apiVersionOf} from '../../api/catalogue.js';
import {AppError, rowOf as rowOfError} from '../../api/errors.js';
import type {Column} from '../../api/kind.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {systemClock} from '../../system/time/clock.js';
import type {Client} from '../client.js';
import {withKind, type List} from '../cluster/lists.js';
import {pathOf, type Resource, type Target} from '../cluster/resources.js';
import type {Region} from '../screen/region.js';
import {drawRow, widthsOf, type WidthOf} from '../screen/table.js';
import type {Terminal} from '../screen/terminal.js';
import {widthFor} from '../screen/text-width.js';
import {watch} from '../cluster/watch.js';
import {selectorsFor, type Search} from './search.js';
import {headOf, nothingFound, painter, rowOf, type Layout} from './table.js';

/** What the table shows of one object. */
export type LiveRow = {readonly object: ApiObject; readonly changedMs: number; readonly deletedMs: number | undefined};
/** By uid, in the order in which they came. */
export type LiveRows = ReadonlyMap<string, LiveRow>;

/** A whole list takes the place of what was known; what is not in it any more was deleted. */
export function withList(rows: LiveRows, objects: readonly ApiObject[], nowMs: number): LiveRows {
	const there = new Set(objects.map(({metadata}) => metadata.uid));
	const left = [...rows].map(([uid, row]): [string, LiveRow] => [uid, there.has(uid) ? row : gone(row, nowMs)]);
	return objects.reduce((known, object) => withObject(known, object, nowMs), new Map(left) as LiveRows);
}

/** A row that stays where it is, or comes last. */
export function withObject(rows: LiveRows, object: ApiObject, nowMs: number): LiveRows {
	const known = rows.get(object.metadata.uid);
	if (known?.object.metadata.resourceVersion === object.metadata.resourceVersion && known.deletedMs === undefined) return rows;
	return new Map(rows).set(object.metadata.uid, {object, changedMs: nowMs, deletedMs: undefined});
}

export function withDeleted(rows: LiveRows, object: ApiObject, nowMs: number): LiveRows {
	const known = rows.get(object.metadata.uid);
	return known === undefined ? rows : new Map(rows).set(object.metadata.uid, gone({...known, object}, nowMs));
}

const gone = (row: LiveRow, nowMs: number): LiveRow => (row.deletedMs === undefined ? {...row, changedMs: nowMs, deletedMs: nowMs} : row);

/** Without those that were deleted long enough ago to have been seen. */
export const stillShown = (rows: LiveRows, nowMs: number): LiveRows =>
	new Map([...rows].filter(([, {deletedMs}]) => deletedMs === undefined || nowMs - deletedMs < limits.liveDeletedMs));

/** As many as fit, in their order: those that changed last. */
export function fitting(rows: LiveRows, count: number): readonly LiveRow[] {
	const all = [...rows.values()];
	if (all.length <= count) return all;
	const newest = new Set(all.toSorted((a, b) => b.changedMs - a.changedMs).slice(0, Math.max(0, count)));
	return all.filter(row => newest.has(row));
}

type View = {readonly layout: Layout; readonly columns: readonly Column[]; readonly terminal: Terminal};

/** Cells of a row; what was deleted has that as its status. */
function cellsOf({layout, columns}: View, {object, deletedMs}: LiveRow, nowMs: number): string[] {
	const cells = columns.map(column => column.cell(object, nowMs));
	const row = rowOf(layout, {cells, object});
	const status = headOf(layout).indexOf('STATUS');
	if (deletedMs === undefined) return row;
	return status < 0 ? row.map((cell, at) => (at === row.length - 1 ? `${cell} (deleted)` : cell)) : row.with(status, 'Deleted');
}

/** Head and rows as lines, no more than the window has room for. */
async function linesOf(view: View, rows: LiveRows, height: number, nowMs: number): Promise<{lines: readonly string[]; widthOf: WidthOf}> {
	const head = headOf(view.layout);
	const room = height - 2;
	const shown = fitting(rows, rows.size <= room ? room : room - 1);
	const cells = shown.map(row => cellsOf(view, row, nowMs));
	const widthOf = await widthFor(cells.flat());
	const widths = widthsOf([head, ...cells], widthOf);
	const paint = painter(head, view.terminal);
	const {dim} = view.terminal.colours;
	const lines = cells.map((row, at) => {
		const isDeleted = shown[at]?.deletedMs !== undefined;
		return isDeleted ? dim(lineOf(row, widths, widthOf)) : lineOf(row, widths, widthOf, paint);
	});
	const more = rows.size - shown.length;
	return {
		lines: [lineOf(head, widths, widthOf), ...lines, ...(more > 0 ? [dim(`… ${more} more that changed less recently`)] : [])],
		widthOf,
	};
}

const lineOf = (...row: Parameters<typeof drawRow>): string => drawRow(...row).trimEnd();

/** Whether this kind's cells can be made here, as the live table needs. */
export const canBeLive = (resource: Resource): boolean => columnsOf(resource) !== undefined;

const columnsOf = (resource: Resource): readonly Column[] | undefined => kindOf(apiVersionOf(resource), resource.kind)?.columns;

/** Goes on until Ctrl-C, also while the server is away for a time; throws what cannot be mended by asking again. */
export async function watchLive(client: Client, wanted: Search, target: Target, terminal: Terminal, screen: Region): Promise<never> {
	const {resource} = target;
	const columns = columnsOf(resource) ?? [];
	const withNamespace = wanted.namespace === undefined && resource.namespaced;
	const view: View = {layout: {columns, wide: wanted.format === 'wide', withNamespace, prefix: ''}, columns, terminal};
	const path = pathOf(resource, wanted.namespace);
	const query = selectorsFor(wanted, target);
	let rows: LiveRows = new Map();
	let listed = false;
	/** Why what is shown may be old. */
	let lost: string | undefined;
	let cancel: (() => void) | undefined;
	let dueMs = Number.POSITIVE_INFINITY;

	/** Once for many changes. */
	const drawSoon = (delayMs: number = limits.liveFrameMs): void => {
		const atMs = systemClock.monotonicMs() + delayMs;
		if (atMs >= dueMs) return;
		cancel?.();
		dueMs = atMs;
		cancel = systemClock.after(delayMs, () => void draw());
	};
	const draw = async (): Promise<void> => {
		dueMs = Number.POSITIVE_INFINITY;
		const nowMs = systemClock.nowMs();
		rows = stillShown(rows, nowMs);
		const note = lost === undefined ? [] : [terminal.colours.yellow(`… ${lost}; trying again`)];
		const {lines, widthOf} = await linesOf(view, rows, screen.rows() - note.length, nowMs);
		screen.draw([...(rows.size === 0 ? [nothingFound({...wanted, targets: [target]})] : lines), ...note], widthOf);
		drawSoon(tickMs); // Ages and countdowns.
	};
	const take = (changed: LiveRows): void => {
		rows = changed;
		drawSoon();
	};
	/** One list and the watch that goes on from it, until the server ends it. */
	const follow = async (): Promise<void> => {
		const list = (await client.json({path, query})) as List;
		lost = undefined;
		listed = true;
		const objects = (list.items ?? []).map(item => withKind(item, resource));
		take(withList(rows, objects, systemClock.nowMs()));
		forget();
		forget = screen.onResize(() => drawSoon(0));
		for await (const {type, object} of watch(client, {path, query: {...query, resourceVersion: list.metadata?.resourceVersion}})) {
			const change = type === 'DELETED' ? withDeleted : withObject;
			take(change(rows, withKind(object as ApiObject, resource), systemClock.nowMs()));
		}
	};
	const keep = (): void => screen.keep();
	let forget = (): unknown => undefined;
	process.once('exit', keep);
	try {
		for (;;) {
			await follow().catch((error: unknown) => {
				if (!listed) throw error;
				lost = lossOf(error);
				drawSoon();
			});
			await new Promise<void>(resolve => systemClock.after(tickMs, resolve));
		}
	} finally {
		cancel?.();
		forget();
		process.off('exit', keep);
		keep();
	}
}

const tickMs = 1_000;

/** What asking again can mend. Anything else is thrown. */
function lossOf(error: unknown): string | undefined {
	if (!(error instanceof AppError) || !rowOfError(error.code).retryable) throw error;
	return error.code === 'ERR_EXPIRED' ? undefined : error.message;
}
