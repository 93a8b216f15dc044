// `troupe config`: settings of the running cluster, kept in the object ClusterConfig/cluster.

import {none} from '../../api/columns/common.js';
import {AppError} from '../../api/errors.js';
import {clusterConfigName, withDefaults, type ClusterConfig} from '../../api/kinds/clusterconfig.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {didYouMean} from '../../api/suggest.js';
import type {Client} from '../client.js';
import {type Invocation, usageError} from '../command.js';
import {getOne} from '../cluster/lists.js';
import {printedWhole} from '../objects/output.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import {causesOf} from '../cluster/status-error.js';

const verbs = ['get', 'set'];

export async function run(invocation: Invocation): Promise<number> {
	const [verb = '', key, value, ...more] = invocation.inputs;
	if (!verbs.includes(verb))
		throw usageError(
			verb === '' ? 'config get or config set? as in: troupe config get' : `unknown verb "${verb}" of config${didYouMean(verb, verbs)}`,
		);
	if (verb === 'set' && (key === undefined || value === undefined || more.length > 0))
		throw usageError('set takes a key and a value, as in: troupe config set scheduler.strategy round-robin');
	if (verb === 'get' && value !== undefined) throw usageError('get takes one key, or none for all');
	return withClient(invocation, client =>
		key !== undefined && value !== undefined ? set(client, key, value, invocation) : get(client, key, invocation),
	);
}

const resource = () => resourceOf('ClusterConfig');

async function get(client: Client, key: string | undefined, invocation: Invocation): Promise<number> {
	const object = (await getOne(client, resource(), '', clusterConfigName)) as ClusterConfig;
	// One of before there was a setting does not have it.
	const spec = withDefaults(object.spec ?? {});
	const settings = leavesOf(spec, '');
	const found = settings.find(([path]) => path === key);
	if (key !== undefined && found === undefined) throw notSet(key, settings);
	if (await printedWhole(invocation, found === undefined ? spec : found[1])) return 0;
	const lines = found === undefined ? settings.map(([path, value]) => `${path} ${textOf(value)}`) : [textOf(found[1])];
	invocation.terminal.out(lines.map(line => `${line}\n`).join(''));
	return 0;
}

function notSet(key: string, settings: readonly (readonly [string, Json])[]): AppError {
	const error = new AppError('ERR_NOT_FOUND', {resource: 'settings', name: key});
	const known = settings.map(([path]) => path);
	error.message += didYouMean(key, known);
	return error;
}

async function set(client: Client, key: string, value: string, {terminal}: Invocation): Promise<number> {
	const keys = key.split('.');
	if (keys.some(part => part === '')) throw usageError(`"${key}" must be names with dots between them, such as scheduler.strategy`);
	const patch = keys.reduceRight<Json>((inner, part) => ({[part]: inner}), isList(key) ? listOf(value) : scalarOf(value));
	try {
		await client.json({
			method: 'PATCH',
			path: pathOf(resource(), '', clusterConfigName),
			body: {spec: patch},
			contentType: 'application/merge-patch+json',
		});
	} catch (error) {
		throw error instanceof AppError ? inWordsOfTheKey(error) : error;
	}
	terminal.out(`${key} ${value}\n`);
	return 0;
}

/** The people who type a key do not think of `spec.`. */
function inWordsOfTheKey(error: AppError): AppError {
	const lines = causesOf(error).map(({field, message}) => `${field.replace(/^spec\./, '')}: ${message}`);
	if (lines.length > 0) error.message = lines.join('\n');
	return error;
}

/** Whether a setting is a list: of those there is an empty one where nothing was set. */
const isList = (key: string): boolean => leavesOf(withDefaults({}), '').some(([path, value]) => path === key && Array.isArray(value));

/** With commas between them, and nothing for none. */
const listOf = (text: string): readonly string[] =>
	text
		.split(',')
		.map(each => each.trim())
		.filter(each => each !== '');

/** `3`, `true` and `null` are what they look like, everything else is text. */
function scalarOf(text: string): Json {
	if (text === 'true' || text === 'false') return text === 'true';
	if (text === 'null') return null;
	return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function leavesOf(object: JsonObject, base: string): [string, Json][] {
	return Object.entries(object).flatMap(([key, value]): [string, Json][] => {
		const path = base === '' ? key : `${base}.${key}`;
		if (value === undefined || value === null) return [];
		return isObject(value) ? leavesOf(value, path) : [[path, value]];
	});
}

function textOf(value: Json): string {
	if (Array.isArray(value)) return value.length === 0 ? none : value.join(',');
	return typeof value === 'string' ? value : shown(value);
}
