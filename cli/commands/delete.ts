// `troupe delete`: deletes, says so, and waits until what was deleted is gone.

import {apiVersionOf, qualifiedPlural} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {objectsNamed} from '../apply/named.js';
import {dryRunOf, reportOf, tellOfOne} from '../apply/written.js';
import type {Client} from '../client.js';
import {asAppError, type Flags, type Invocation, usageError} from '../command.js';
import {getOne} from '../cluster/lists.js';
import {withProgress} from '../screen/progress.js';
import {pathOf, qualifiedSingular} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import {isStatus} from '../cluster/status-error.js';
import type {NamedObject} from '../objects/chosen.js';
import type {Terminal} from '../screen/terminal.js';
import {deadlineOf, waitUntil, type Deadline} from '../objects/wait.js';

type Deleted = {
	readonly victim: NamedObject;
	readonly uid: string | undefined;
	/** Whether it is still there. */
	readonly lingers: boolean;
};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, terminal} = invocation;
	const dryRun = dryRunOf(flags);
	const body = {...optionsOf(flags), ...(dryRun === undefined ? {} : {dryRun: ['All']})};
	const deadline = deadlineOf(flags.text('timeout'));
	return withClient(invocation, async client => {
		const chosen = await objectsNamed(invocation, client, invocation.inputs);
		if ('exitCode' in chosen) return chosen.exitCode;
		const {objects, isOne} = chosen;
		if (objects.length === 0) terminal.note('No resources found');
		const report = reportOf(terminal, flags, isOne, (resource, name, what) => `${qualifiedSingular(resource)} "${name}" ${what}`);
		const deleted: Deleted[] = [];
		let exitCode = 0;
		for (const outcome of deletions(objects, one => (dryRun === 'client' ? look(client, one) : remove(client, one, body)))) {
			const result = await outcome;
			if (result instanceof AppError) exitCode = Math.max(exitCode, await told(client, result, invocation));
			else {
				report.say(result.victim.resource, identityOf(result), flags.on('force') ? 'force deleted' : 'deleted');
				deleted.push(result);
			}
		}
		await report.end();
		if (flags.given('wait') !== false && dryRun === undefined) await untilGone(client, deleted, deadline, terminal);
		return exitCode;
	});
}

/** All at once, and told in their order; but a namespace, with which all goes that is in it, after the others. */
function* deletions(
	objects: readonly NamedObject[],
	remove: (one: NamedObject) => Promise<Deleted>,
): Iterable<Promise<Deleted | AppError>> {
	const isNamespace = ({resource}: NamedObject): boolean => resource.kind === 'Namespace';
	for (const some of [objects.filter(one => !isNamespace(one)), objects.filter(isNamespace)])
		yield* some.map(one => remove(one).catch(asAppError));
}

/** All that is told of an object that may be gone: which one it was. */
const identityOf = ({victim: {resource, namespace, name}, uid}: Deleted): ApiObject =>
	({
		apiVersion: apiVersionOf(resource),
		kind: resource.kind,
		metadata: {name, ...(resource.namespaced ? {namespace} : {}), ...(uid === undefined ? {} : {uid})},
	}) as ApiObject;

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

async function remove(client: Client, victim: NamedObject, body: JsonObject): Promise<Deleted> {
	const answer = await client.json({method: 'DELETE', path: pathOf(victim.resource, victim.namespace, victim.name), body});
	if (!isStatus(answer)) return {victim, uid: (answer as ApiObject).metadata.uid, lingers: true};
	const {uid} = answer.details ?? {};
	return {victim, uid: typeof uid === 'string' ? uid : undefined, lingers: false};
}

/** Nothing more than whether it is there. */
async function look(client: Client, victim: NamedObject): Promise<Deleted> {
	const {metadata} = await getOne(client, victim.resource, victim.namespace, victim.name);
	return {victim, uid: metadata.uid, lingers: false};
}

async function told(client: Client, error: AppError, {flags, terminal}: Invocation): Promise<number> {
	return error.code === 'ERR_NOT_FOUND' && flags.on('ignore-not-found') ? 0 : tellOfOne(client, error, terminal);
}

type Group = {readonly victim: NamedObject; readonly names: Map<string, string>};

/** One watch for each kind and namespace, however many objects are awaited there. */
async function untilGone(client: Client, deleted: readonly Deleted[], deadline: Deadline, terminal: Terminal): Promise<void> {
	const byPlace = new Map<string, Group>();
	for (const {victim, uid, lingers} of deleted) {
		if (!lingers || uid === undefined) continue;
		const place = pathOf(victim.resource, victim.namespace);
		const group = byPlace.get(place) ?? {victim, names: new Map<string, string>()};
		group.names.set(uid, victim.name);
		byPlace.set(place, group);
	}
	const left = new Map([...byPlace].map(([place, {names}]) => [place, names.size]));
	const text = (): string =>
		`waiting for ${[...left.values()].reduce((sum, count) => sum + count, 0)} of ${deleted.length} objects to be gone`;
	await withProgress(terminal, text(), progress =>
		Promise.all(
			[...byPlace].map(([place, {victim, names}]) =>
				untilGoneFrom(client, victim, names, deadline, count => {
					left.set(place, count);
					progress.show(text());
				}),
			),
		),
	);
}

/** Those of one kind and namespace, named by uid. */
async function untilGoneFrom(
	client: Client,
	{resource, namespace}: NamedObject,
	names: ReadonlyMap<string, string>,
	deadline: Deadline,
	onLeft: (count: number) => void,
): Promise<void> {
	let left: readonly string[] = [...names.keys()];
	const [only = ''] = names.values();
	const wanted = {
		resource,
		namespace,
		query: names.size === 1 ? {fieldSelector: `metadata.name=${only}`} : {},
		isDone(objects: ReadonlyMap<string, ApiObject>): boolean {
			left = left.filter(uid => objects.has(uid));
			onLeft(left.length);
			return left.length === 0;
		},
		what: () => `${qualifiedPlural(resource)} ${left.map(uid => names.get(uid)).join(', ')} to be gone`,
	};
	await waitUntil(client, wanted, deadline);
}
