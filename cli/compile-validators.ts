// Turns `api/schemas` into code, right after the TypeScript build: `node build/cli/compile-validators.js` writes
// `build/api/validators.cjs`. So a running cluster loads neither the schema builder nor the schema compiler.

import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {Ajv} from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import {definitions, schemas} from '../api/schemas/all.js';

/** The code of all validators, as one CommonJS module. */
function validatorCode(): string {
	const ajv = new Ajv({allErrors: true, strict: false, verbose: true, messages: false, inlineRefs: false, code: {source: true}});
	const names = Object.keys(schemas);
	for (const [name, schema] of Object.entries({...definitions, ...schemas})) ajv.addSchema(schema, name);
	return standalone.default(ajv, Object.fromEntries(names.map(name => [name, name])));
}

writeFileSync(path.join(import.meta.dirname, '../api/validators.cjs'), validatorCode());
