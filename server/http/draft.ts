// A manifest in the body of POST or PUT: read, brought into its canonical form, and held against the URL it came to.

import {apiVersionOf, keptKind, kindOf} from '../../api/catalogue.js';
import {normalise} from '../../api/dialects/normalise.js';
import {AppError} from '../../api/errors.js';
import {isObject, type Draft, type JsonObject} from '../../api/object.js';
import type {Problem} from '../../api/problem.js';
import {shown, shownName} from '../../api/shown.js';
import {manifestTypes, mediaTypeOf, readBytes, readObject, unsupported} from './body.js';
import type {Exchange, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {objectInProtobuf, protobufType} from './protobuf.js';

export type ReadDraft = {
	readonly object: Draft;
	/** What was understood in another way than it was written. */
	readonly notes: readonly string[];
};

/** The object of the body with the URL's namespace and, for PUT, name. */
export async function readDraft(exchange: Exchange, target: Target): Promise<ReadDraft> {
	const body = await readBody(exchange);
	if (body === undefined) throw refusal(`the body is empty; it must be a ${target.kind.kind}`);
	const metadata = metadataOf(body);
	const normalised = normalise({apiVersion: apiVersionOf(target.kind), kind: target.kind.kind, ...body, metadata});
	if (!normalised.ok) throw invalid(normalised.problems, typeof metadata['name'] === 'string' ? metadata['name'] : '');
	checkKind(normalised.object, target);
	// Who speaks to a version knows that it is one.
	const isOfVersion = keptKind(target.kind) !== target.kind && normalised.notes.every(note => !note.startsWith('dialect '));
	return {object: placed(normalised.object, target), notes: isOfVersion ? [] : normalised.notes};
}

/** A document of that kind as it is kept. */
export function keptForm(document: Draft): Draft {
	const normalised = normalise(document);
	if (!normalised.ok) throw invalid(normalised.problems, document.metadata.name);
	return normalised.object;
}

/** JSON, YAML, or what kubectl sends of its own. */
async function readBody({request}: Exchange): Promise<JsonObject | undefined> {
	if (mediaTypeOf(request) !== protobufType) return readObject(request, {yaml: true});
	const bytes = await readBytes(request);
	if (bytes.length === 0) return undefined;
	const object = objectInProtobuf(bytes);
	// Of this kind nothing is taken in that form.
	if (object === undefined) throw unsupported(manifestTypes);
	return object;
}

const invalid = (problems: readonly Problem[], name = ''): AppError => new AppError('ERR_INVALID', {name, problems});

const texts = ['name', 'namespace', 'generateName', 'resourceVersion', 'uid'];

/** The metadata, an empty one where there is none. Its words are looked at before the schema is: they are held against the URL. */
function metadataOf({metadata}: JsonObject): JsonObject {
	if (metadata === undefined || metadata === null) return {};
	if (!isObject(metadata)) throw invalid([{path: 'metadata', message: `must be an object, got ${shown(metadata)}`}]);
	const kept = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
	const wrong = texts.filter(field => kept[field] !== undefined && typeof kept[field] !== 'string');
	if (wrong.length === 0) return kept;
	throw invalid(wrong.map(field => ({path: `metadata.${field}`, message: `must be a string, got ${shown(kept[field])}`})));
}

function checkKind(object: Draft, {kind}: Target): void {
	if (kindOf(object.apiVersion, object.kind) === keptKind(kind)) return;
	throw refusal(`the body is a ${object.kind} of ${object.apiVersion}; this path takes a ${kind.kind} of ${apiVersionOf(kind)}`);
}

/** What the URL says and the object does not is filled in; where both say, they must agree. */
function placed(object: Draft, {kind, namespace, name}: Target): Draft {
	const metadata = object.metadata;
	if (name !== undefined && metadata.name !== undefined && metadata.name !== name)
		throw refusal(`the name of the object (${shownName(metadata.name)}) does not match the name on the URL (${name})`);
	if (kind.namespaced && metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace)
		throw refusal('the namespace of the provided object does not match the namespace sent on the request');
	const {namespace: _written, ...rest} = metadata;
	return {
		...object,
		metadata: {...rest, ...(name === undefined ? {} : {name}), ...(kind.namespaced && namespace !== undefined ? {namespace} : {})},
	};
}
