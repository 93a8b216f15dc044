// Documents become objects in the canonical form, each with the place it goes to. Nothing is written here.

import {AppError} from '../../api/errors.js';
import type {Renamed} from '../../api/dialects/rewrite.js';
import {secret, withStringData} from '../../api/kinds/secret.js';
import type {JsonObject} from '../../api/object.js';
import type {Client} from '../client.js';
import type {ManifestDocument} from '../manifest.js';
import {displayName, resourceOf, type Resource} from '../resources.js';
import {locateProblems, problemsError, type LocatedProblem} from './located.js';

/** One object of a manifest, ready to be compared with what is there. */
export type Prepared = {
	readonly document: ManifestDocument;
	readonly resource: Resource;
	readonly namespace: string;
	readonly name: string;
	readonly object: JsonObject;
	/** What the normaliser says about another dialect. */
	readonly notes: readonly string[];
	readonly renamed: readonly Renamed[];
};

type Normalised = {readonly object: JsonObject; readonly notes?: readonly string[]; readonly renamed?: readonly Renamed[]};

export type Where = {
	/** Where objects go that name no namespace. */
	readonly namespace: string;
	/** Given by `-n`: objects that name another one are refused. */
	readonly isDemanded: boolean;
};

/** Prepares all documents. Throws one error with the problems of all of them. */
export async function prepareAll(client: Client, documents: readonly ManifestDocument[], where: Where): Promise<readonly Prepared[]> {
	const outcomes = await Promise.all(documents.map(document => prepare(client, document, where)));
	const prepared = outcomes.filter(outcome => 'resource' in outcome);
	const problems = [...outcomes.flatMap(outcome => ('resource' in outcome ? [] : outcome.problems)), ...duplicates(prepared)];
	if (problems.length > 0) throw problemsError(problems);
	return prepared;
}

async function prepare(
	client: Client,
	document: ManifestDocument,
	where: Where,
): Promise<Prepared | {problems: readonly LocatedProblem[]}> {
	try {
		const normalised = (await client.json({method: 'POST', path: '/troupe/v1/normalise', body: document.value})) as Normalised;
		return placed(document, normalised, where);
	} catch (error) {
		return {problems: locateProblems(error, document, [])};
	}
}

function placed(document: ManifestDocument, {object, notes = [], renamed = []}: Normalised, where: Where): Prepared {
	const {status: _status, ...given} = object; // Status is the cluster's to write; what a file says about it is never sent.
	// Of a Secret the cluster shows `data` alone: so that what was applied can be compared with what is there.
	const rest = given['kind'] === secret.kind ? withStringData(given) : given;
	const metadata = (object['metadata'] ?? {}) as {readonly name?: unknown; readonly namespace?: unknown};
	const resource = resourceOf(typeof object['kind'] === 'string' ? object['kind'] : '');
	const named = typeof metadata.namespace === 'string' ? metadata.namespace : undefined;
	const refuse = (field: string, message: string) => {
		throw new AppError('ERR_INVALID', {message, causes: [{field, message, reason: 'FieldValueRequired'}]});
	};
	if (typeof metadata.name !== 'string' || metadata.name === '') refuse('metadata.name', 'is required: apply finds the object by its name');
	if (resource.namespaced && named !== undefined && where.isDemanded && named !== where.namespace)
		refuse('metadata.namespace', `is ${JSON.stringify(named)}, but -n says ${JSON.stringify(where.namespace)}`);
	return {document, resource, namespace: named ?? where.namespace, name: String(metadata.name), object: rest, notes, renamed};
}

/** The same object twice would be applied twice, and the second would win without a word. */
function duplicates(prepared: readonly Prepared[]): readonly LocatedProblem[] {
	const first = new Map<string, Prepared>();
	return prepared.flatMap(one => {
		const key = [one.resource.plural, one.resource.namespaced ? one.namespace : '', one.name].join('/');
		const before = first.get(key);
		if (before === undefined) {
			first.set(key, one);
			return [];
		}
		const message = `${displayName(one.resource, one.name)} is given twice, first in ${before.document.locate('metadata.name')}`;
		return [{line: `${one.document.locate('metadata.name')}: ${message}`, error: new AppError('ERR_INVALID', {message})}];
	});
}
