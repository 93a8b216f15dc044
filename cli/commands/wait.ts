// `troupe wait`: until objects are as wanted, are there, or are gone. It hears of it by a watch, and says so in kubectl's words.

import {qualifiedPlural} from '../../api/catalogue.js';
import {parseDuration} from '../../api/duration.js';
import {AppError, rowOf} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {failedError, type Flags, type Invocation, usageError} from '../command.js';
import {withProgress, type Progress} from '../screen/progress.js';
import {displayName, readTargets, type Target} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import type {Terminal} from '../screen/terminal.js';
import {deadlineOf, noDeadline, waitUntil, type Deadline} from '../objects/wait.js';
import {beginWait, lookAgain, parseGoal, type Awaited, type WaitGoal} from '../objects/wait-goal.js';

type Search = {
	readonly goal: WaitGoal;
	/** Undefined: every namespace. */
	readonly namespace: string | undefined;
	readonly selector: string | undefined;
	/** Looks once instead of waiting. */
	readonly once: boolean;
};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const targets = merged(readTargets(inputs));
	const goal = parseGoal(flags.text('for') ?? '');
	if (flags.text('for') === undefined) throw usageError('--for is missing, as in: troupe wait pod/web --for condition=Ready');
	if (typeof goal === 'string') throw usageError(goal);
	checkWhich(targets, flags);
	const timeout = flags.text('timeout') ?? `${limits.waitForMs / 1_000}s`;
	const once = parseDuration(timeout) === 0;
	const deadline = once ? noDeadline : deadlineOf(timeout);
	return withClient(invocation, client => {
		const namespace = flags.on('all-namespaces') ? undefined : namespaceOf(invocation, client);
		const search: Search = {goal, namespace, selector: flags.text('selector'), once};
		return withProgress(terminal, 'waiting', async progress => {
			const ended = await Promise.all(targets.map(target => waitFor(client, target, search, deadline, terminal, progress)));
			return Math.max(...ended);
		});
	});
}

function checkWhich(targets: readonly Target[], flags: Flags): void {
	const named = targets.some(({names}) => names.length > 0);
	const chosen = flags.on('all') || flags.text('selector') !== undefined;
	if (named && (chosen || flags.on('all-namespaces'))) throw usageError('names, --all and -l each say which objects; give one of them');
	const [target] = targets;
	if (!named && !chosen && target !== undefined) throw usageError(`which ${target.resource.plural}? give names, -l, or --all`);
}

/** One target for each kind, so that each is watched once. */
function merged(targets: readonly Target[]): readonly Target[] {
	const resources = [...new Set(targets.map(({resource}) => resource))];
	return resources.map(resource => ({
		resource,
		names: [...new Set(targets.filter(target => target.resource === resource).flatMap(({names}) => names))],
	}));
}

/** Waits for the objects of one kind; answers with the exit code. */
async function waitFor(
	client: Client,
	{resource, names}: Target,
	{goal, namespace, selector, once}: Search,
	deadline: Deadline,
	terminal: Terminal,
	progress: Progress,
): Promise<number> {
	let awaited: Awaited | undefined;
	let exitCode = 0;
	const keyOf = ({metadata}: ApiObject): string =>
		namespace === undefined ? `${metadata.namespace ?? ''}/${metadata.name}` : metadata.name;
	const tell = (error: AppError): void => {
		terminal.error(error.message);
		exitCode = Math.max(exitCode, rowOf(error.code).exitCode);
	};
	const tellMissing = (keys: readonly string[]): void =>
		keys.forEach(key => tell(new AppError('ERR_NOT_FOUND', {resource: qualifiedPlural(resource), name: key})));

	function look(objects: readonly ApiObject[]): boolean {
		const there = new Map(objects.map(object => [keyOf(object), object]));
		if (awaited === undefined) {
			const begun = beginWait(goal, names, there);
			if (begun === undefined) return false;
			tellMissing(begun.missing);
			if (begun.awaited.size === 0 && names.length === 0 && goal.type !== 'delete') tell(failedError('no matching resources found'));
			awaited = begun.awaited;
		}
		const looked = lookAgain(goal, awaited, there);
		for (const key of looked.met) terminal.out(`${displayName(resource, key.split('/').at(-1) ?? '')} condition met\n`);
		tellMissing(looked.missing);
		awaited = looked.awaited;
		progress.show(`waiting for ${awaited.size} ${awaited.size === 1 ? resource.singular : resource.plural}`);
		return awaited.size === 0;
	}

	const [only] = names;
	const query = names.length === 1 ? {fieldSelector: `metadata.name=${only ?? ''}`} : {labelSelector: selector};
	try {
		const isDone = (objects: ReadonlyMap<string, ApiObject>): boolean => look([...objects.values()]) || once;
		await waitUntil(client, {resource, namespace, query, isDone, what: 'the condition'}, deadline);
	} catch (error) {
		if (!deadline.signal.aborted) throw error;
	}
	// No object is left unless the time is up.
	for (const name of leftOf(awaited)) tell(failedError(`timed out waiting for the condition on ${resource.plural}${name}`));
	return exitCode;
}

const leftOf = (awaited: Awaited | undefined): readonly string[] =>
	awaited === undefined ? [''] : [...awaited.keys()].map(key => `/${key}`);
