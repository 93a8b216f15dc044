// The kind Secret: entries that only some may read.
//
// Behind the gateway values are sealed, and nothing else is taken there: a plain one that came another way is refused, not kept.

import {base64Of} from '../base64.js';
import {ageColumn, column, nameColumn, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import {isObject, type ApiObject, type Draft, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {checkDataKeys, checkImmutable} from '../rules/config-data.js';
import {forbid, membersOf, refuse, textOf, type Found} from '../rules/report.js';
import {isSealed, lastAppliedAnnotation} from '../sealed.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {content} from '../schemas/secret.js';
import {shown} from '../shown.js';

/** For those who write and read it values are base64; behind the gateway they are sealed (`api/sealed.ts`). */
export type Secret = ApiObject & ShapeOf<typeof content>;

const defaultType = 'Opaque';

const typeOf = (object: ApiObject): string => (object as Secret).type ?? defaultType;

/** Of Secrets with a certificate, and its entries. */
export const tlsSecretType = 'kubernetes.io/tls';
export const certificateEntry = 'tls.crt';
export const privateKeyEntry = 'tls.key';

export const isTlsSecret = (object: ApiObject): boolean => typeOf(object) === tlsSecretType;

export const secret: KindDefinition = {
	kind: 'Secret',
	group: '',
	version: 'v1',
	plural: 'secrets',
	singular: 'secret',
	shortNames: [],
	namespaced: true,
	content: ['type', 'data', 'stringData', 'immutable'],
	withheld: withoutValues,
	defaults: draft => ({...withStringData(draft), type: typeOf(draft as ApiObject) || defaultType}),
	validate,
	columns: [
		nameColumn,
		column('Type', 'What the entries are for.', typeOf),
		numberColumn('Data', 'How many entries it has.', object => Object.keys((object as Secret).data ?? {}).length),
		ageColumn,
	],
	selectableFields: {type: typeOf},
};

/**
 * The object with the entries of `stringData` in `data`, as base64. Of what is in both, stringData counts. What is no text stays where it
 * is, so that it is refused and not lost; null means absent.
 */
export function withStringData<Obj extends object>(object: Obj): Obj {
	if (!Object.hasOwn(object, 'stringData')) return object;
	const {stringData, ...rest} = object as Obj & JsonObject;
	const data = rest['data'] ?? {};
	if (!isObject(stringData ?? {}) || !isObject(data)) return object;
	const entries = Object.entries(membersOf(stringData)).filter(([, value]) => value !== null && value !== undefined);
	const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	const others = entries.filter(([, value]) => typeof value !== 'string');
	const encoded = texts.map(([key, text]): [string, string] => [key, base64Of(text)]);
	return {
		...rest,
		...(texts.length === 0 ? {} : {data: Object.fromEntries([...Object.entries(data), ...encoded])}),
		...(others.length === 0 ? {} : {stringData: Object.fromEntries(others)}),
	} as unknown as Obj;
}

/** The keys are shown, the values are null; what was applied last is left out, for it has them as well. */
function withoutValues(object: ApiObject): ApiObject {
	const {data, metadata, ...rest} = object as Secret;
	const {[lastAppliedAnnotation]: _last, ...annotations} = metadata.annotations ?? {};
	const {annotations: _all, ...others} = metadata;
	const kept = Object.keys(annotations).length === 0 ? others : {...others, annotations};
	const keys = data === undefined ? {} : {data: Object.fromEntries(Object.keys(data).map(key => [key, null]))};
	return {...rest, metadata: kept, ...keys};
}

/** Kubernetes' types whose entries programs rely on: one of each list is needed. */
const neededKeys: {readonly [type: string]: readonly (readonly string[])[]} = {
	'kubernetes.io/basic-auth': [['username', 'password']],
	'kubernetes.io/ssh-auth': [['ssh-privatekey']],
	[tlsSecretType]: [[certificateEntry], [privateKeyEntry]],
	'kubernetes.io/dockerconfigjson': [['.dockerconfigjson']],
	'kubernetes.io/dockercfg': [['.dockercfg']],
};

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const object = membersOf(draft);
	const data = membersOf(object['data']);
	checkDataKeys(found, 'data', data);
	for (const [key, value] of Object.entries(data)) checkSealed(found, joinPath('data', key), value);
	const annotations = membersOf(membersOf(object['metadata'])['annotations']);
	checkSealed(found, joinPath('metadata.annotations', lastAppliedAnnotation), annotations[lastAppliedAnnotation]);
	checkNeeded(found, textOf(object['type']) ?? defaultType, data);
	if (old !== undefined && object['type'] !== typeOf(old))
		forbid(found, 'type', `cannot be changed: it is ${shown(typeOf(old))}; delete the Secret and create it again`);
	checkImmutable(found, object, old, ['data']);
}

function checkSealed(found: Found, path: string, value: unknown): void {
	if (typeof value === 'string' && !isSealed(value)) forbid(found, path, 'is not sealed: Secrets are written through the API alone');
}

function checkNeeded(found: Found, type: string, data: JsonObject): void {
	for (const keys of Object.hasOwn(neededKeys, type) ? (neededKeys[type] ?? []) : []) {
		if (keys.some(key => Object.hasOwn(data, key))) continue;
		refuse(found, joinPath('data', keys[0] ?? ''), `${keys.join(' or ')} is required in a Secret of type ${type}`, 'FieldValueRequired');
	}
}
