// What has to be written for each object, tried on the server before anything is written for real.

import {projectLabel} from '../../api/compose/convert.js';
import {AppError} from '../../api/errors.js';
import {defaultNamespace} from '../../api/kinds/namespace.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {isDnsSubdomain} from '../../api/rules/names.js';
import type {Client, Request} from '../client.js';
import type {Fault} from '../manifests/faults.js';
import {patchPart} from '../cluster/changes.js';
import {isMissingNamespace, missingNamespace} from '../cluster/missing-namespace.js';
import {withNearest} from '../cluster/nearest.js';
import {sendsLists} from '../manifests/patch-between.js';
import {displayName, pathOf} from '../cluster/resources.js';
import {lastAppliedOf, patchToApply, withLastApplied} from '../manifests/three-way.js';
import {locateFaults} from './located.js';
import type {Prepared} from './prepare.js';

/** The write of one object. */
export type Planned = {
	readonly prepared: Prepared;
	readonly live: ApiObject | undefined;
	/** Undefined: it is as the manifest says. */
	readonly write: Request | undefined;
	/** What the server says it will be. */
	readonly outcome: ApiObject | undefined;
};

/** What to write for an object, from what there is; undefined: nothing. */
export type Planner = {
	/** Whether it has to know what there is. */
	readonly looks: boolean;
	readonly writeOf: (prepared: Prepared, live: ApiObject | undefined) => Request | undefined;
	/** What is tried, where the write itself cannot be yet. */
	readonly trialOf?: (write: Request, live: ApiObject | undefined) => Request;
};

const query = {fieldManager: 'troupe', fieldValidation: 'Strict'};
/** Whether the manifest says which version it is meant for. */
export const isVersioned = ({object}: Prepared): boolean =>
	(object['metadata'] as JsonObject | undefined)?.['resourceVersion'] !== undefined;

/** Makes what is not there, and changes what is there as far as the manifest says something of it. */
export const applying: Planner = {
	looks: true,
	writeOf(prepared, live) {
		const {resource, namespace, name, object} = prepared;
		refuseStranger(prepared, live);
		if (live === undefined) return {method: 'POST', path: pathOf(resource, namespace), query, body: withLastApplied(object)};
		const patch = patchToApply(object, live as unknown as JsonObject);
		if (patch === undefined) return undefined;
		const version = sendsLists(patch) && !isVersioned(prepared) ? live.metadata.resourceVersion : undefined;
		return {method: 'PATCH', path: pathOf(resource, namespace, name), query, ...patchPart(patch, version)};
	},
};

/** A compose file changes what is its own alone: throws where another project, or nobody's file, has an object of that name. */
function refuseStranger({document, resource, name}: Prepared, live: ApiObject | undefined): void {
	const {project} = document;
	const owner = live?.metadata.labels?.[projectLabel];
	if (project === undefined || live === undefined || owner === project) return;
	const whose = owner === undefined ? 'it is of no compose file' : `it is of the project ${owner}`;
	const field = 'metadata.name';
	const message = `${displayName(resource, name)} is there already, and ${whose}: choose another namespace with -n`;
	throw new AppError('ERR_INVALID', {message, causes: [{field, message, reason: 'FieldValueDuplicate'}]});
}

/** Makes what must not be there. */
export const creating: Planner = {
	looks: false,
	writeOf: ({resource, namespace, object}) => ({method: 'POST', path: pathOf(resource, namespace), query, body: object}),
};

/** Puts the manifest in the place of what must be there. What `apply` remembers is kept up to date. */
export const replacing: Planner = {
	looks: true,
	writeOf({resource, namespace, name, object}, live) {
		if (live === undefined) throw notFound(resource, name);
		const body = lastAppliedOf(live as unknown as JsonObject) === undefined ? object : withLastApplied(object);
		return {method: 'PUT', path: pathOf(resource, namespace, name), query, body};
	},
};

/** Makes it anew, in the place of what is there. As long as that is there, the manifest is tried under another name. */
export const renewing: Planner = {
	looks: true,
	writeOf({resource, namespace, object}) {
		const {resourceVersion: _version, uid: _uid, ...metadata} = object['metadata'] as JsonObject;
		return {method: 'POST', path: pathOf(resource, namespace), query, body: {...object, metadata}};
	},
	trialOf(write, live) {
		if (live === undefined) return write;
		const body = write.body as JsonObject;
		const {name, ...metadata} = body['metadata'] as JsonObject;
		return {...write, body: {...body, metadata: {...metadata, generateName: `${typeof name === 'string' ? name : ''}-`}}};
	},
};

const notFound = ({plural, group}: Prepared['resource'], name: string): AppError =>
	new AppError('ERR_NOT_FOUND', {resource: group === '' ? plural : `${plural}.${group}`, name});

/** Plans all objects and lets the server check each write without keeping it. */
export async function planAll(
	client: Client,
	all: readonly Prepared[],
	planner: Planner,
): Promise<{readonly planned: readonly Planned[]; readonly faults: readonly Fault[]}> {
	const created = new Set(all.filter(({resource}) => resource.kind === 'Namespace').map(({name}) => name));
	const asked = new Map<string, Promise<unknown>>();
	/** What is wrong with a namespace; each is asked for once, and only by who has something else to tell. */
	const wrongWith = (namespace: string): Promise<unknown> => {
		const answer = asked.get(namespace) ?? missingNamespace(client, namespace);
		asked.set(namespace, answer);
		return answer;
	};
	const outcomes = await Promise.all(
		all.map(async prepared => {
			const outcome = await plan(client, prepared, planner, created);
			if (!('faults' in outcome) || !prepared.resource.namespaced || created.has(prepared.namespace)) return outcome;
			const error = await wrongWith(prepared.namespace);
			const faults = error === undefined ? [] : locateFaults(error, prepared.document, prepared.renamed);
			return {faults: [...outcome.faults, ...faults]};
		}),
	);
	return {
		planned: outcomes.filter((outcome): outcome is Planned => !('faults' in outcome)),
		faults: outcomes.flatMap(outcome => ('faults' in outcome ? outcome.faults : [])),
	};
}

async function plan(
	client: Client,
	prepared: Prepared,
	planner: Planner,
	created: ReadonlySet<string>,
	tries: number = limits.changeTries,
): Promise<Planned | {faults: readonly Fault[]}> {
	const {document, renamed} = prepared;
	try {
		const live = planner.looks ? await liveOf(client, prepared) : undefined;
		const write = planner.writeOf(prepared, live);
		if (write === undefined) return {prepared, live, write, outcome: live};
		const {outcome, errors} = await tryOut(client, prepared, planner.trialOf?.(write, live) ?? write, created);
		if (errors.length === 0) return {prepared, live, write, outcome: named(outcome, prepared.name)};
		return {faults: errors.flatMap(error => locateFaults(error, document, renamed))};
	} catch (error) {
		const isOvertaken = error instanceof AppError && error.code === 'ERR_CONFLICT' && planner.looks && !isVersioned(prepared);
		if (isOvertaken && tries > 1) return plan(client, prepared, planner, created, tries - 1);
		return {faults: locateFaults(error, document, renamed)};
	}
}

/** What was tried under another name has its own. */
const named = (outcome: ApiObject | undefined, name: string): ApiObject | undefined =>
	outcome === undefined || name === '' ? outcome : {...outcome, metadata: {...outcome.metadata, name}};

/** The object as it is now, if there is one. */
export async function liveOf(client: Client, {resource, namespace, name}: Prepared): Promise<ApiObject | undefined> {
	if (!isDnsSubdomain(name)) return undefined; // Nothing can be called so; a person who tries to make it is told why.
	try {
		return (await client.json({path: pathOf(resource, namespace, name)})) as ApiObject;
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_NOT_FOUND') return undefined;
		throw error;
	}
}

/** The same write, which is checked and answered, and not kept. */
export const dryRun = (request: Request): Request => ({...request, query: {...request.query, dryRun: 'All'}});

type Tried = {readonly outcome: ApiObject | undefined; readonly errors: readonly unknown[]};

/**
 * An object of a namespace that is not there cannot be tried where it will be; everything but that is tried in `default`, where another
 * object may have its name. The namespace may be one that this very run creates.
 */
async function tryOut(client: Client, prepared: Prepared, write: Request, created: ReadonlySet<string>): Promise<Tried> {
	try {
		return {outcome: (await client.json(dryRun(write))) as ApiObject, errors: []};
	} catch (error) {
		if (!isMissingNamespace(error)) throw error;
		const elsewhere = await tryElsewhere(client, prepared, write);
		return created.has(prepared.namespace) ? elsewhere : {...elsewhere, errors: [await withNearest(client, error), ...elsewhere.errors]};
	}
}

async function tryElsewhere(client: Client, {resource, namespace, object}: Prepared, write: Request): Promise<Tried> {
	const moved = (to: JsonObject, where: string): JsonObject => ({...to, metadata: {...(to['metadata'] as JsonObject), namespace: where}});
	const body = moved(write.body as JsonObject, defaultNamespace);
	try {
		const outcome = (await client.json(dryRun({...write, path: pathOf(resource, defaultNamespace), body}))) as JsonObject;
		return {outcome: moved(outcome, namespace) as unknown as ApiObject, errors: []};
	} catch (error) {
		const isThere = error instanceof AppError && error.code === 'ERR_ALREADY_EXISTS';
		return {outcome: moved(object, namespace) as unknown as ApiObject, errors: isThere ? [] : [error]};
	}
}
