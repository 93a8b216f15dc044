// What has to be written for each object, tried on the server before anything is written for real.

import {AppError} from '../../api/errors.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {Client, Request} from '../client.js';
import {pathOf} from '../resources.js';
import {applyPatch, withLastApplied} from '../three-way.js';
import {locateProblems, problemsError, type LocatedProblem} from './located.js';
import type {Prepared} from './prepare.js';

/** The write of one object; undefined: it is as the manifest says. */
export type Planned = {readonly prepared: Prepared; readonly live: ApiObject | undefined; readonly write: Request | undefined};

/** Plans all objects and lets the server check each write without keeping it. Throws one error with the problems of all. */
export async function planAll(client: Client, all: readonly Prepared[]): Promise<readonly Planned[]> {
	const created = new Set(all.filter(({resource}) => resource.kind === 'Namespace').map(({name}) => name));
	const outcomes = await Promise.all(all.map(prepared => plan(client, prepared, created)));
	const problems = outcomes.flatMap(outcome => ('problems' in outcome ? outcome.problems : []));
	if (problems.length > 0) throw problemsError(problems);
	return outcomes.filter((outcome): outcome is Planned => !('problems' in outcome));
}

async function plan(
	client: Client,
	prepared: Prepared,
	created: ReadonlySet<string>,
): Promise<Planned | {problems: readonly LocatedProblem[]}> {
	try {
		const live = await liveOf(client, prepared);
		const write = writeOf(prepared, live);
		if (write !== undefined) await tryOut(client, prepared, write, created);
		return {prepared, live, write};
	} catch (error) {
		return {problems: locateProblems(error, prepared.document, prepared.renamed)};
	}
}

async function liveOf(client: Client, {resource, namespace, name}: Prepared): Promise<ApiObject | undefined> {
	try {
		return (await client.json({path: pathOf(resource, namespace, name)})) as ApiObject;
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_NOT_FOUND') return undefined;
		throw error;
	}
}

function writeOf({resource, namespace, name, object}: Prepared, live: ApiObject | undefined): Request | undefined {
	const query = {fieldManager: 'troupe-apply', fieldValidation: 'Strict'};
	if (live === undefined) return {method: 'POST', path: pathOf(resource, namespace), query, body: withLastApplied(object)};
	const patch = applyPatch(object, live as unknown as JsonObject);
	if (patch === undefined) return undefined;
	return {method: 'PATCH', path: pathOf(resource, namespace, name), query, body: patch, contentType: 'application/merge-patch+json'};
}

const dryRun = (request: Request): Request => ({...request, query: {...request.query, dryRun: 'All'}});

/**
 * An object of a namespace that this very run creates cannot be tried where it will be; everything but that is tried in
 * `default`, where another object may have its name.
 */
async function tryOut(client: Client, prepared: Prepared, write: Request, created: ReadonlySet<string>): Promise<void> {
	try {
		await client.json(dryRun(write));
	} catch (error) {
		if (!isMissingNamespace(error) || !created.has(prepared.namespace)) throw error;
		const metadata = {...(prepared.object['metadata'] as JsonObject), namespace: 'default'};
		const elsewhere = {...write, path: pathOf(prepared.resource, 'default'), body: withLastApplied({...prepared.object, metadata})};
		await client.json(dryRun(elsewhere)).catch((second: unknown) => {
			if (!(second instanceof AppError && second.code === 'ERR_ALREADY_EXISTS')) throw second;
		});
	}
}

const isMissingNamespace = (error: unknown): boolean =>
	error instanceof AppError && error.code === 'ERR_NOT_FOUND' && error.failure.details['kind'] === 'namespaces';
