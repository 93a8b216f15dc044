// `troupe delete`: deletes, says so, and waits until what was deleted is gone.

import {qualifiedPlural} from '../../api/catalogue.js';
import {AppError, rowOf} from '../../api/errors.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {Client} from '../client.js';
import type {Flags, Invocation} from '../command.js';
import {listAll} from '../lists.js';
import {readManifests} from '../manifest-files.js';
import {pathOf, qualifiedSingular, readTargets, resourceOf, type Resource} from '../resources.js';
import {namespaceOf, withClient} from '../session.js';
import {isStatus} from '../status-error.js';
import type {Terminal} from '../terminal.js';
import {usageError} from '../usage.js';
import {deadlineOf, waitUntil, type Deadline} from '../wait.js';

type Victim = {readonly resource: Resource; readonly namespace: string; readonly name: string};
/** The uid of what is deleted but still there; undefined: it is gone. */
type Deleted = {readonly victim: Victim; readonly lingering: string | undefined};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, terminal} = invocation;
	const body = optionsOf(flags);
	const deadline = deadlineOf(flags.text('timeout'));
	return withClient(invocation, async client => {
		const victims = await victimsOf(invocation, client);
		if (victims.length === 0) terminal.note('No resources found');
		const outcomes = victims.map(victim => remove(client, victim, body));
		const deleted: Deleted[] = [];
		let exitCode = 0;
		for (const outcome of outcomes) {
			const result = await outcome;
			if (result instanceof AppError) exitCode = Math.max(exitCode, told(result, flags, terminal));
			else {
				terminal.out(
					`${qualifiedSingular(result.victim.resource)} "${result.victim.name}" ${flags.on('force') ? 'force deleted' : 'deleted'}\n`,
				);
				deleted.push(result);
			}
		}
		if (flags.given('wait') !== false) await untilGone(client, deleted, deadline);
		return exitCode;
	});
}

function optionsOf(flags: Flags): JsonObject {
	const grace = flags.number('grace-period');
	if (grace !== undefined && (!Number.isSafeInteger(grace) || grace < 0))
		throw usageError(`--grace-period must be a whole number of seconds, got ${grace}`);
	if (grace !== undefined && flags.on('now')) throw usageError('--now is --grace-period 1; give one of them');
	if (flags.on('force') && (grace ?? 0) > 0) throw usageError('--force removes at once; it goes with no --grace-period but 0');
	if (grace === 0 && !flags.on('force'))
		throw usageError('--grace-period 0 removes the record while the program may still run; add --force if that is meant');
	const seconds = flags.on('force') ? 0 : flags.on('now') ? 1 : grace;
	const cascade = flags.text('cascade') ?? 'background';
	return {
		propagationPolicy: cascade.charAt(0).toUpperCase() + cascade.slice(1),
		...(seconds === undefined ? {} : {gracePeriodSeconds: seconds}),
	};
}

async function victimsOf(invocation: Invocation, client: Client): Promise<readonly Victim[]> {
	const {flags, inputs} = invocation;
	const files = flags.texts('filename');
	const namespace = namespaceOf(invocation, client);
	if (files.length > 0) {
		if (inputs.length > 0 || flags.on('all') || flags.text('selector') !== undefined)
			throw usageError('-f names the objects; give nothing beside it');
		return ofFiles(invocation, namespace);
	}
	const targets = readTargets(inputs);
	const selector = flags.text('selector');
	const found = await Promise.all(
		targets.map(async ({resource, names}) => {
			if (names.length > 0) {
				if (flags.on('all') || selector !== undefined) throw usageError('names, --all and -l each say which objects; give one of them');
				return names.map(name => ({resource, namespace, name}));
			}
			if (!flags.on('all') && selector === undefined) throw usageError(`which ${resource.plural}? give names, -l, or --all`);
			const objects = await listAll(client, resource, namespace, {labelSelector: selector});
			return objects.map(({metadata}) => ({resource, namespace: metadata.namespace ?? namespace, name: metadata.name}));
		}),
	);
	return found.flat();
}

/** What the files name; they need not be valid any more to be deleted. */
async function ofFiles({flags, terminal}: Invocation, namespace: string): Promise<readonly Victim[]> {
	const documents = await readManifests(flags.texts('filename'), terminal.input);
	return documents.map(({value, locate}) => {
		const metadata = (value['metadata'] ?? {}) as {readonly name?: unknown; readonly namespace?: unknown};
		if (typeof metadata.name !== 'string') throw usageError(`${locate('metadata.name')}: metadata.name: is required to delete the object`);
		const own = typeof metadata.namespace === 'string' ? metadata.namespace : undefined;
		return {resource: resourceOf(typeof value['kind'] === 'string' ? value['kind'] : ''), namespace: own ?? namespace, name: metadata.name};
	});
}

async function remove(client: Client, victim: Victim, body: JsonObject): Promise<Deleted | AppError> {
	try {
		const answer = await client.json({method: 'DELETE', path: pathOf(victim.resource, victim.namespace, victim.name), body});
		return {victim, lingering: isStatus(answer) ? undefined : (answer as ApiObject).metadata.uid};
	} catch (error) {
		if (error instanceof AppError) return error;
		throw error;
	}
}

function told(error: AppError, flags: Flags, terminal: Terminal): number {
	const {exitCode} = rowOf(error.code);
	if (exitCode === 5) throw error;
	if (error.code === 'ERR_NOT_FOUND' && flags.on('ignore-not-found')) return 0;
	terminal.error(error.message);
	return exitCode;
}

/** One watch for each kind and namespace, however many objects are awaited there. */
async function untilGone(client: Client, deleted: readonly Deleted[], deadline: Deadline): Promise<void> {
	const byPlace = new Map<string, {victim: Victim; uids: string[]; names: string[]}>();
	for (const {victim, lingering} of deleted) {
		if (lingering === undefined) continue;
		const place = pathOf(victim.resource, victim.namespace);
		const group = byPlace.get(place) ?? {victim, uids: [], names: []};
		byPlace.set(place, {...group, uids: [...group.uids, lingering], names: [...group.names, victim.name]});
	}
	await Promise.all(
		[...byPlace.values()].map(({victim: {resource, namespace}, uids, names}) =>
			waitUntil(
				client,
				{
					resource,
					namespace,
					query: names.length === 1 ? {fieldSelector: `metadata.name=${names[0] ?? ''}`} : {},
					isDone: objects => uids.every(uid => !objects.has(uid)),
					what: `${qualifiedPlural(resource)} ${names.join(', ')} to be gone`,
				},
				deadline,
			),
		),
	);
}
