// `create namespace|configmap|secret NAME`: the object that the words stand for.

import {configMap} from '../../api/kinds/configmap.js';
import {namespace} from '../../api/kinds/namespace.js';
import {secret} from '../../api/kinds/secret.js';
import {apiVersionOf} from '../../api/catalogue.js';
import type {JsonObject} from '../../api/object.js';
import {type Flags, usageError} from '../command.js';
import {resourceOf, type Resource} from '../cluster/resources.js';
import {readEntries, textOf, type Entry} from './data.js';

const makers: {readonly [kind: string]: (flags: Flags) => Promise<JsonObject>} = {
	[namespace.kind]: flags => Promise.resolve(nothingFrom(flags)),
	[configMap.kind]: async flags => configOf(await readEntries(flags), flags),
	[secret.kind]: async flags => secretOf(await readEntries(flags), flags),
};

/** The object, without its namespace. Throws ERR_USAGE. */
export async function objectByName(inputs: readonly string[], flags: Flags): Promise<{resource: Resource; object: JsonObject}> {
	const [word = '', ...rest] = inputs;
	const [kind = '', inWord] = word.split('/');
	const resource = resourceOf(kind);
	const make = makers[resource.kind];
	if (make === undefined)
		throw usageError(
			`a ${resource.singular} is made from a file, as in: troupe create -f ${resource.singular}.yaml; by name there are namespace, configmap and secret`,
		);
	// kubectl's spelling of a secret that is of no special type.
	const names = [
		...(inWord === undefined ? [] : [inWord]),
		...(resource.kind === secret.kind && rest[0] === 'generic' ? rest.slice(1) : rest),
	];
	const [name = '', ...more] = names;
	if (name === '') throw usageError(`create ${resource.singular} needs a name, as in: troupe create ${resource.singular} NAME`);
	if (more.length > 0) throw usageError(`create makes one ${resource.singular}; got the names ${names.join(', ')}`);
	return {resource, object: {apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: {name}, ...(await make(flags))}};
}

function nothingFrom(flags: Flags): JsonObject {
	const given = ['from-literal', 'from-file', 'from-env-file'].filter(flag => flags.texts(flag).length > 0);
	if (given.length > 0) throw usageError(`a namespace has no values; leave out --${given.join(' and --')}`);
	noType(flags);
	return {};
}

/** Text as itself, all other bytes in base64. */
function configOf(entries: readonly Entry[], flags: Flags): JsonObject {
	noType(flags);
	const texts = entries.flatMap(([key, bytes]): [string, string][] => {
		const text = textOf(bytes);
		return text === undefined ? [] : [[key, text]];
	});
	const others = entries.filter(([, bytes]) => textOf(bytes) === undefined);
	return {
		...(texts.length === 0 ? {} : {data: Object.fromEntries(texts)}),
		...(others.length === 0 ? {} : {binaryData: inBase64(others)}),
	};
}

const secretOf = (entries: readonly Entry[], flags: Flags): JsonObject => ({
	type: flags.text('type') ?? 'Opaque',
	...(entries.length === 0 ? {} : {data: inBase64(entries)}),
});

const inBase64 = (entries: readonly Entry[]): JsonObject =>
	Object.fromEntries(entries.map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]));

function noType(flags: Flags): void {
	if (flags.text('type') !== undefined) throw usageError('--type is of secrets');
}
