// One object as an answer: its committed bytes, or one row of a Table.

import type {KindDefinition} from '../../api/kind.js';
import {objectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {Entry} from '../../system/index/object-index.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {formOf} from './negotiate.js';
import {jsonType, sendText} from './reply.js';
import {outgoing} from './secrets.js';
import {sendTable} from './table-reply.js';

/** GET of an object, or of its status. */
export const read = (backend: Backend, exchange: Exchange, target: Target): Promise<void> => {
	const {object} = entryOf(backend, target);
	return sendObject(backend, exchange, target.kind, object, 200);
};

/** Answers with an object. */
export async function sendObject(
	backend: Backend,
	exchange: Exchange,
	kind: KindDefinition,
	object: ApiObject,
	status: 200 | 201,
): Promise<void> {
	const form = formOf(exchange.request.headers.accept);
	const shown = outgoing(backend, kind, object);
	if (form.type === 'table') {
		const metadata = {resourceVersion: object.metadata.resourceVersion};
		return sendTable(backend, exchange, {kind, objects: [shown], metadata, version: form.version, status});
	}
	const entry = backend.control.index.entry(objectKey(kind.plural, object.metadata.namespace, object.metadata.name));
	sendText(exchange.response, status, jsonType, textOf(entry, shown));
}

/** The bytes of the commit where this is the committed object; a dry run's, and what was opened, is worded for it alone. */
const textOf = (entry: Entry | undefined, object: ApiObject): string =>
	entry !== undefined && entry.object === object ? entry.json() : JSON.stringify(object);
