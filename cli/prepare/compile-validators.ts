// Turns `api/schemas` into code, right after the TypeScript build: `node build/cli/prepare/compile-validators.js` writes
// `build/api/validators.cjs`, the same schemas as data, `build/api/descriptions.cjs`, and what patches have to know of them,
// `build/api/patch-schemas.cjs`. So a running cluster loads neither the schema builder nor the schema compiler.

import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {Ajv} from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type {TSchema} from 'typebox';
import {kinds} from '../../api/catalogue.js';
import type {Schema} from '../../api/descriptions.cjs';
import type {KindDefinition} from '../../api/kind.js';
import type {PatchField, PatchFields} from '../../api/patch-schemas.cjs';
import {definitions} from '../../api/schemas/definitions.js';
import {record} from '../../api/schemas/parts.js';
import {nodesSpec} from '../../api/schemas/workflow-nodes.js';

/** What the file of a kind in `api/schemas` exports; a kind without a status says nothing of one. */
type KindSchemas = {readonly schema: () => TSchema; readonly status?: () => TSchema};

type Described = {readonly kind: string; readonly schema: TSchema; readonly status: TSchema};

/** The file is named after the kind: `api/schemas/replicaset.ts`. */
async function describedBy({kind, singular}: KindDefinition): Promise<Described> {
	const {schema, status} = (await import(`../../api/schemas/${singular}.js`)) as KindSchemas;
	return {kind, schema: schema(), status: status?.() ?? record({})};
}

/** The code of all validators, as one CommonJS module. */
function validatorCode(described: readonly Described[]): string {
	const ajv = new Ajv({allErrors: true, strict: false, verbose: true, messages: false, inlineRefs: false, code: {source: true}});
	const parts = described.map(({kind, schema, status}) => ({[kind]: schema, [`${kind}Status`]: status}));
	const schemas = Object.assign({WorkflowNodes: nodesSpec()}, ...parts) as {readonly [name: string]: TSchema};
	for (const [name, schema] of Object.entries({...definitions, ...schemas})) ajv.addSchema(withoutWords(schema), name);
	return standalone.default(ajv, Object.fromEntries(Object.keys(schemas).map(name => [name, name])));
}

/** Words are for `explain`, strategies for patches: a validator would carry them along with each schema. */
function withoutWords(schema: object): object {
	const isWords = (key: string, value: unknown): boolean =>
		(key === 'description' && typeof value === 'string') || key.startsWith('x-kubernetes-patch-');
	return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (isWords(key, value) ? undefined : value))) as object;
}

/** Every kind with its status in its place. */
function descriptionCode(described: readonly Described[]): string {
	const kindSchemas = Object.fromEntries(described.map(({kind, schema, status}) => [kind, withStatus(schema, status)]));
	return `module.exports = ${JSON.stringify({kinds: kindSchemas, definitions})};\n`;
}

/** Of every kind what is patched in another way than by RFC 7386. */
function patchSchemaCode(described: readonly Described[]): string {
	const fields = described.map(({kind, schema, status}) => [kind, patchField(withStatus(schema, status))] as const);
	return `module.exports = ${JSON.stringify(Object.fromEntries(fields))};\n`;
}

/** What a strategic merge patch has to know of a field and those below it; undefined: nothing. */
function patchField(schema: Schema): PatchField | undefined {
	const {$ref, items, 'x-kubernetes-patch-strategy': strategy = '', 'x-kubernetes-patch-merge-key': key} = schema;
	const shared: Readonly<Record<string, Schema>> = definitions;
	const fields = items === undefined ? patchFields($ref === undefined ? schema : (shared[$ref] ?? {})) : patchField(items)?.fields;
	const merged = strategy.startsWith('merge') ? ({list: key === undefined ? 'set' : {by: key}} as const) : {};
	const field: PatchField = {
		...merged,
		...(strategy === 'replace' ? {replace: true} : {}),
		...(strategy.endsWith('retainKeys') ? {isChoice: true} : {}),
		...(fields === undefined ? {} : {fields}),
	};
	return Object.keys(field).length === 0 ? undefined : field;
}

function patchFields({properties = {}}: Schema): PatchFields | undefined {
	const known = Object.entries(properties).flatMap(([name, schema]) => {
		const field = patchField(schema);
		return field === undefined ? [] : [[name, field] as const];
	});
	return known.length === 0 ? undefined : Object.fromEntries(known);
}

function withStatus(schema: object, status: object): object {
	const {properties = {}} = schema as {readonly properties?: object};
	return {...schema, properties: {...properties, status}};
}

const described = await Promise.all(kinds.map(describedBy));
writeFileSync(path.join(import.meta.dirname, '../../api/validators.cjs'), validatorCode(described));
writeFileSync(path.join(import.meta.dirname, '../../api/descriptions.cjs'), descriptionCode(described));
writeFileSync(path.join(import.meta.dirname, '../../api/patch-schemas.cjs'), patchSchemaCode(described));
