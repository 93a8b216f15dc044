// `create namespace|configmap|secret|job|cronjob NAME`: the object that the words stand for.

import {configMap} from '../../api/kinds/configmap.js';
import {cronJob} from '../../api/kinds/cronjob.js';
import {job} from '../../api/kinds/job.js';
import {namespace} from '../../api/kinds/namespace.js';
import {secret} from '../../api/kinds/secret.js';
import {apiVersionOf} from '../../api/catalogue.js';
import type {JsonObject} from '../../api/object.js';
import {type Flags, usageError} from '../command.js';
import {resourceOf, type Resource} from '../cluster/resources.js';
import {readEntries, textOf, type Entry} from './data.js';
import {cronJobSpecOf, jobSpecOf} from './job.js';
import {givenLoginFlags, registryLoginOf} from './registry-login.js';
import {givenTlsFlags, tlsSecretOf} from './tls-secret.js';

/** What the words of a kind stand for, its name aside; `program` is what comes after `--`. */
type Maker = (flags: Flags, name: string, program: readonly string[]) => Promise<JsonObject>;

const makers: {readonly [kind: string]: Maker} = {
	[namespace.kind]: () => Promise.resolve({}),
	[configMap.kind]: async flags => configOf(await readEntries(flags)),
	[secret.kind]: async flags => secretOf(await readEntries(flags), flags),
	[job.kind]: (flags, name, program) => Promise.resolve({spec: jobSpecOf(name, flags, program)}),
	[cronJob.kind]: (flags, name, program) => Promise.resolve({spec: cronJobSpecOf(name, flags, program)}),
};

/** The object, without its namespace. Throws ERR_USAGE. */
export async function objectByName(
	inputs: readonly string[],
	program: readonly string[],
	flags: Flags,
): Promise<{resource: Resource; object: JsonObject}> {
	const [word = '', ...rest] = inputs;
	const [kind = '', inWord] = word.split('/');
	const resource = resourceOf(kind);
	const make = makers[resource.kind];
	if (make === undefined)
		throw usageError(
			`a ${resource.singular} is made from a file, as in: troupe create -f ${resource.singular}.yaml; by name there are namespace, configmap, secret, job and cronjob`,
		);
	const sort = resource.kind === secret.kind && secretSorts.includes(rest[0] ?? '') ? rest[0] : undefined;
	const names = [...(inWord === undefined ? [] : [inWord]), ...(sort === undefined ? rest : rest.slice(1))];
	const [name = '', ...more] = names;
	const command = [resource.singular, ...(sort === undefined ? [] : [sort])].join(' ');
	if (name === '') throw usageError(`create ${command} needs a name, as in: troupe create ${command} NAME`);
	if (more.length > 0) throw usageError(`create makes one ${resource.singular}; got the names ${names.join(', ')}`);
	checkFlags(resource, flags, program);
	for (const [of, given] of [
		[registrySort, givenLoginFlags(flags)],
		[tlsSort, givenTlsFlags(flags)],
	] as const)
		if (sort !== of && given.length > 0) throw usageError(`--${given.join(' and --')}: of create secret ${of}`);
	const made = await (sort === registrySort
		? typed(registryLoginOf(flags))
		: sort === tlsSort
			? typed(tlsSecretOf(flags))
			: make(flags, name, program));
	return {resource, object: {apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: {name}, ...made}};
}

/** kubectl's words for what a secret is: one of no special type, a registry's login, and a certificate. */
const registrySort = 'docker-registry';
const tlsSort = 'tls';
const secretSorts: readonly string[] = ['generic', registrySort, tlsSort];

/** Flags that make sense for some kinds alone. */
const flagsOf: readonly (readonly [flag: string, kinds: readonly string[], what: string])[] = [
	['type', [secret.kind], 'secrets'],
	['image', [job.kind, cronJob.kind], 'jobs and cronjobs'],
	['from', [job.kind], 'jobs'],
	['schedule', [cronJob.kind], 'cronjobs'],
	['restart', [cronJob.kind], 'cronjobs'],
];

function checkFlags({kind, singular}: Resource, flags: Flags, program: readonly string[]): void {
	for (const [flag, kinds, what] of flagsOf)
		if (flags.text(flag) !== undefined && !kinds.includes(kind)) throw usageError(`--${flag} is of ${what}`);
	const runs = kind === job.kind || kind === cronJob.kind;
	if (program.length > 0 && !runs) throw usageError(`a ${singular} runs nothing; leave out what comes after --`);
	const given = ['from-literal', 'from-file', 'from-env-file'].filter(flag => flags.texts(flag).length > 0);
	if (given.length > 0 && kind !== configMap.kind && kind !== secret.kind)
		throw usageError(`a ${singular} has no values; leave out --${given.join(' and --')}`);
}

/** Text as itself, all other bytes in base64. */
function configOf(entries: readonly Entry[]): JsonObject {
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

async function typed(secret: Promise<{readonly type: string; readonly entries: readonly Entry[]}>): Promise<JsonObject> {
	const {type, entries} = await secret;
	return {type, data: inBase64(entries)};
}

const inBase64 = (entries: readonly Entry[]): JsonObject =>
	Object.fromEntries(entries.map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]));
