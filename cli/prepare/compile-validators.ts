// Turns `api/schemas` into code, right after the TypeScript build: `node build/cli/prepare/compile-validators.js` writes
// `build/api/validators.cjs`, and the same schemas as data, `build/api/descriptions.cjs`. So a running cluster loads neither the schema
// builder nor the schema compiler.

import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {Ajv} from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import {definitions, schemas} from '../../api/schemas/all.js';

/** The code of all validators, as one CommonJS module. */
function validatorCode(): string {
	const ajv = new Ajv({allErrors: true, strict: false, verbose: true, messages: false, inlineRefs: false, code: {source: true}});
	const names = Object.keys(schemas);
	for (const [name, schema] of Object.entries({...definitions, ...schemas})) ajv.addSchema(withoutWords(schema), name);
	return standalone.default(ajv, Object.fromEntries(names.map(name => [name, name])));
}

/** Words are for `explain`: a validator would carry them along with each schema. */
function withoutWords(schema: object): object {
	const isWords = (key: string, value: unknown): boolean => key === 'description' && typeof value === 'string';
	return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (isWords(key, value) ? undefined : value))) as object;
}

/** Every kind with its status in its place. */
function descriptionCode(): string {
	const statuses = Object.keys(schemas).filter(name => name.endsWith('Status') && name.slice(0, -'Status'.length) in schemas);
	const kinds = Object.entries(schemas)
		.filter(([name]) => !statuses.includes(name))
		.map(([name, schema]) => [name, withStatus(schema, Object.entries(schemas).find(([each]) => each === `${name}Status`)?.[1])]);
	return `module.exports = ${JSON.stringify({kinds: Object.fromEntries(kinds) as object, definitions})};\n`;
}

function withStatus(schema: object, status: object | undefined): object {
	const {properties = {}} = schema as {readonly properties?: object};
	return status === undefined ? schema : {...schema, properties: {...properties, status}};
}

writeFileSync(path.join(import.meta.dirname, '../../api/validators.cjs'), validatorCode());
writeFileSync(path.join(import.meta.dirname, '../../api/descriptions.cjs'), descriptionCode());
