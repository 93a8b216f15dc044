// GET of v1 Events: made when asked for, from what the control plane keeps about each object.

import {createHash} from 'node:crypto';
import {apiVersionOf, kindByPlural} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {clusterScope, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {timestampOf} from '../../api/object.js';
import type {ControlPlane, ObjectEvent} from '../control-plane.js';
import {eventKind, type EventObject} from './event-kind.js';
import type {Backend, Exchange} from './exchange.js';
import {formOf} from './negotiate.js';
import {countOf, flagOf} from './query.js';
import {sendJson} from './reply.js';
import {requireRight} from './rights.js';
import {selectionOf} from './selection.js';
import {sendTable} from './table-reply.js';

/** Events about objects of a cluster are filed where Kubernetes files them. */
const clusterNamespace = 'default';

/** GET of all events, or of those of one namespace. Newest last. They cannot be watched over HTTP; their topics can. */
export async function listEvents(backend: Backend, exchange: Exchange): Promise<void> {
	const {namespace} = exchange.params;
	requireRight(exchange.identity, 'list', {kind: eventKind, namespace, name: undefined, subresource: undefined});
	if (flagOf(exchange.query, 'watch')) throw new AppError('ERR_METHOD_NOT_ALLOWED');
	countOf(exchange.query, 'limit'); // Checked and not applied: there are few enough for one page.
	const selection = selectionOf(exchange.query, eventKind);
	const found = eventsIn(backend.control, namespace).filter(event => selection.test(event));
	found.sort((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp));
	const metadata = {resourceVersion: String(backend.control.index.version)};
	const form = formOf(exchange.request.headers.accept);
	if (form.type === 'table') return sendTable(backend, exchange, {kind: eventKind, objects: found, metadata, version: form.version});
	sendJson(exchange.response, 200, {kind: 'EventList', apiVersion: 'v1', metadata, items: found});
}

/** GET of one event by its name. */
export async function readEvent(backend: Backend, exchange: Exchange): Promise<void> {
	const {namespace, name = ''} = exchange.params;
	requireRight(exchange.identity, 'get', {kind: eventKind, namespace, name, subresource: undefined});
	const found = eventsIn(backend.control, namespace).find(({metadata}) => metadata.name === name);
	if (found === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'events', name});
	const form = formOf(exchange.request.headers.accept);
	if (form.type === 'table') return sendTable(backend, exchange, {kind: eventKind, objects: [found], metadata: {}, version: form.version});
	sendJson(exchange.response, 200, found);
}

function eventsIn(control: ControlPlane, namespace: string | undefined): EventObject[] {
	const found: EventObject[] = [];
	for (const key of control.eventKeys()) {
		if (namespace !== undefined && namespaceOf(key) !== namespace) continue;
		for (const event of control.eventsOf(key)) found.push(eventObject(control, key, event));
	}
	return found;
}

function namespaceOf(key: ObjectKey): string {
	const {namespace} = parseObjectKey(key);
	return namespace === clusterScope ? clusterNamespace : namespace;
}

function eventObject(control: ControlPlane, key: ObjectKey, event: ObjectEvent): EventObject {
	const {plural, name, namespace} = parseObjectKey(key);
	const kind = kindByPlural(plural);
	const uid = control.index.get(key)?.metadata.uid;
	const parts = [event.fieldPath ?? '', event.aspect ?? ''];
	const id = createHash('sha256')
		.update(`${key}|${event.type}|${event.reason}|${parts.join('|')}|${event.firstAtMs}`)
		.digest('hex')
		.slice(0, 16);
	return {
		apiVersion: 'v1',
		kind: 'Event',
		metadata: {
			name: `${name}.${id}`,
			namespace: namespaceOf(key),
			uid: `${id}-event`,
			resourceVersion: '0',
			generation: 1,
			creationTimestamp: timestampOf(event.firstAtMs),
		},
		involvedObject: {
			kind: kind?.kind ?? plural,
			apiVersion: kind === undefined ? 'v1' : apiVersionOf(kind),
			...(namespace === clusterScope ? {} : {namespace}),
			name,
			...(uid === undefined ? {} : {uid}),
			...(event.fieldPath === undefined ? {} : {fieldPath: event.fieldPath}),
		},
		type: event.type,
		reason: event.reason,
		message: event.message,
		count: event.count,
		firstTimestamp: timestampOf(event.firstAtMs),
		lastTimestamp: timestampOf(event.lastAtMs),
		source: {component: 'troupe'},
		reportingComponent: 'troupe',
		reportingInstance: '',
	};
}
