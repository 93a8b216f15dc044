// What every object goes through, on create and on each change: plain JSON, the kind's schema, defaults, rules.
//
// Pure. All problems are told at once; what is refused changes nothing. What only the server sets is dropped on create and
// kept on update, so that an exported manifest can be applied again.

import {kindOf, qualifiedPlural} from './catalogue.js';
import {cleanJson, serialisedBytes, type Cleaned} from './clean-json.js';
import {failed, invalid, type Failure} from './errors.js';
import {contentOf, type KindDefinition} from './kind.js';
import {defaultNamespace} from './kinds/namespace.js';
import {limits} from './limits.js';
import {isObject, type ApiObject, type Draft, type JsonObject, type Mutable, type ObjectMeta} from './object.js';
import {isTold, shownPath, type Problem} from './problem.js';
import {checkIdentity} from './rules/immutable.js';
import {checkMetadata} from './rules/metadata.js';
import {forbid, membersOf, textOf} from './rules/report.js';
import {schemaProblems} from './schema-problems.js';
import {shown} from './shown.js';
import {unknownKind} from './unknown-kind.js';

export type Admitted =
	{readonly ok: true; readonly value: Draft; readonly kind: KindDefinition} | {readonly ok: false; readonly error: Failure};

/** A new object, with its defaults and without status; its name may still be to be generated. */
export function admitCreate(input: unknown): Admitted {
	return admit(input, undefined);
}

/**
 * The whole object as it shall be after a change. uid, generation and the times are those of the old one, whatever comes in; a
 * resourceVersion is handed through for the caller to compare. A status that is not the old one's reference is checked, too.
 */
export function admitUpdate(input: unknown, old: ApiObject): Admitted {
	return admit(input, old);
}

function admit(input: unknown, old: ApiObject | undefined): Admitted {
	const cleaned = cleanJson(input, nullsKeptIn(input));
	const {value} = cleaned;
	if (!isObject(value)) return badRequest(`an object is expected, got ${shown(value)}`);
	const found = identify(value, old);
	if (typeof found === 'string') return badRequest(found);
	const size = sizeProblem(cleaned, value);
	if (size !== undefined) return failed('ERR_TOO_LARGE', {message: size});
	return check(cleaned, value, found, old);
}

function nullsKeptIn(input: unknown): readonly string[] {
	const {apiVersion, kind} = isObject(input) ? input : {};
	return (typeof apiVersion === 'string' && typeof kind === 'string' ? kindOf(apiVersion, kind)?.keepsNulls : undefined) ?? [];
}

const badRequest = (message: string): Admitted => failed('ERR_BAD_REQUEST', {message});

/** The kind, or what is wrong with it. */
function identify({apiVersion, kind}: JsonObject, old: ApiObject | undefined): KindDefinition | string {
	if (typeof apiVersion !== 'string' || apiVersion === '') return `apiVersion is required, got ${shown(apiVersion)}`;
	if (typeof kind !== 'string' || kind === '') return `kind is required, got ${shown(kind)}`;
	if (old !== undefined && (old.apiVersion !== apiVersion || old.kind !== kind)) {
		return `the object is a ${old.kind} of ${old.apiVersion}, got a ${kind} of ${apiVersion}`;
	}
	return kindOf(apiVersion, kind) ?? unknownKind(apiVersion, kind);
}

function sizeProblem({value, bytesAtMost}: Cleaned, object: JsonObject): string | undefined {
	if (bytesAtMost <= limits.objectBytes) return undefined;
	const bytes = serialisedBytes(value);
	if (bytes <= limits.objectBytes) return undefined;
	return `the object ${shown(membersOf(object['metadata'])['name'])} has ${bytes} bytes; ${limits.objectBytes} are allowed`;
}

function check(cleaned: Cleaned, object: JsonObject, kind: KindDefinition, old: ApiObject | undefined): Admitted {
	const broken = [...cleaned.problems, ...shapeProblems(kind, object, old)];
	// Rules look at what the schema refused as well: they leave alone what has not the type they expect.
	const isSound = broken.length === 0;
	const draft = isSound ? draftOf(kind, object, old) : (object as unknown as Draft);
	// What changed can be told only of an object that has its defaults.
	const rules = ruleProblems(kind, object, draft, old, isSound);
	const problems = [...broken, ...rules.filter(problem => !isTold(problem, broken))];
	if (problems.length === 0) return {ok: true, value: draft, kind};
	return {ok: false, error: invalid(bounded(problems), aboutOf(kind, object))};
}

function shapeProblems(kind: KindDefinition, object: JsonObject, old: ApiObject | undefined): readonly Problem[] {
	const problems = schemaProblems(kind.kind, object);
	if (old === undefined || object['status'] === undefined || object['status'] === old.status) return problems;
	const ofStatus = schemaProblems(`${kind.kind}Status`, object['status']);
	return [...problems, ...ofStatus.map(problem => ({...problem, path: below('status', problem.path)}))];
}

const below = (base: string, path: string): string => (path === '' || path.startsWith('[') ? base + path : `${base}.${path}`);

function ruleProblems(
	kind: KindDefinition,
	object: JsonObject,
	draft: Draft,
	old: ApiObject | undefined,
	isComplete: boolean,
): readonly Problem[] {
	const found: Problem[] = [];
	const given = membersOf(object['metadata']);
	checkMetadata(found, old === undefined ? given : {name: old.metadata.name, ...given}, kind);
	if (old !== undefined) checkIdentity(found, given, old);
	else if ((textOf(given['resourceVersion']) ?? '') !== '') forbid(found, 'metadata.resourceVersion', 'must not be set on a new object');
	kind.validate(found, {...draft, metadata: membersOf(draft.metadata)}, isComplete ? old : undefined);
	return found;
}

function bounded(problems: readonly Problem[]): readonly Problem[] {
	const told = problems.slice(0, limits.problemsShown).map(problem => ({...problem, path: shownPath(problem.path)}));
	const more = problems.length - told.length;
	return more === 0 ? told : [...told, {path: '', message: `and ${more} more problems`}];
}

function aboutOf(kind: KindDefinition, object: JsonObject): JsonObject {
	const metadata = membersOf(object['metadata']);
	const name = textOf(metadata['name']) ?? textOf(metadata['generateName']) ?? '';
	return {name, resource: qualifiedPlural(kind), kind: kind.kind, group: kind.group};
}

/**
 * The object as it goes on. Only called with what passed the schema. Built member by member: conditional spreads cost more than
 * all checks together, and pods come by the thousand.
 */
function draftOf(kind: KindDefinition, object: JsonObject, old: ApiObject | undefined): Draft {
	const given = object['metadata'] as Draft['metadata'];
	const draft: Mutable<Draft> = {
		apiVersion: object['apiVersion'] as string,
		kind: object['kind'] as string,
		metadata: old === undefined ? newMetadata(given, kind) : nextMetadata(given, old.metadata),
	};
	for (const field of contentOf(kind)) if (object[field] !== undefined) (draft as {[field: string]: unknown})[field] = object[field];
	if (old !== undefined && object['status'] !== undefined) draft.status = object['status'];
	return kind.defaults(draft, old);
}

function newMetadata(given: Draft['metadata'], kind: KindDefinition): Draft['metadata'] {
	const {name = '', generateName, namespace = ''} = given;
	const metadata: Mutable<Draft['metadata']> = {};
	if (name !== '') metadata.name = name;
	else if (generateName !== undefined) metadata.generateName = generateName;
	if (kind.namespaced) metadata.namespace = namespace === '' ? defaultNamespace : namespace;
	return withClientsPart(metadata, given);
}

function nextMetadata({resourceVersion = '', ...given}: Draft['metadata'], old: ObjectMeta): Draft['metadata'] {
	const metadata: Mutable<Draft['metadata']> = {name: old.name};
	if (old.namespace !== undefined) metadata.namespace = old.namespace;
	metadata.uid = old.uid;
	if (resourceVersion !== '') metadata.resourceVersion = resourceVersion;
	metadata.generation = old.generation;
	metadata.creationTimestamp = old.creationTimestamp;
	if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
	if (old.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds;
	return withClientsPart(metadata, given);
}

/** Adds what belongs to the writer of the object. */
function withClientsPart(metadata: Mutable<Draft['metadata']>, given: Draft['metadata']): Draft['metadata'] {
	const {labels, annotations, ownerReferences, finalizers} = given;
	if (labels !== undefined) metadata.labels = labels;
	if (annotations !== undefined) metadata.annotations = annotations;
	if (ownerReferences !== undefined) metadata.ownerReferences = ownerReferences;
	if (finalizers !== undefined) metadata.finalizers = finalizers;
	return metadata;
}
