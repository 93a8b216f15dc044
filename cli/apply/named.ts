// Objects that are chosen by words and flags, or named by the files of `-f`.

import {kindRead} from '../../api/dialects/normalise.js';
import {AppError} from '../../api/errors.js';
import {isObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {type Invocation, usageError} from '../command.js';
import {resourceOf} from '../cluster/resources.js';
import {namespaceOf} from '../cluster/session.js';
import {tellFaults, type Fault} from '../manifests/faults.js';
import type {ManifestDocument} from '../manifests/manifest.js';
import {chosenObjects, type ChosenObjects, type NamedObject} from '../objects/chosen.js';
import {filesOf} from './check.js';
import {otherNamespace, type Where} from './prepare.js';

/** The objects, or the exit code of what is wrong with the files, which was told. */
export type Chosen = ChosenObjects | {readonly exitCode: number};

/** What `-f` names, else what the words choose. Throws ERR_USAGE where both do, or nothing does. */
export async function objectsNamed(invocation: Invocation, client: Client, words: readonly string[], asking = 'which'): Promise<Chosen> {
	const {flags} = invocation;
	if (flags.texts('filename').length === 0) return chosenObjects(invocation, client, words, asking);
	if (words.length > 0 || flags.on('all') || flags.text('selector') !== undefined || flags.on('all-namespaces'))
		throw usageError('-f names the objects; give nothing beside it');
	return ofFiles(invocation, namespaceOf(invocation, client));
}

/** What the files name; they need not be valid any more. */
async function ofFiles(invocation: Invocation, namespace: string): Promise<Chosen> {
	const manifests = await filesOf(invocation);
	const isDemanded = invocation.flags.text('namespace') !== undefined;
	const named = manifests.documents.map(document => namedBy(document, {namespace, isDemanded}));
	const faults = [...manifests.faults, ...named.flatMap(one => ('message' in one ? [one] : []))];
	if (faults.length > 0) return {exitCode: tellFaults(invocation.terminal, faults, manifests.files)};
	return {objects: named.flatMap(one => ('message' in one ? [] : [one])), isOne: named.length === 1};
}

function namedBy({value, locate}: ManifestDocument, {namespace, isDemanded}: Where): NamedObject | Fault {
	const fault = (field: string, message: string): Fault => ({place: locate(field), message: `${field}: ${message}`, code: 'ERR_INVALID'});
	const {kind, metadata} = value;
	const {name, namespace: own} = isObject(metadata) ? metadata : {};
	if (typeof name !== 'string') return fault('metadata.name', 'is required: the object is found by its name');
	try {
		// An older dialect's word may be that of another kind now.
		const resource = kindRead(value) ?? resourceOf(typeof kind === 'string' ? kind : '');
		const named = typeof own === 'string' && own !== '' ? own : namespace;
		if (resource.namespaced && isDemanded && named !== namespace) return fault('metadata.namespace', otherNamespace(named, namespace));
		return {resource, namespace: named, name};
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return fault('kind', error.message);
	}
}
