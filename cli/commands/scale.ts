// `troupe scale`: how many replicas there should be; with --wait, until they are ready.

import {AppError} from '../../api/errors.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {dryRunOf, reportOf, tellOfOne} from '../apply/written.js';
import {changeObject} from '../cluster/changes.js';
import type {Client} from '../client.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {getOne} from '../cluster/lists.js';
import {withProgress} from '../screen/progress.js';
import {displayName, pathOf, readTargets} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import type {Terminal} from '../screen/terminal.js';
import type {NamedObject} from '../objects/chosen.js';
import {deadlineOf, waitUntil, type Deadline, type Wanted} from '../objects/wait.js';

type Scaled = NamedObject & {readonly replicas: number};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const replicas = flags.number('replicas');
	if (replicas === undefined) throw usageError('--replicas is missing, as in: troupe scale rs/hello --replicas 5');
	if (!Number.isSafeInteger(replicas) || replicas < 0) throw usageError(`--replicas must be a whole number from 0 on, got ${replicas}`);
	const wanted = readTargets(inputs).flatMap(({resource, names}) => names.map(name => ({resource, name})));
	if (wanted.length === 0) throw usageError('scale needs a name, as in: troupe scale rs/hello --replicas 5');
	for (const {resource} of wanted)
		if (!resource.scalable)
			throw usageError(`a ${resource.singular} has no replicas${resource.kind === 'Pod' ? '; scale the object that makes it' : ''}`);
	const current = flags.number('current-replicas');
	if (current !== undefined && (!Number.isSafeInteger(current) || current < 0))
		throw usageError(`--current-replicas must be a whole number from 0 on, got ${current}`);
	const dryRun = dryRunOf(flags);
	const how = {current, dryRun, isWhole: flags.text('output') === 'json' || flags.text('output') === 'yaml'};
	const deadline = deadlineOf(flags.text('timeout'));
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const report = reportOf(terminal, flags, wanted.length === 1);
		let exitCode = 0;
		for (const {resource, name} of wanted) {
			try {
				const one = {resource, name, namespace, replicas};
				report.say(resource, await scale(client, one, how), 'scaled');
				if (flags.on('wait') && dryRun === undefined) await untilReady(client, one, deadline, terminal);
			} catch (error) {
				exitCode = Math.max(exitCode, await tellOfOne(client, error, terminal));
			}
		}
		await report.end();
		return exitCode;
	});
}

type How = {
	/** So many there must be now. */
	readonly current: number | undefined;
	readonly dryRun: 'client' | 'server' | undefined;
	/** Whether the object is wanted, not just its name. */
	readonly isWhole: boolean;
};

/** The object as it is then. What it must have now is looked at, and made sure of, in the same breath. */
async function scale(client: Client, one: Scaled, {current, dryRun, isWhole}: How): Promise<ApiObject> {
	const patchOf = (live: ApiObject): JsonObject | undefined => {
		const now = (live.spec as {readonly replicas?: number} | undefined)?.replicas ?? 1;
		if (current === undefined || current === now)
			return dryRun === 'client' || now === one.replicas ? undefined : {spec: {replicas: one.replicas}};
		const error = new AppError('ERR_CONFLICT', {resource: one.resource.plural, name: one.name});
		error.message = `${displayName(one.resource, one.name)} has ${now} replicas, not ${current}`;
		throw error;
	};
	if (current !== undefined || dryRun !== undefined) return (await changeObject(client, one, patchOf, dryRun !== undefined)).object;
	const {resource, name, namespace, replicas} = one;
	const answer = await client.json({
		method: 'PATCH',
		path: pathOf(resource, namespace, name, 'scale'),
		body: {spec: {replicas}},
		contentType: 'application/merge-patch+json',
	});
	return isWhole ? getOne(client, resource, namespace, name) : (answer as ApiObject);
}

type ReplicaStatus = {readonly replicas?: number; readonly readyReplicas?: number; readonly observedGeneration?: number};

/** Ready, counted by the controller itself after it saw this very spec; surplus ones gone. */
async function untilReady(
	client: Client,
	{resource, name, namespace, replicas}: Scaled,
	deadline: Deadline,
	terminal: Terminal,
): Promise<void> {
	const {metadata} = await getOne(client, resource, namespace, name);
	const what = `${replicas} replicas of ${displayName(resource, name)} to be ready`;
	const query = {fieldSelector: `metadata.name=${name}`};
	await withProgress(terminal, `waiting for ${what}`, progress => {
		const isDone: Wanted['isDone'] = objects => {
			const object = objects.get(metadata.uid);
			progress.show(`waiting for ${what}: ${statusOf(object).readyReplicas ?? 0} are`);
			return isReady(object, metadata.generation, replicas);
		};
		return waitUntil(client, {resource, namespace, query, isDone, what}, deadline);
	});
}

const statusOf = (object: ApiObject | undefined): ReplicaStatus => object?.status ?? {};

/** An object that is gone will never be ready: that ends the wait. */
function isReady(object: ApiObject | undefined, generation: number, replicas: number): boolean {
	if (object === undefined) throw failedError('the object was deleted while it was waited for');
	const status = statusOf(object);
	return (status.observedGeneration ?? 0) >= generation && (status.readyReplicas ?? 0) === replicas && (status.replicas ?? 0) === replicas;
}
