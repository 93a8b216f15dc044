// Reads the file of a workflow: a definition in the States Language, or a manifest of any form.

import type {Readable} from 'node:stream';
import {cleanJson} from '../../api/clean-json.js';
import {nullsKeptIn} from '../../api/dialects/normalise.js';
import type {Json, JsonObject} from '../../api/object.js';
import {formatProblem} from '../../api/problem.js';
import type {WorkflowSpec} from '../../api/kinds/workflow.js';
import type {Definition} from '../../api/states-language/definition.js';
import {readDefinition} from '../../api/states-language/validation/definition.js';
import {readHere} from '../apply/check-here.js';
import {prepareAll} from '../apply/prepare.js';
import type {Fault} from '../manifests/faults.js';
import type {ManifestDocument} from '../manifests/manifest.js';
import {readOneDocument} from './one-document.js';

export type ReadWorkflow =
	{readonly ok: true; readonly definition: Definition; readonly params: Json} | {readonly ok: false; readonly faults: readonly Fault[]};

/** Throws ERR_USAGE where there is not one document in the file. */
export async function readWorkflow(file: string, stdin: Readable): Promise<ReadWorkflow> {
	const read = await readOneDocument(file, stdin);
	if (!read.ok) return read;
	const {document} = read;
	if (document.value['kind'] === undefined) return definitionIn(document, document.value);
	return manifestIn(document);
}

/** Its tasks may call anything: mocks answer. */
function definitionIn(document: ManifestDocument, value: Json): ReadWorkflow {
	const read = readDefinition(value);
	if (read.ok) return {ok: true, definition: read.definition, params: {}};
	return {
		ok: false,
		faults: read.problems.map(problem => ({place: document.locate(problem.path), message: formatProblem(problem), code: 'ERR_INVALID'})),
	};
}

/** As a cluster would take it. */
async function manifestIn(document: ManifestDocument): Promise<ReadWorkflow> {
	const {value} = document;
	const given = {...document, value: cleanJson(value, nullsKeptIn(value)).value as JsonObject};
	const {prepared, faults} = await prepareAll(readHere, [given], {namespace: 'default', isDemanded: false});
	const [only] = prepared;
	if (only === undefined) return {ok: false, faults};
	if (only.object['kind'] !== 'Workflow') {
		const message = `must be a Workflow, or a definition with StartAt and States, got kind ${JSON.stringify(only.object['kind'])}`;
		return {ok: false, faults: [{place: document.locate('kind'), message, code: 'ERR_INVALID'}]};
	}
	const {definition, params = {}} = only.object['spec'] as unknown as WorkflowSpec;
	return {ok: true, definition: definition as unknown as Definition, params};
}
