// Where objects pass the door that are not answered as they are kept: Secrets are sealed as they come in, opened for the reader they go to, and fetched by
// nodes; of a version that is not the one that is kept, objects are shown in its form. All others pass as they are.

import {olderVersionOf} from '../../api/catalogue.js';
import {AppError, type Outcome} from '../../api/errors.js';
import {generateName} from '../../api/names.js';
import type {KindDefinition} from '../../api/kind.js';
import {secret} from '../../api/kinds/secret.js';
import type {ApiObject, Draft, JsonObject} from '../../api/object.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import type {FetchedSecret} from '../../actors/node/runtime/secrets-port.js';
import type {Entry} from '../../system/index/object-index.js';
import {systemRandom} from '../../system/time/random.js';
import type {Seals} from '../seal.js';
import {certificateForNode, openedSecret, sealedDraft, sealedPatch, secretForNode} from '../secrets.js';
import type {Backend, Handler, Target} from './exchange.js';
import {valueOf} from './outcome.js';
import {sendJson} from './reply.js';

/** Whether objects of this kind have values that only their readers see. */
export const isSecret = ({kind, group}: KindDefinition): boolean => kind === secret.kind && group === secret.group;

function sealsOf({seals}: Backend): Seals {
	if (seals === undefined) throw new AppError('ERR_INTERNAL', {message: 'this server has no key for Secrets'});
	return seals;
}

/** What a manifest becomes before it is a message: nothing secret is in a message. (Of passwords in SlurmJobs: inline-password.ts.) */
export function incoming(backend: Backend, {kind, namespace = ''}: Target, object: Draft): Draft {
	if (!isSecret(kind)) return object;
	const named = withName(object);
	return sealedDraft(sealsOf(backend), named, {namespace, name: named.metadata.name ?? ''});
}

/** A value is sealed for its place, so the name must be known before. */
export function withName(object: Draft): Draft {
	const {name = '', generateName: prefix = '', ...metadata} = object.metadata;
	if (name !== '' || prefix === '') return object;
	return {...object, metadata: {...metadata, name: generateName(prefix, systemRandom.next)}};
}

/** The same for a merge patch. */
export const incomingPatch = (backend: Backend, {kind, namespace = '', name = ''}: Target, patch: JsonObject): JsonObject =>
	isSecret(kind) ? sealedPatch(sealsOf(backend), patch, {namespace, name}) : patch;

/** The object for a reader who may read it. */
export const outgoing = (backend: Backend, kind: KindDefinition, object: ApiObject): ApiObject =>
	isSecret(kind) ? openedSecret(sealsOf(backend), object) : (olderVersionOf(kind)?.shown(object) ?? object);

export type Readable = Pick<Entry, 'object' | 'json'>;

/** The same of a committed object with its text: the bytes of the commit, unless something has to be opened. */
export function outgoingEntry(backend: Backend, kind: KindDefinition, entry: Readable): Readable {
	const object = outgoing(backend, kind, entry.object);
	if (object === entry.object) return entry;
	return {object, json: () => JSON.stringify(object)};
}

/** `GET /troupe/v1/nodes/<node>/secrets/<namespace>/<name>`: for the agent of that node alone, as long as a pod of it names the Secret. */
export const fetchSecret = fetchedBy('secrets', (backend, node, at) => secretForNode(backend.control.index, sealsOf(backend), node, at));

/** `GET /troupe/v1/nodes/<node>/certificates/<namespace>/<name>`: the same, as long as an Ingress names the Secret. */
export const fetchCertificate = fetchedBy('certificates', (backend, _node, at) =>
	certificateForNode(backend.control.index, sealsOf(backend), at),
);

type Fetched = Readonly<Record<'namespace' | 'name', string>>;

function fetchedBy(what: string, fetch: (backend: Backend, node: string, at: Fetched) => Outcome<FetchedSecret>): Handler {
	return (backend, {identity, params, response}) => {
		const {node = '', namespace = '', name = ''} = params;
		if (identity.role !== 'node' || identity.node !== node)
			throw new AppError('ERR_FORBIDDEN', {message: `User "${identity.name}" cannot get "troupe/nodes/${what}" of node "${node}"`});
		if (!isDnsLabel(namespace) || !isDnsSubdomain(name)) throw new AppError('ERR_NOT_FOUND', {resource: secret.plural, name});
		sendJson(response, 200, valueOf(fetch(backend, node, {namespace, name})));
	};
}
