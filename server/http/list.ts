// GET of a collection: from the index, never from a mailbox. The bytes of each object are those that were made at its commit.

import {apiVersionOf} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import type {KindDefinition} from '../../api/kind.js';
import {limits} from '../../api/limits.js';
import type {Entry} from '../../system/index/object-index.js';
import {continueText, parseContinue} from './continue-token.js';
import type {Backend, Exchange} from './exchange.js';
import {formOf} from './negotiate.js';
import {countOf, versionOf} from './query.js';
import {jsonType} from './reply.js';
import {outgoingEntry, type Readable} from './secrets.js';
import {selected, selectionOf} from './selection.js';
import {write} from './stream.js';
import {sendTable} from './table-reply.js';

type Page = {
	readonly entries: readonly Entry[];
	readonly version: number;
	readonly next: string | undefined;
	readonly remaining: number;
};

/** Answers a list of one kind, in one namespace if given. */
export async function list(backend: Backend, exchange: Exchange, kind: KindDefinition, namespace: string | undefined): Promise<void> {
	const page = pageOf(backend, exchange, kind, namespace);
	// Before the first byte of an answer: what cannot be opened is a failure, not half a list.
	const readable = page.entries.map(entry => outgoingEntry(backend, kind, entry));
	const form = formOf(exchange.request.headers.accept);
	const metadata = metadataOf(page);
	if (form.type === 'table') {
		await sendTable(backend, exchange, {kind, objects: readable.map(({object}) => object), metadata, version: form.version});
	} else {
		await sendList(exchange, kind, readable, metadata);
	}
}

/** What a list shows now. Pages go by key; `limit` 0 or absent is everything. */
function pageOf({control}: Backend, {query}: Exchange, kind: KindDefinition, namespace: string | undefined): Page {
	const selection = selectionOf(query, kind);
	const limit = countOf(query, 'limit') ?? 0;
	const continued = query.get('continue') ?? '';
	const token = continued === '' ? undefined : parseContinue(continued);
	const newest = control.index.version;
	checkVersion(token?.version ?? versionOf(query), newest, token === undefined && query.get('resourceVersionMatch') === 'Exact');
	const matching = selected(control.index, kind, namespace, selection);
	const rest = token === undefined ? matching : matching.filter(({key}) => key > token.after);
	const entries = limit === 0 ? rest : rest.slice(0, limit);
	const version = token?.version ?? newest;
	const last = entries.at(-1);
	const next = entries.length < rest.length && last !== undefined ? continueText({version, after: last.key}) : undefined;
	return {entries, version, next, remaining: rest.length - entries.length};
}

/** A version above the counter is of another lineage; an exact one can only be had while it is the newest. */
function checkVersion(wanted: number | undefined, newest: number, isExact: boolean): void {
	if (wanted === undefined || wanted === 0) return;
	if (wanted > newest || (isExact && wanted !== newest))
		throw new AppError('ERR_EXPIRED', {requested: String(wanted), oldest: String(newest)});
}

const metadataOf = ({version, next, remaining}: Page) => ({
	resourceVersion: String(version),
	...(next === undefined ? {} : {continue: next, remainingItemCount: remaining}),
});

async function sendList({response}: Exchange, kind: KindDefinition, entries: readonly Readable[], metadata: object): Promise<void> {
	response.writeHead(200, {'content-type': jsonType, 'cache-control': 'no-cache, private'});
	const head = `{"kind":"${kind.kind}List","apiVersion":"${apiVersionOf(kind)}","metadata":${JSON.stringify(metadata)},"items":[`;
	for (let from = 0; from === 0 || from < entries.length; from += limits.listPortion) {
		const portion = entries.slice(from, from + limits.listPortion).map(entry => entry.json());
		const before = from === 0 ? head : ',';
		if (!(await write(response, before + portion.join(',')))) return;
	}
	response.end(']}\n');
}
