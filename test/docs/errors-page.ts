// docs/errors.md, made from the table of errors. `node build/test/docs/errors-page.js` writes it; a test compares.

import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {errorTable, type ErrorCode} from '../../api/errors.js';
import type {JsonObject} from '../../api/object.js';

export const errorsFile = path.resolve(import.meta.dirname, '../../../docs/errors.md');

const head = `# Errors

Made from the table in [api/errors.ts](../api/errors.ts). Codes are stable: scripts and other programs compare codes, never texts.
Over HTTP an error is a Kubernetes \`Status\` with the code's HTTP status and reason; the command line prints the message after
\`error: \` and ends with the exit code. "again" says whether trying again can help.

| code | message | exit code | HTTP | reason | again |
|---|---|---|---|---|---|
`;

/** Details that word themselves: `<name>` where a name would be. */
const placeholders: JsonObject = new Proxy({}, {get: (_target, key) => (key === 'problems' ? undefined : `<${String(key)}>`)});

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

function rowOf(code: ErrorCode): string {
	const {message, exitCode, http, reason, retryable} = errorTable[code];
	const cells = [`\`${code}\``, cell(message(placeholders)), exitCode, http, reason, retryable ? 'yes' : 'no'];
	return `| ${cells.join(' | ')} |\n`;
}

/** The whole page. */
export const errorsPage = (): string => head + (Object.keys(errorTable) as ErrorCode[]).map(rowOf).join('');

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(errorsFile, errorsPage());
