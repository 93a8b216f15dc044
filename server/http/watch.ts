// GET with `watch=true`: one JSON document per line for each change that touches the selection.
//
// A watcher sees each change once, in order of version. Coming into the selection is ADDED, leaving it DELETED. A version that
// the ring does not reach back to is answered with an ERROR event of code 410, as the Kubernetes API does.

import {apiVersionOf} from '../../api/catalogue.js';
import {AppError, failure, type Failure} from '../../api/errors.js';
import type {KindDefinition} from '../../api/kind.js';
import {parseObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {tableOf} from '../../api/table.js';
import type {Change} from '../../system/index/object-index.js';
import type {Backend, Exchange} from './exchange.js';
import {formOf} from './negotiate.js';
import {countOf, flagOf, versionOf} from './query.js';
import {jsonType} from './reply.js';
import {outgoing, outgoingEntry, type Readable} from './secrets.js';
import {selected, selectionOf, type Selection} from './selection.js';
import {statusOf} from './status.js';
import {write} from './stream.js';
import {includeObjectOf, versioned} from './table-reply.js';
import {WatchQueue, type Line} from './watch-queue.js';

type Scope = {readonly kind: KindDefinition; readonly namespace: string | undefined; readonly selection: Selection};

/** Answers a watch of one kind, in one namespace if given, until the client, `timeoutSeconds` or the door ends it. */
export async function watch(backend: Backend, exchange: Exchange, kind: KindDefinition, namespace: string | undefined): Promise<void> {
	const {query, response, identity} = exchange;
	const scope: Scope = {kind, namespace, selection: selectionOf(query, kind)};
	const timeoutSeconds = countOf(query, 'timeoutSeconds');
	const wantsBookmarks = flagOf(query, 'allowWatchBookmarks');
	const from = versionOf(query);
	// Cut without the closing chunk: the client sees that something is missing and comes back from its last version.
	const queue = new WatchQueue(() => response.destroy());

	const cancels = [fill(backend, queue, scope, from, flagOf(query, 'sendInitialEvents') && wantsBookmarks)];
	const bookmark = (): void => queue.add({type: 'BOOKMARK', version: backend.control.index.version, initialEnd: false});
	if (timeoutSeconds !== undefined && timeoutSeconds > 0) {
		const end = (): void => {
			if (wantsBookmarks) bookmark();
			queue.end();
		};
		cancels.push(backend.clock.after(timeoutSeconds * 1000, end));
	}
	if (wantsBookmarks) cancels.push(every(backend, limits.watchBookmarkMs, bookmark));

	backend.streams.add(response, identity.name, () => queue.end());
	response.once('close', () => queue.end());
	try {
		await pump(backend, exchange, kind, queue);
	} finally {
		for (const cancel of cancels) cancel();
	}
}

/** Puts in what there is and follows what comes. Runs in one turn, so nothing falls between the two. */
function fill({control}: Backend, queue: WatchQueue, scope: Scope, from: number | undefined, marksInitial: boolean): () => void {
	const isFresh = from === undefined || from === 0 || marksInitial;
	if (isFresh) for (const entry of selected(control.index, scope.kind, scope.namespace, scope.selection)) queue.add({type: 'ADDED', entry});
	if (marksInitial) queue.add({type: 'BOOKMARK', version: control.index.version, initialEnd: true});
	const start = isFresh ? control.index.version : from;
	const started = control.watches.watch(start, change => {
		const line = lineOf(scope, change);
		if (line !== undefined) queue.add(line);
	});
	if (!started.ok) {
		queue.add({type: 'EXPIRED', requested: start, oldest: started.oldest});
		queue.end();
		return () => undefined;
	}
	queue.goLive();
	return started.cancel;
}

function lineOf({kind, namespace, selection}: Scope, change: Change): Line | undefined {
	const parts = parseObjectKey(change.key);
	if (parts.plural !== kind.plural || (namespace !== undefined && parts.namespace !== namespace)) return undefined;
	const {before, after} = change;
	const was = before !== undefined && selection.test(before.object);
	const is = after !== undefined && selection.test(after.object);
	if (is) return {type: was ? 'MODIFIED' : 'ADDED', entry: after};
	return was ? {type: 'DELETED', entry: before, change} : undefined;
}

async function pump(backend: Backend, exchange: Exchange, kind: KindDefinition, queue: WatchQueue): Promise<void> {
	const {response} = exchange;
	const words = wording(backend, exchange, kind);
	response.writeHead(200, {'content-type': jsonType, 'cache-control': 'no-cache, private'});
	response.flushHeaders();
	for (;;) {
		await queue.ready();
		const lines = queue.take();
		if (lines.length === 0 && queue.isEnded) break;
		let portion = '';
		for (const [at, line] of lines.entries()) {
			const {text, isLast} = worded(() => words(line));
			portion += text;
			if (!isLast && portion.length < limits.watchWriteCharacters && at < lines.length - 1) continue;
			if (!(await write(response, portion))) return;
			if (isLast) return void response.end();
			portion = '';
		}
	}
	response.end();
}

/** How lines are worded for one watcher: whole objects, or rows of a Table whose columns come with the first. */
function wording(backend: Backend, {request, query}: Exchange, kind: KindDefinition): (line: Line) => string {
	const form = formOf(request.headers.accept);
	const includeObject = includeObjectOf(query);
	const version = form.type === 'table' ? form.version : 'v1';
	const asTable = form.type === 'table';
	let columnDefinitions = true;
	const row = (committed: ApiObject): string => {
		const object = outgoing(backend, kind, committed);
		const {resourceVersion} = object.metadata;
		const table = tableOf(kind, [object], backend.control.nowMs(), {includeObject, resourceVersion, columnDefinitions});
		columnDefinitions = false;
		return JSON.stringify(versioned(table, version));
	};
	return line => {
		switch (line.type) {
			case 'ADDED':
			case 'MODIFIED':
				return event(line.type, asTable ? row(line.entry.object) : outgoingEntry(backend, kind, line.entry).json());
			case 'DELETED':
				return event(line.type, asTable ? row(departed(line.change)) : outgoingEntry(backend, kind, departureOf(line.change)).json());
			case 'BOOKMARK':
				return event(line.type, JSON.stringify(bookmarkOf(kind, line.version, line.initialEnd)));
			case 'EXPIRED':
				return errorEvent(failure('ERR_EXPIRED', {requested: String(line.requested), oldest: String(line.oldest)}));
		}
	};
}

/** What cannot be shown (a Secret that does not open) ends the watch with the reason. */
function worded(words: () => string): {readonly text: string; readonly isLast: boolean} {
	try {
		return {text: words(), isLast: false};
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return {text: errorEvent(error.failure), isLast: true};
	}
}

const errorEvent = (error: Failure): string => event('ERROR', JSON.stringify(statusOf(error)));

const event = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

/** The same for every watcher: made once per change. */
const departures = new WeakMap<Change, Readable>();

/** The object as it was, with the version of the change that took it away. */
function departed(change: Change): ApiObject {
	return departureOf(change).object;
}

function departureOf(change: Change) {
	const known = departures.get(change);
	if (known !== undefined) return known;
	const {object} = change.before ?? {};
	if (object === undefined) throw new Error(`a change of ${change.key} takes away what was not there`);
	const gone = {...object, metadata: {...object.metadata, resourceVersion: String(change.version)}};
	let text: string | undefined;
	const made = {object: gone, json: () => (text ??= JSON.stringify(gone))};
	departures.set(change, made);
	return made;
}

const bookmarkOf = (kind: KindDefinition, version: number, initialEnd: boolean) => ({
	kind: kind.kind,
	apiVersion: apiVersionOf(kind),
	metadata: {
		resourceVersion: String(version),
		...(initialEnd ? {annotations: {'k8s.io/initial-events-end': 'true'}} : {}),
	},
});

/** Calls back again and again; the first time after one interval. */
function every({clock}: Backend, intervalMs: number, callback: () => void): () => void {
	let cancel = (): void => undefined;
	const arm = (): void => {
		cancel = clock.after(intervalMs, () => {
			callback();
			arm();
		});
	};
	arm();
	return () => cancel();
}
