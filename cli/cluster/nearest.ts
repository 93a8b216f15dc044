// An object that was not found: where it is instead, or which one was meant.

import {findKind} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {shown} from '../../api/shown.js';
import {suggest} from '../../api/suggest.js';
import type {Client, Query} from '../client.js';
import type {List} from './lists.js';
import {pathOf, type Resource} from './resources.js';

/** What an error says is missing. */
type Missing = {readonly resource: Resource; readonly name: string; readonly namespace: string | undefined};

/** The same error; one about a missing object says what is near, if the cluster tells. */
export async function withNearest<Thrown>(client: Client, error: Thrown): Promise<Thrown> {
	const missing = error instanceof AppError && !told.has(error) ? missingOf(error) : undefined;
	if (!(error instanceof AppError) || missing === undefined) return error;
	told.add(error);
	const hint = await hintFor(client, missing).catch((): string => ''); // A login that may not list has the error as it is.
	error.message += hint;
	return error;
}

/** An error may pass here more than once on its way up. */
const told = new WeakSet<AppError>();

function missingOf({code, failure: {details}}: AppError): Missing | undefined {
	const {kind, group, name, path} = details;
	if (code !== 'ERR_NOT_FOUND' || typeof kind !== 'string' || typeof name !== 'string' || typeof path !== 'string') return undefined;
	const resource = findKind(typeof group === 'string' && group !== '' ? `${kind}.${group}` : kind);
	if (resource === undefined) return undefined;
	const [, inPath] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
	return {resource, name, namespace: resource.namespaced && inPath !== undefined ? decodeURIComponent(inPath) : undefined};
}

async function hintFor(client: Client, {resource, name, namespace}: Missing): Promise<string> {
	const namesOf = async (where: string | undefined, query: Query): Promise<readonly {name: string; namespace?: string}[]> =>
		((await client.json({path: pathOf(resource, where), query: {...query, limit: limits.nearNames}})) as List).items?.map(
			({metadata}) => metadata,
		) ?? [];
	const [here, elsewhere] = await Promise.all([
		namesOf(namespace, {}),
		namespace === undefined ? [] : namesOf(undefined, {fieldSelector: `metadata.name=${name}`}).catch(() => []),
	]);
	const [other] = elsewhere;
	if (other?.namespace !== undefined) return `; it is in namespace ${shown(other.namespace)}: -n ${other.namespace}`;
	const names = here.map(one => one.name);
	const near = nearestNames(name, names);
	return near.length === 0 ? '' : `; did you mean ${near.map(shown).join(' or ')}?`;
}

/** Names that were generated from this one, else the one most like it. */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
	if (name.length < shortestTypo) return [];
	const generatedFrom = (base: string) => names.filter(one => one.startsWith(`${base}-`)).slice(0, limits.nearNamesShown);
	const generated = generatedFrom(name);
	if (generated.length > 0) return generated;
	const bases = names.flatMap(one => (generatedName.test(one) ? [one.replace(generatedName, '')] : []));
	const near = suggest(name, [...names, ...bases]);
	if (near === undefined || near === name) return [];
	return names.includes(near) ? [near] : generatedFrom(near);
}

/** What a controller adds to its own name. */
const generatedName = /-[a-z0-9]{5}$/;

/** Any other name of one or two letters would be near. */
const shortestTypo = 3;
