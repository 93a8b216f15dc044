// Documents become objects in the canonical form, each with the place it goes to. Nothing is written here.

import type {Renamed} from '../../api/dialects/rewrite.js';
import {AppError} from '../../api/errors.js';
import {secret, withStringData} from '../../api/kinds/secret.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {isDnsLabel} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import type {Client} from '../client.js';
import {placeText, type Fault} from '../manifests/faults.js';
import type {ManifestDocument} from '../manifests/manifest.js';
import {displayName, resourceOf, type Resource} from '../cluster/resources.js';
import {causesOf} from '../cluster/status-error.js';
import {locateFaults} from './located.js';
import type {Normalised, Reader} from './check-here.js';

/** One object of a manifest, ready to be compared with what is there. */
export type Prepared = {
	readonly document: ManifestDocument;
	readonly resource: Resource;
	readonly namespace: string;
	/** Empty where the cluster is to make one up. */
	readonly name: string;
	readonly object: JsonObject;
	/** What the normaliser says about another dialect. */
	readonly notes: readonly string[];
	readonly renamed: readonly Renamed[];
};

export type Where = {
	/** Where objects go that name no namespace. */
	readonly namespace: string;
	/** Given by `-n`: objects that name another one are refused. */
	readonly isDemanded: boolean;
	/** Whether `generateName` will do, too. */
	readonly mayGenerate?: boolean;
};

/** The cluster reads it. */
export const readBy =
	(client: Client): Reader =>
	async document =>
		(await client.json({method: 'POST', path: '/troupe/v1/normalise', body: document})) as Normalised;

/** What documents became, and what is wrong with those that became nothing. */
export type PreparedAll = {readonly prepared: readonly Prepared[]; readonly faults: readonly Fault[]};

/** Prepares all documents. */
export async function prepareAll(reader: Reader, documents: readonly ManifestDocument[], where: Where): Promise<PreparedAll> {
	const outcomes = await Promise.all(documents.map(document => prepare(reader, document, where)));
	const prepared = outcomes.filter(outcome => 'resource' in outcome);
	return {prepared, faults: [...outcomes.flatMap(outcome => ('resource' in outcome ? [] : outcome.faults)), ...duplicates(prepared)]};
}

async function prepare(reader: Reader, document: ManifestDocument, where: Where): Promise<Prepared | {faults: readonly Fault[]}> {
	try {
		return await placed(document, await reader(document.value), where);
	} catch (error) {
		return {faults: locateFaults(error, document, [])};
	}
}

async function placed(document: ManifestDocument, {object, notes = [], renamed = []}: Normalised, where: Where): Promise<Prepared> {
	const {status: _status, ...given} = object; // Status is the cluster's to write; what a file says about it is never sent.
	// Of a Secret the cluster shows `data` alone: so that what was applied can be compared with what is there.
	const rest = given['kind'] === secret.kind ? withStringData(given) : given;
	const metadata = (object['metadata'] ?? {}) as {readonly name?: unknown; readonly generateName?: unknown; readonly namespace?: unknown};
	const resource = resourceOf(typeof object['kind'] === 'string' ? object['kind'] : '');
	const named = typeof metadata.namespace === 'string' ? metadata.namespace : undefined;
	const refuse = (field: string, message: string) => {
		throw new AppError('ERR_INVALID', {message, causes: [{field, message, reason: 'FieldValueRequired'}]});
	};
	const generates = where.mayGenerate === true && metadata.name === undefined && metadata.generateName !== undefined;
	if (!generates && (typeof metadata.name !== 'string' || metadata.name === '')) throw await nameless(rest, metadata.name);
	if (resource.namespaced && named !== undefined && named !== '' && !isDnsLabel(named))
		refuse('metadata.namespace', `must be lower-case letters, digits and "-", at most 63 characters, got ${shown(named)}`);
	if (resource.namespaced && named !== undefined && where.isDemanded && named !== where.namespace)
		refuse('metadata.namespace', otherNamespace(named, where.namespace));
	return {
		document,
		resource,
		namespace: named === undefined || named === '' ? where.namespace : named,
		name: typeof metadata.name === 'string' ? metadata.name : '',
		object: rest,
		notes,
		renamed,
	};
}

/** No cluster can be asked about an object without a name: what else is wrong with it is found here. */
async function nameless(object: JsonObject, name: unknown): Promise<AppError> {
	const {checkHereAlone} = await import('./check-here.js');
	const field = 'metadata.name';
	const found = causesOf(errorOf(() => checkHereAlone(object)));
	const metadata = object['metadata'] ?? undefined;
	if (metadata !== undefined && !isObject(metadata)) return new AppError('ERR_INVALID', {causes: found});
	const isOutside = 'name' in object;
	const hint = isOutside ? '; "name" stands too far to the left' : '';
	const told = found.filter(cause => cause.field === field);
	const mine = {field, message: `is required: the object is found by its name${hint}`, reason: 'FieldValueRequired'};
	const isMissing = name === undefined || name === null || name === '' || told.length === 0;
	// Said in other words already: that there is no metadata, and that the name is no field where it stands.
	const said = new Set([field, ...(metadata === undefined ? ['metadata'] : []), ...(isOutside ? ['name'] : [])]);
	const causes = [...(isMissing ? [mine] : told), ...found.filter(cause => !said.has(cause.field ?? ''))];
	return new AppError('ERR_INVALID', {message: mine.message, causes});
}

function errorOf(check: () => void): AppError {
	try {
		check();
	} catch (error) {
		if (error instanceof AppError) return error;
		throw error;
	}
	return new AppError('ERR_INVALID', {});
}

/** What is wrong with an object of one namespace where `-n` names another. */
export const otherNamespace = (named: string, demanded: string): string =>
	`is ${JSON.stringify(named)}, but -n says ${JSON.stringify(demanded)}`;

/** The same object twice would be applied twice, and the second would win without a word. */
function duplicates(prepared: readonly Prepared[]): readonly Fault[] {
	const first = new Map<string, Prepared>();
	return prepared.flatMap((one): readonly Fault[] => {
		if (one.name === '') return [];
		const key = [one.resource.plural, one.resource.namespaced ? one.namespace : '', one.name].join('/');
		const before = first.get(key);
		if (before === undefined) {
			first.set(key, one);
			return [];
		}
		const message = `${displayName(one.resource, one.name)} is given twice, first in ${placeText(before.document.locate('metadata.name'))}`;
		return [{place: one.document.locate('metadata.name'), message, code: 'ERR_INVALID'}];
	});
}
