// `troupe patch`: a patch as it is written goes to the cluster, which applies it to what is there.

import {deepEqual} from '../../api/equal.js';
import {readJsonPatch} from '../../api/json-patch.js';
import {limits} from '../../api/limits.js';
import {isObject, type ApiObject, type Json} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {parseYaml} from '../../server/http/yaml-body.js';
import {objectsNamed} from '../apply/named.js';
import {dryRunOf, reportOf, tellOfOne} from '../apply/written.js';
import type {Client} from '../client.js';
import {pathOf, type Resource} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import {type Flags, type Invocation, usageError} from '../command.js';
import {readFileAt, reasonOf} from '../files/bounded-file.js';
import type {NamedObject} from '../objects/chosen.js';

const contentTypes = {
	strategic: 'application/strategic-merge-patch+json',
	merge: 'application/merge-patch+json',
	json: 'application/json-patch+json',
} as const;

type PatchType = keyof typeof contentTypes;

/** As answers name the Scale of an object. */
const scale = {kind: 'Scale', group: 'autoscaling', version: 'v1', singular: 'scale'};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const written = await readPatch(flags);
	const isDryRun = dryRunOf(flags) !== undefined;
	return withClient(invocation, async client => {
		const chosen = await objectsNamed(invocation, client, inputs, 'patch which');
		if ('exitCode' in chosen) return chosen.exitCode;
		if (chosen.objects.length === 0) terminal.note('No resources found');
		const report = reportOf(terminal, flags, chosen.isOne);
		let exitCode = 0;
		for (const one of chosen.objects) {
			try {
				const {before, after} = await patch(client, one, written, flags, isDryRun);
				const shownAs = flags.text('subresource') === 'scale' ? {...one.resource, ...scale} : one.resource;
				report.say(shownAs, after, deepEqual(before, after) ? 'patched (no change)' : 'patched');
			} catch (error) {
				exitCode = Math.max(exitCode, await tellOfOne(client, error, terminal));
			}
		}
		await report.end();
		return exitCode;
	});
}

/** What is to be sent, of JSON or YAML. Throws ERR_USAGE for what is no patch of its type. */
async function readPatch(flags: Flags): Promise<Json> {
	const value = await parseYaml(await textOf(flags), 'the patch').catch((error: unknown) => {
		throw usageError(reasonOf(error));
	});
	if (flags.text('type') !== 'json') {
		if (isObject(value)) return value;
		throw usageError(
			`the patch must be an object, got ${shown(value)}${Array.isArray(value) ? '; a list of operations goes with --type json' : ''}`,
		);
	}
	const read = readJsonPatch(value);
	if (!read.ok) throw usageError(read.error.message);
	return value as Json;
}

async function textOf(flags: Flags): Promise<string> {
	const text = flags.text('patch');
	const file = flags.text('patch-file');
	if ((text === undefined) === (file === undefined))
		throw usageError(
			`give the patch ${text === undefined ? '' : 'only once, '}with -p or --patch-file, as in: troupe patch pod web -p '{"metadata":{"labels":{"a":"b"}}}'`,
		);
	if (file === undefined) return text ?? '';
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(await readFileAt(file, limits.requestBodyBytes));
	} catch (error) {
		throw usageError(`${file}: ${reasonOf(error)}`);
	}
}

/** What Kubernetes has no types of has no strategic patch. */
const typeFor = ({group}: Resource, flags: Flags): PatchType =>
	(flags.text('type') as PatchType | undefined) ?? (group === 'troupe.dev' ? 'merge' : 'strategic');

type Patched = {readonly before: ApiObject; readonly after: ApiObject};

async function patch(
	client: Client,
	{resource, namespace, name}: NamedObject,
	body: Json,
	flags: Flags,
	isDryRun: boolean,
): Promise<Patched> {
	const subresource = flags.text('subresource');
	if (subresource === 'scale' && !resource.scalable) throw usageError(`a ${resource.singular} has no replicas`);
	const path = pathOf(resource, namespace, name, subresource);
	const before = (await client.json({path})) as ApiObject;
	const query = {fieldManager: 'troupe', fieldValidation: 'Strict', ...(isDryRun ? {dryRun: 'All'} : {})};
	const contentType = contentTypes[typeFor(resource, flags)];
	return {before, after: (await client.json({method: 'PATCH', path, query, body, contentType})) as ApiObject};
}
