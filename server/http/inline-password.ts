// The password of a SlurmJob that stands in its manifest: taken out at the door, before anything of it is a message, and put into a Secret that
// belongs to the job. What `apply` remembers of the manifest is without it, too.

import {AppError} from '../../api/errors.js';
import {passwordSecretOf, slurmJob} from '../../api/kinds/slurmjob.js';
import {secret as secretKind} from '../../api/kinds/secret.js';
import {collectionAddress, objectAddress, objectKey} from '../../api/keys.js';
import type {KindDefinition} from '../../api/kind.js';
import {limits} from '../../api/limits.js';
import {isObject, type ApiObject, type Draft, type JsonObject} from '../../api/object.js';
import type {Patch} from '../../api/patch.js';
import {membersOf} from '../../api/rules/report.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {parsedJson} from '../../api/value-or.js';
import type {CreateObject, PatchObject} from '../../actors/control/objects/object-message.js';
import {ownerReferenceTo} from '../../actors/control/objects/owners.js';
import {sealedDraft} from '../secrets.js';
import type {Backend, Target} from './exchange.js';
import {refusal} from './outcome.js';

export type Inline<Value> = {
	readonly value: Value;
	/** Undefined: there was none. */
	readonly password: string | undefined;
};

const isSlurmJob = ({kind, group}: KindDefinition): boolean => kind === slurmJob.kind && group === slurmJob.group;

/** A manifest without its password; its Secret is named instead. Throws an AppError that does not show it. */
export function draftWithoutPassword({kind, subresource}: Target, draft: Draft): Inline<Draft> {
	if (!isSlurmJob(kind)) return {value: draft, password: undefined};
	const {value, password} = withoutPassword(draft as unknown as JsonObject, draft.metadata.name ?? '');
	return {value: value as unknown as Draft, password: ofSpec(subresource, password)};
}

/** Of a status nothing else is written: its password is dropped. */
const ofSpec = (subresource: Target['subresource'], password: string | undefined): string | undefined =>
	subresource === undefined ? password : undefined;

/** A member of that name, also in what is a text of JSON itself, or a path to one. */
const passwordWords = /\/password["/]|"password\\*"\s*:/;

/** The same of a patch. One of operations could put it anywhere: it takes no password. */
export function patchWithoutPassword({kind, name = '', subresource}: Target, change: Patch): Inline<Patch> {
	if (!isSlurmJob(kind)) return {value: change, password: undefined};
	if (change.patchType === 'json') {
		const names = change.patch.some(operation => passwordWords.test(JSON.stringify(operation)));
		if (names) throw refusal('a password of a SlurmJob is not taken by a JSON patch: name a Secret by spec.secretName');
		return {value: change, password: undefined};
	}
	const {value, password} = withoutPassword(change.patch, name);
	return {value: {...change, patch: value}, password: ofSpec(subresource, password)};
}

function withoutPassword(object: JsonObject, name: string): Inline<JsonObject> {
	const remembered = withoutRemembered(object);
	const {spec} = remembered;
	if (!isObject(spec) || spec['password'] === undefined) return {value: remembered, password: undefined};
	const {password, ...rest} = spec;
	if (password === null || password === '') return {value: {...remembered, spec: rest}, password: undefined};
	if (typeof password !== 'string') throw invalid(name, 'spec.password', 'must be a string: quote it');
	const own = passwordSecretOf(name);
	const {secretName = own} = rest;
	if (secretName !== own) throw invalid(name, 'spec.password', 'cannot be there beside secretName: put it into that Secret');
	return {value: {...remembered, spec: {...rest, secretName: own}}, password};
}

const invalid = (name: string, path: string, message: string): AppError =>
	new AppError('ERR_INVALID', {
		name,
		kind: slurmJob.kind,
		group: slurmJob.group,
		problems: [{path, message, reason: 'FieldValueInvalid'}],
	});

/** What `apply` remembers is a manifest as a text. */
function withoutRemembered(object: JsonObject): JsonObject {
	const {metadata} = object;
	const annotations = membersOf(membersOf(metadata)['annotations']);
	const text = annotations[lastAppliedAnnotation];
	if (!isObject(metadata) || typeof text !== 'string') return object;
	const manifest = parsedJson(text);
	const spec = membersOf(membersOf(manifest)['spec']);
	if (spec['password'] === undefined) return object;
	const {password: _password, ...rest} = spec;
	const memory = JSON.stringify({...membersOf(manifest), spec: rest});
	return {...object, metadata: {...metadata, annotations: {...annotations, [lastAppliedAnnotation]: memory}}};
}

/** Throws where a Secret of that name is somebody else's: nothing is written then. */
export function refuseStrangersSecret({control}: Backend, {namespace = ''}: Target, name: string): void {
	const own = passwordSecretOf(name);
	const there = control.index.get(objectKey(secretKind.plural, namespace, own));
	if (there === undefined) return;
	const job = control.index.get(objectKey(slurmJob.plural, namespace, name));
	if (job !== undefined && there.metadata.ownerReferences?.some(({uid}) => uid === job.metadata.uid) === true) return;
	throw invalid(name, 'spec.password', `the Secret "${own}" would take it, and is there already: name a Secret by secretName`);
}

/** Keeps the password of a job that is written now. What the writer is told. */
export async function keepPassword(backend: Backend, job: ApiObject, password: string, cause: string): Promise<string> {
	const {namespace = '', name} = job.metadata;
	const own = passwordSecretOf(name);
	const {seals, control} = backend;
	if (seals === undefined) throw new AppError('ERR_INTERNAL', {message: 'this server has no key for Secrets'});
	const draft: Draft = {
		apiVersion: 'v1',
		kind: secretKind.kind,
		metadata: {name: own, namespace, ownerReferences: [ownerReferenceTo(job)]},
		...({stringData: {password}} as object),
	};
	const object = sealedDraft(seals, draft, {namespace, name: own});
	const options = {deadlineMs: limits.askDeadlineMs, cause};
	const create: CreateObject = {type: 'create', object};
	let outcome = await control.ask(collectionAddress(secretKind.plural), create, options);
	if (!outcome.ok && outcome.error.code === 'ERR_ALREADY_EXISTS') {
		const patch: PatchObject = {type: 'patch', patch: {data: membersOf(object)['data'] ?? null}};
		outcome = await control.ask(objectAddress(objectKey(secretKind.plural, namespace, own)), patch, options);
	}
	if (!outcome.ok)
		return `the password could not be kept in the Secret "${own}", and the job waits for it: ${outcome.error.message}; apply again`;
	return `spec.password is not kept in the object: it is in the Secret "${own}" now; better make a Secret yourself, and name it by spec.secretName`;
}
