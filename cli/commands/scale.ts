// `troupe scale`: how many replicas there should be; with --wait, until they are ready.

import {rowOf, AppError} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {getOne} from '../lists.js';
import {displayName, pathOf, readTargets, type Resource} from '../resources.js';
import {namespaceOf, withClient} from '../session.js';
import {failedError, usageError} from '../usage.js';
import {deadlineOf, waitUntil, type Deadline} from '../wait.js';

type Scaled = {readonly resource: Resource; readonly name: string; readonly namespace: string; readonly replicas: number};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const replicas = flags.number('replicas');
	if (replicas === undefined) throw usageError('--replicas is missing, as in: troupe scale rs/hello --replicas 5');
	if (!Number.isSafeInteger(replicas) || replicas < 0) throw usageError(`--replicas must be a whole number from 0 on, got ${replicas}`);
	const wanted = readTargets(inputs).flatMap(({resource, names}) => names.map(name => ({resource, name})));
	if (wanted.length === 0) throw usageError('scale needs a name, as in: troupe scale rs/hello --replicas 5');
	for (const {resource} of wanted)
		if (!resource.scalable) throw usageError(`a ${resource.singular} has no replicas; scale the object that makes it`);
	const deadline = deadlineOf(flags.text('timeout'));
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		let exitCode = 0;
		for (const {resource, name} of wanted) {
			try {
				await scale(client, {resource, name, namespace, replicas});
				terminal.out(`${displayName(resource, name)} scaled\n`);
				if (flags.on('wait')) await untilReady(client, {resource, name, namespace, replicas}, deadline);
			} catch (error) {
				if (!(error instanceof AppError) || rowOf(error.code).exitCode === 5) throw error;
				terminal.error(error.message);
				exitCode = Math.max(exitCode, rowOf(error.code).exitCode);
			}
		}
		return exitCode;
	});
}

const scale = (client: Client, {resource, name, namespace, replicas}: Scaled): Promise<unknown> =>
	client.json({
		method: 'PATCH',
		path: pathOf(resource, namespace, name, 'scale'),
		body: {spec: {replicas}},
		contentType: 'application/merge-patch+json',
	});

type ReplicaStatus = {readonly replicas?: number; readonly readyReplicas?: number; readonly observedGeneration?: number};

/** Ready, counted by the controller itself after it saw this very spec; surplus ones gone. */
async function untilReady(client: Client, {resource, name, namespace, replicas}: Scaled, deadline: Deadline): Promise<void> {
	const {metadata} = await getOne(client, resource, namespace, name);
	await waitUntil(
		client,
		{
			resource,
			namespace,
			query: {fieldSelector: `metadata.name=${name}`},
			isDone: objects => isReady(objects.get(metadata.uid), metadata.generation, replicas),
			what: `${replicas} replicas of ${displayName(resource, name)} to be ready`,
		},
		deadline,
	);
}

/** An object that is gone will never be ready: that ends the wait. */
function isReady(object: ApiObject | undefined, generation: number, replicas: number): boolean {
	if (object === undefined) throw failedError('the object was deleted while it was waited for');
	const status = (object.status ?? {}) as ReplicaStatus;
	return (status.observedGeneration ?? 0) >= generation && (status.readyReplicas ?? 0) === replicas && (status.replicas ?? 0) === replicas;
}
