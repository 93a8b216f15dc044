// Manifests as people have them become canonical ones: two older dialects are read, and what was changed is said in one line.
//
// Canonical manifests pass as they are, same reference. Nothing is lost in silence: what has no canonical place is a problem.

import {kindOf} from '../catalogue.js';
import type {KindDefinition} from '../kind.js';
import {isObject, type Draft, type Json, type JsonObject} from '../object.js';
import type {Problem} from '../problem.js';
import {shown} from '../shown.js';
import {unknownKind} from '../unknown-kind.js';
import {editHpaA, editHpaB, editHpaV1, isHpaB} from './hpa.js';
import {editNode} from './node.js';
import {canonicalPodSpec} from './pod-fields.js';
import {editDns, editService} from './service.js';
import {editSlurmJob} from './slurm-job.js';
import {editWorkflowA, editWorkflowB, isWorkflowB, paramsOfDialects} from './workflow.js';
import {editWorkflowOfNodes, isOfNodes} from './workflow-nodes.js';
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
	const reading = readingOf(document, apiVersion, kind);
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
	/** Undefined: an older version of Kubernetes' own. */
	readonly dialect: 'A' | 'B' | undefined;
	readonly apiVersion: string;
	readonly kind: string;
	/** What of it is older, where its kind is spelt as it should be. */
	readonly older?: string;
	readonly edit: (document: JsonObject, edits: Edits) => JsonObject;
};

const asItIs = (document: JsonObject): JsonObject => document;

const a = (apiVersion: string, kind: string, edit: Reading['edit'] = asItIs): Reading => ({dialect: 'A', apiVersion, kind, edit});
const b = (apiVersion: string, kind: string, edit: Reading['edit'] = asItIs): Reading => ({dialect: 'B', apiVersion, kind, edit});

const hpa = ['autoscaling/v2', 'HorizontalPodAutoscaler'] as const;

/** Kinds that the older dialects write otherwise, by how they are spelt there; undefined where the document is none of theirs. */
const readings: {readonly [spelling: string]: (document: JsonObject) => Reading | undefined} = {
	'v1 Pod': () => a('v1', 'Pod', editPod),
	'v1 Replicaset': () => a('apps/v1', 'ReplicaSet', editTemplate),
	'v1 ReplicaSet': () => b('apps/v1', 'ReplicaSet', editTemplate),
	'v1 Deployment': () => b('apps/v1', 'Deployment', editTemplate),
	'v1 Service': () => a('v1', 'Service', editService),
	'v1 Dns': () => a('troupe.dev/v1', 'Dns', editDns),
	'v1 Hpa': () => a(...hpa, editHpaA),
	'autoscaling/v1 HorizontalPodAutoscaler': document =>
		isHpaB(document) ? b(...hpa, editHpaB) : {dialect: undefined, apiVersion: hpa[0], kind: hpa[1], edit: editHpaV1},
	// With a template it is Kubernetes' own, in the wrong group.
	'v1 Job': ({spec}) => (isObject(spec) && spec['template'] !== undefined ? undefined : a('troupe.dev/v1', 'SlurmJob', editSlurmJob)),
	'v1 Function': () => a('troupe.dev/v1', 'Function'),
	'v1 Workflow': document =>
		isWorkflowB(document) ? b('troupe.dev/v1', 'Workflow', editWorkflowB) : a('troupe.dev/v1', 'Workflow', editWorkflowA),
	'v1 Node': () => a('v1', 'Node', editNode),
};

/** Forms that kinds of our own had before. */
const formerForms: typeof readings = {
	'troupe.dev/v1 Workflow': document =>
		isOfNodes(document)
			? {dialect: undefined, apiVersion: 'troupe.dev/v1', kind: 'Workflow', older: 'of nodes', edit: editWorkflowOfNodes}
			: undefined,
};

/** `v1 Hpa`, ...: every apiVersion and kind that may be read as something else. */
export const spellings: readonly string[] = Object.keys(readings);

function readingOf(document: JsonObject, apiVersion: string, kind: string): Reading | undefined {
	// Dialect B writes the path of the API: `/api/v1`, `/apis/apps/v1`.
	const version = apiVersion.replace(/^\/apis?\//, '');
	const spelling = `${version} ${kind}`;
	const forms = Object.hasOwn(readings, spelling) ? readings : formerForms;
	const reading = Object.hasOwn(forms, spelling) ? forms[spelling]?.(document) : undefined;
	if (reading !== undefined) return version === apiVersion ? reading : {...reading, dialect: 'B'};
	return kindOf(version, kind) === undefined ? undefined : b(version, kind);
}

/** The kind a document is read as, whatever else is wrong with it; undefined where it is of none. */
export function kindRead({apiVersion, kind, ...rest}: JsonObject): KindDefinition | undefined {
	if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
	const reading = readingOf({apiVersion, kind, ...rest}, apiVersion, kind);
	return reading === undefined ? undefined : kindOf(reading.apiVersion, reading.kind);
}

/** Paths of members whose nulls say something, as the document spells them. */
export function nullsKeptIn(document: JsonObject): readonly string[] {
	const kind = kindRead(document);
	return [...(kind?.keepsNulls ?? []), ...(kind?.kind === 'Workflow' ? paramsOfDialects : [])];
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
function noteOf(spelling: Spelling, {dialect, apiVersion, kind, older}: Reading, edits: Edits): string {
	const fields = [...new Set(edits.fields)].map(field => field.replace(/^spec\./, ''));
	const from = spelling.apiVersion === apiVersion || dialect === 'A' ? '' : `${spelling.apiVersion} `;
	const what = `${dialect === undefined ? '' : `dialect ${dialect} `}${from}${spelling.kind}${older === undefined ? '' : ` ${older}`}`;
	return `${what} read as ${apiVersion} ${kind}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`;
}

function editPod(document: JsonObject, edits: Edits): JsonObject {
	return mapMember(document, 'spec', '', (spec, path) => canonicalPodSpec(spec, path, edits));
}

function editTemplate(document: JsonObject, edits: Edits): JsonObject {
	const ofTemplate = (template: Json, at: string): Json =>
		ifObject(template, object => mapMember(object, 'spec', at, (spec, path) => canonicalPodSpec(spec, path, edits)));
	return mapMember(document, 'spec', '', (spec, path) => ifObject(spec, object => mapMember(object, 'template', path, ofTemplate)));
}
