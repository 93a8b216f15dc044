// Secrets on their way in and out: what is written is sealed before it becomes a message, what is read is opened for its reader.
//
// What is wrong with values is found here, where they are still plain, and told without them: behind this file no reader could.

import {AppError, failed, succeeded, type Outcome} from '../api/errors.js';
import {isBase64} from '../api/base64.js';
import {certificateEntry, isTlsSecret, privateKeyEntry, secret as kind, tlsSecretType, withStringData} from '../api/kinds/secret.js';
import type {Secret} from '../api/kinds/secret.js';
import {isObject, type ApiObject, type Draft, type Json, type JsonObject} from '../api/object.js';
import {joinPath} from '../api/path.js';
import type {Problem} from '../api/problem.js';
import {membersOf, refuse, type Found} from '../api/rules/report.js';
import {schemaProblems} from '../api/schema-problems.js';
import {isSealed, lastAppliedAnnotation} from '../api/sealed.js';
import {parsedJson} from '../api/value-or.js';
import {configVersion, secretKey} from '../actors/config-references.js';
import {namesOnNode} from '../actors/control/pods/pod-terms.js';
import {certificateKey, certificateTerm, ingresses} from '../actors/network-references.js';
import type {FetchedSecret} from '../actors/node/runtime/secrets-port.js';
import type {ObjectIndex} from '../system/index/object-index.js';
import type {Place, Seals} from './seal.js';

type Named = Pick<Place, 'namespace' | 'name'>;

/** A new Secret, or the whole of one as it shall be, with sealed values. Throws `ERR_INVALID` for values that are none. */
export function sealedDraft(seals: Seals, draft: Draft, at: Named): Draft {
	refuseMisshapen(draft as unknown as JsonObject, at.name);
	return sealedValues(seals, withStringData(draft as unknown as JsonObject), at) as unknown as Draft;
}

/** A merge patch of a Secret with sealed values. */
export function sealedPatch(seals: Seals, patch: JsonObject, at: Named): JsonObject {
	refuseMisshapen({apiVersion: 'v1', kind: kind.kind, metadata: {}, ...withoutNulls(patch)}, at.name);
	if (patch['data'] === null && isObject(patch['stringData']))
		throw invalid(
			[{path: 'data', message: 'cannot be removed in the same patch that sets stringData', reason: 'FieldValueInvalid'}],
			at.name,
		);
	const {stringData, ...rest} = patch;
	return sealedValues(seals, isObject(stringData) ? withStringData(patch) : rest, at);
}

/** Everything that stands where a value may stand is sealed, also what a later check refuses. */
function sealedValues(seals: Seals, object: JsonObject, at: Named): JsonObject {
	const data = object['data'];
	const metadata = object['metadata'];
	const annotations = membersOf(metadata)['annotations'];
	const sealedData = isObject(data)
		? {data: mapTexts(data, (key, text) => seals.seal({...at, entry: key}, Buffer.from(text, 'base64')))}
		: {};
	if (!isObject(metadata) || !isObject(annotations)) return {...object, ...sealedData};
	const sealed = mapTexts(annotations, (key, text) =>
		key === lastAppliedAnnotation ? seals.seal({...at, entry: annotationEntry}, Buffer.from(text)) : text,
	);
	return {...object, ...sealedData, metadata: {...metadata, annotations: sealed}};
}

/** No key of an entry has a slash. */
const annotationEntry = `annotation/${lastAppliedAnnotation}`;

const mapTexts = (members: JsonObject, map: (key: string, text: string) => string): JsonObject =>
	Object.fromEntries(Object.entries(members).map(([key, value]) => [key, typeof value === 'string' ? map(key, value) : value]));

/** Fields that do not exist may hold values, too: nothing of the wrong shape goes on. */
function refuseMisshapen(object: JsonObject, name: string): void {
	const found: Found = [...schemaProblems('Secret', withoutNulls(object))];
	for (const [key, value] of Object.entries(membersOf(object['data']))) {
		if (typeof value === 'string' && !isBase64(value))
			refuse(found, joinPath('data', key), 'must be base64; plain texts go into stringData');
		else if (typeof value === 'string') checkLogins(found, joinPath('data', key), key, Buffer.from(value, 'base64').toString());
	}
	for (const [key, value] of Object.entries(membersOf(object['stringData'])))
		if (typeof value === 'string') checkLogins(found, joinPath('stringData', key), key, value);
	if (found.length > 0) throw invalid(found, name);
}

/** The entries that nodes read logins of registries from, whatever the Secret's type; a node could only pass over what is none. */
const loginEntries: readonly string[] = ['.dockerconfigjson', '.dockercfg'];

function checkLogins(found: Found, path: string, key: string, text: string): void {
	if (loginEntries.includes(key) && !isObject(parsedJson(text))) refuse(found, path, 'must be a JSON object, as docker login writes it');
}

const invalid = (problems: readonly Problem[], name: string): AppError =>
	new AppError('ERR_INVALID', {name, resource: kind.plural, kind: kind.kind, group: kind.group, problems});

/** Null means absent, and is no value. */
function withoutNulls(value: JsonObject): JsonObject {
	const entries = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
	return Object.fromEntries(entries.map(([key, member]) => [key, isObject(member) ? withoutNulls(member) : (member as Json)]));
}

/** The Secret as a reader with the right gets it: values in base64, as Kubernetes has them. Throws an AppError that names it. */
export function openedSecret(seals: Seals, object: ApiObject): ApiObject {
	try {
		return opened(seals, object);
	} catch (error) {
		const {namespace = '', name} = object.metadata;
		const why = error instanceof AppError ? error.message : 'it was changed in the store';
		const message = `secrets "${namespace}/${name}" cannot be opened with this cluster's key: ${why}; delete it, or restore the key`;
		throw new AppError('ERR_INTERNAL', {message}, error);
	}
}

function opened(seals: Seals, object: ApiObject): ApiObject {
	const {data, metadata} = object as Secret;
	const at = {namespace: metadata.namespace ?? '', name: metadata.name};
	const last = metadata.annotations?.[lastAppliedAnnotation];
	const values = data === undefined ? {} : {data: openedData(seals, data, at)};
	if (last === undefined || !isSealed(last)) return {...object, ...values};
	const text = seals.open({...at, entry: annotationEntry}, last).toString('utf8');
	return {...object, metadata: {...metadata, annotations: {...metadata.annotations, [lastAppliedAnnotation]: text}}, ...values};
}

const openedData = (seals: Seals, data: NonNullable<Secret['data']>, at: Named): NonNullable<Secret['data']> =>
	Object.fromEntries(Object.entries(data).map(([key, sealed]) => [key, seals.open({...at, entry: key}, sealed).toString('base64')]));

/** A Secret for a node: only while a pod that is bound there names it. */
export function secretForNode(index: ObjectIndex, seals: Seals, node: string, {namespace, name}: Named): Outcome<FetchedSecret> {
	const key = secretKey(namespace, name);
	if (index.countByTerm('pods', namesOnNode(node, key)) === 0)
		return failed('ERR_FORBIDDEN', {message: `secrets "${name}" is forbidden: no pod that is bound to node "${node}" names it`});
	const object = index.get(key);
	if (object === undefined) return failed('ERR_NOT_FOUND', {resource: kind.plural, name});
	const {data = {}} = object as Secret;
	return succeeded({version: configVersion(object), data: openedData(seals, data, {namespace, name})});
}

/** The certificate in a Secret, for any node, since routes are served on all: only while an Ingress names it, and no other entry of it. */
export function certificateForNode(index: ObjectIndex, seals: Seals, {namespace, name}: Named): Outcome<FetchedSecret> {
	if (index.countByTerm(ingresses, certificateTerm(certificateKey(namespace, name))) === 0)
		return failed('ERR_FORBIDDEN', {message: `secrets "${name}" is forbidden: no Ingress names it in its tls`});
	const object = index.get(secretKey(namespace, name));
	if (object === undefined) return failed('ERR_NOT_FOUND', {resource: kind.plural, name});
	if (!isTlsSecret(object)) return failed('ERR_FORBIDDEN', {message: `secrets "${name}" is forbidden: its type is not ${tlsSecretType}`});
	const {data = {}} = object as Secret;
	const entries = Object.entries(data).filter(([key]) => key === certificateEntry || key === privateKeyEntry);
	return succeeded({version: configVersion(object), data: openedData(seals, Object.fromEntries(entries), {namespace, name})});
}
