// Manifests as people have them become canonical ones: two older dialects are read, and what was changed is said in one line.
//
// Canonical manifests pass as they are, same reference. Nothing is lost in silence: what has no canonical place is a problem.

import {kindOf} from '../catalogue.js';
import {nodeIpAnnotation} from '../kinds/node.js';
import {isObject, type Draft, type Json, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import type {Problem} from '../problem.js';
import {shown} from '../shown.js';
import {unknownKind} from '../unknown-kind.js';
import {canonicalPodSpec} from './pod-fields.js';
import {ifObject, mapMember, noEdits, type Edits, type Renamed} from './rewrite.js';

export type Normalised =
	| {
			readonly ok: true;
			readonly object: Draft;
			/** What was read as something else, one line for the whole document. */
			readonly notes: readonly string[];
			/** Where a canonical path stands in the file. */
			readonly renamed: readonly Renamed[];
	  }
	| {readonly ok: false; readonly problems: readonly Problem[]};

/** The canonical form of one document of a manifest. Only its dialect is looked at; whether it is right is for admission. */
export function normalise(document: unknown): Normalised {
	if (!isObject(document)) return refused('', `an object is expected, got ${shown(document)}`);
	const {apiVersion, kind} = document;
	const missing = [...requiredText('apiVersion', apiVersion), ...requiredText('kind', kind)];
	if (typeof apiVersion !== 'string' || typeof kind !== 'string' || missing.length > 0) return {ok: false, problems: missing};
	const reading = readingOf(apiVersion, kind);
	if (reading === undefined) return refused('kind', unknownKind(apiVersion, kind));
	return read(document, {apiVersion, kind}, reading);
}

const refused = (path: string, message: string): Normalised => ({ok: false, problems: [{path, message}]});

function requiredText(field: string, value: unknown): readonly Problem[] {
	if (value === undefined || value === null || value === '') return [{path: field, message: 'is required', reason: 'FieldValueRequired'}];
	return typeof value === 'string' ? [] : [{path: field, message: `must be a string, got ${shown(value)}`}];
}

/** As what a document is read. */
type Reading = {
	readonly dialect: 'A' | 'B';
	readonly apiVersion: string;
	readonly kind: string;
	readonly edit: (document: JsonObject, edits: Edits) => JsonObject;
};

const asItIs = (document: JsonObject): JsonObject => document;

/** Kinds of the older dialect that are written otherwise, by how they are spelt there. */
const dialectA: {readonly [spelling: string]: Reading} = {
	'v1 Pod': {dialect: 'A', apiVersion: 'v1', kind: 'Pod', edit: editPod},
	'v1 Replicaset': {dialect: 'A', apiVersion: 'apps/v1', kind: 'ReplicaSet', edit: editReplicaSet},
	'v1 ReplicaSet': {dialect: 'B', apiVersion: 'apps/v1', kind: 'ReplicaSet', edit: editReplicaSet},
	'v1 Node': {dialect: 'A', apiVersion: 'v1', kind: 'Node', edit: editNode},
};

function readingOf(apiVersion: string, kind: string): Reading | undefined {
	// Dialect B writes the path of the API: `/api/v1`, `/apis/apps/v1`.
	const version = apiVersion.replace(/^\/apis?\//, '');
	const spelling = `${version} ${kind}`;
	const isPath = version !== apiVersion;
	if (Object.hasOwn(dialectA, spelling)) {
		const reading = dialectA[spelling];
		return reading !== undefined && isPath ? {...reading, dialect: 'B'} : reading;
	}
	return kindOf(version, kind) === undefined ? undefined : {dialect: 'B', apiVersion: version, kind, edit: asItIs};
}

/** The kind as the file has it. */
type Spelling = {readonly apiVersion: string; readonly kind: string};

function read(document: JsonObject, spelling: Spelling, reading: Reading): Normalised {
	const edits = noEdits();
	const edited = reading.edit(document, edits);
	if (edits.problems.length > 0) return {ok: false, problems: edits.problems};
	const isRenamed = spelling.apiVersion !== reading.apiVersion || spelling.kind !== reading.kind;
	if (edited === document && !isRenamed) return {ok: true, object: document as unknown as Draft, notes: [], renamed: []};
	const object = {...edited, apiVersion: reading.apiVersion, kind: reading.kind};
	return {ok: true, object: object as unknown as Draft, notes: [noteOf(spelling, reading, edits)], renamed: edits.renamed};
}

/** `dialect A Pod read as v1 Pod: containers[0].imagePullPolicy`. */
function noteOf(spelling: Spelling, {dialect, apiVersion, kind}: Reading, edits: Edits): string {
	const fields = edits.fields.map(field => field.replace(/^spec\./, ''));
	const from = spelling.apiVersion === apiVersion || dialect === 'A' ? '' : `${spelling.apiVersion} `;
	return `dialect ${dialect} ${from}${spelling.kind} read as ${apiVersion} ${kind}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`;
}

function editPod(document: JsonObject, edits: Edits): JsonObject {
	return mapMember(document, 'spec', '', (spec, path) => canonicalPodSpec(spec, path, edits));
}

function editReplicaSet(document: JsonObject, edits: Edits): JsonObject {
	const ofTemplate = (template: Json, at: string): Json =>
		ifObject(template, object => mapMember(object, 'spec', at, (spec, path) => canonicalPodSpec(spec, path, edits)));
	return mapMember(document, 'spec', '', (spec, path) => ifObject(spec, object => mapMember(object, 'template', path, ofTemplate)));
}

/** The address of a node is found out by its agent; what the manifest says is kept where people can see it. */
function editNode(document: JsonObject, edits: Edits): JsonObject {
	if (!Object.hasOwn(document, 'ip')) return document;
	const {ip, ...rest} = document;
	if (typeof ip !== 'string' || !/^[0-9a-fA-F.:]+$/.test(ip)) {
		edits.problems.push({path: 'ip', message: `must be an IP address, got ${shown(ip)}`, reason: 'FieldValueInvalid'});
		return document;
	}
	const path = joinPath('metadata.annotations', nodeIpAnnotation);
	const metadata = rest['metadata'] ?? {};
	const annotations = isObject(metadata) ? (metadata['annotations'] ?? {}) : {};
	if (!isObject(metadata) || !isObject(annotations)) return document; // Admission says what is wrong with them.
	edits.fields.push(path);
	edits.renamed.push({path, from: 'ip'});
	return {...rest, metadata: {...metadata, annotations: {...annotations, [nodeIpAnnotation]: ip}}};
}
