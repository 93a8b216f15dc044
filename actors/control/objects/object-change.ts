// What a write makes of an object: the new one, the changed one, or why not. Pure; what does not change keeps its reference.

import {admitUpdate} from '../../../api/admission.js';
import {deepEqual, keepReference} from '../../../api/equal.js';
import {failed, failure, type Failure, type Outcome} from '../../../api/errors.js';
import {contentOf, guardedWords, memberOf, type KindDefinition} from '../../../api/kind.js';
import {isObject, timestampOf, type ApiObject, type Draft, type JsonObject, type ObjectMeta} from '../../../api/object.js';
import {applyPatch} from '../../../api/patch.js';
import {scaled, scaleOf} from '../../../api/scale.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {shown} from '../../../api/shown.js';
import {aboutObject} from './about-object.js';
import type {PatchObject} from './object-message.js';

/** An admitted draft with what only the server may set. */
export function newObject(definition: KindDefinition, draft: Draft, {nowMs, random}: Context): ApiObject {
	const {name = '', namespace, labels, annotations, ownerReferences, finalizers} = draft.metadata;
	const metadata: ObjectMeta = {
		name,
		...(namespace === undefined ? {} : {namespace}),
		uid: random.uuid(),
		resourceVersion: '',
		generation: 1,
		creationTimestamp: timestampOf(nowMs),
		...(labels === undefined ? {} : {labels}),
		...(annotations === undefined ? {} : {annotations}),
		...(ownerReferences === undefined ? {} : {ownerReferences}),
		...(finalizers === undefined || finalizers.length === 0 ? {} : {finalizers}),
	};
	const made: ApiObject = {apiVersion: draft.apiVersion, kind: draft.kind, metadata};
	for (const field of contentOf(definition)) setMember(made, field, memberOf(draft, field));
	const status = definition.initialStatus?.(made);
	const whole = status === undefined ? made : {...made, status};
	return definition.made?.(whole) ?? whole;
}

/** What a patch makes of the object, or why it does not apply; whether that may be is for admission. */
export function patched(object: ApiObject, message: PatchObject): Outcome<Draft> {
	const ofScale = message.subresource === 'scale';
	const done = applyPatch((ofScale ? scaleOf(object) : object) as unknown as JsonObject, message);
	if (!done.ok) return done;
	if (ofScale) return scaled(object, done.value);
	if (!isObject(done.value)) return failed('ERR_BAD_REQUEST', {message: `an object is expected, got ${shown(done.value)}`});
	return {ok: true, value: done.value as unknown as Draft};
}

/** Only the status, checked like everything that comes from outside. */
export function withStatusOf(object: ApiObject, wanted: Draft): Outcome<ApiObject> {
	const checked = admitUpdate({...object, status: wanted.status}, object);
	if (!checked.ok) return checked;
	const status = keepReference(object.status, checked.value.status);
	if (status === object.status) return {ok: true, value: object};
	return checked.kind.ownsStatus === true
		? failed('ERR_FORBIDDEN', {message: ownStatusWords(checked.kind, object)})
		: {ok: true, value: {...object, status}};
}

const ownStatusWords = ({plural, kind}: KindDefinition, {metadata}: ApiObject): string =>
	`${plural} "${metadata.name}" is forbidden: the status of a ${kind} is written by the cluster alone`;

/** The object with what an update may change; the same reference where nothing does. */
export function admitted(object: ApiObject, wanted: Draft): Outcome<ApiObject> {
	const checked = admitUpdate(wanted, object);
	if (!checked.ok) return checked;
	const {value, kind} = checked;
	const contents = contentOf(kind).map(field => ({field, now: keepReference(memberOf(object, field), memberOf(value, field))}));
	const isChanged = contents.some(({field, now}) => now !== memberOf(object, field));
	const metadata = keepReference(object.metadata, updatedMetadata(object.metadata, value.metadata, isChanged));
	if (!isChanged && metadata === object.metadata) return {ok: true, value: object};
	const changed = {...object, metadata};
	for (const {field, now} of contents) setMember(changed, field, now);
	return {ok: true, value: changed};
}

/** Sets a member of an object that is just being made; undefined takes it away. */
function setMember(object: object, field: string, value: unknown): void {
	if (value === undefined) Reflect.deleteProperty(object, field);
	else Reflect.set(object, field, value);
}

/** The metadata with what a client may change of it. */
export function updatedMetadata(old: ObjectMeta, wanted: Draft['metadata'], specChanged: boolean): ObjectMeta {
	const {labels: _labels, annotations: _annotations, ownerReferences: _owners, finalizers: _finalizers, ...fixed} = old;
	const {labels, annotations, ownerReferences, finalizers} = wanted;
	return {
		...fixed,
		generation: specChanged ? old.generation + 1 : old.generation,
		...(isEmpty(labels) ? {} : {labels}),
		...(isEmpty(annotations) ? {} : {annotations}),
		...(isEmpty(ownerReferences) ? {} : {ownerReferences}),
		...(isEmpty(finalizers) ? {} : {finalizers}),
	};
}

const isEmpty = (value: object | undefined): boolean => value === undefined || Object.keys(value).length === 0;

/** Why the writer may not make this of the object. A member that was never written is as the kind has it by default. */
export function guardedRefusal(
	definition: KindDefinition,
	object: ApiObject,
	changed: ApiObject,
	guarded: readonly string[] = [],
): Failure | undefined {
	if (guarded.length === 0) return undefined;
	const before = definition.defaults(object, object);
	const other = guarded.find(member => !deepEqual(specMember(before, member), specMember(changed, member)));
	return other === undefined ? undefined : failure('ERR_FORBIDDEN', {message: guardedWords(definition, object.metadata.name, other)});
}

const specMember = ({spec}: {readonly spec?: unknown}, member: string): unknown => memberOf(spec ?? {}, member);

export function violatedPrecondition(
	definition: KindDefinition,
	object: ApiObject,
	wanted: Partial<ObjectMeta> | undefined,
): Failure | undefined {
	const {resourceVersion, uid} = wanted ?? {};
	const about = aboutObject(definition, object.metadata.name);
	if (typeof uid === 'string' && uid !== '' && uid !== object.metadata.uid) {
		return failure('ERR_CONFLICT', {
			...about,
			message: `the uid in the precondition (${uid}) is not that of the object (${object.metadata.uid})`,
		});
	}
	if (typeof resourceVersion === 'string' && resourceVersion !== '' && resourceVersion !== object.metadata.resourceVersion) {
		return failure('ERR_CONFLICT', about);
	}
	return undefined;
}

/** A status that says what the old one said is the old one: telling again what is known writes nothing. */
export function keptStatus(object: ApiObject, changed: ApiObject): ApiObject {
	const status = keepReference(object.status, changed.status);
	if (status !== object.status) return {...changed, status};
	return changed.spec === object.spec && changed.metadata === object.metadata ? object : {...changed, status};
}
