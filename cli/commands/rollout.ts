// `troupe rollout`: how far an update is, which versions there were, and the way back; in kubectl's words.

import {qualifiedPlural} from '../../api/catalogue.js';
import type {AppError} from '../../api/errors.js';
import {timestampOf, type ApiObject, type JsonObject} from '../../api/object.js';
import {restartedAtAnnotation} from '../../api/rollouts.js';
import {didYouMean} from '../../api/suggest.js';
import {dryRunOf, reportOf, tellOfOne, type Report} from '../apply/written.js';
import type {Client} from '../client.js';
import {changeObject} from '../cluster/changes.js';
import {getOne, withKind} from '../cluster/lists.js';
import {displayName} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import {failedError, type Flags, type Invocation, usageError} from '../command.js';
import {drawTemplate} from '../describe/pod-template.js';
import {wholePatch} from '../manifests/patch-between.js';
import {chosenObjects, type NamedObject} from '../objects/chosen.js';
import {asText} from '../objects/output.js';
import {deadlineOf, noDeadline} from '../objects/wait.js';
import {followStatus} from '../rollout/follow-status.js';
import {rolloutKindOf} from '../rollout/kinds.js';
import {templateIn, type Revision, type RolloutKind} from '../rollout/rollout-kind.js';
import {drawTable} from '../screen/table.js';
import type {Terminal} from '../screen/terminal.js';
import {widthFor} from '../screen/text-width.js';

/** What a verb does to, or tells of, one object. */
type Verb = (work: {
	readonly client: Client;
	readonly terminal: Terminal;
	readonly flags: Flags;
	readonly one: NamedObject;
	readonly kind: RolloutKind;
	readonly report: Report;
}) => Promise<void>;

/** The flags that only some verbs take. */
const verbs: {readonly [verb: string]: {readonly run: Verb; readonly flags: readonly string[]}} = {
	status: {run: status, flags: ['revision', 'watch', 'timeout']},
	history: {run: history, flags: ['revision', 'output']},
	undo: {run: undo, flags: ['to-revision', 'dry-run', 'output']},
	pause: {run: work => setPaused(work, true), flags: ['dry-run', 'output']},
	resume: {run: work => setPaused(work, false), flags: ['dry-run', 'output']},
	restart: {run: restart, flags: ['dry-run', 'output']},
};

const ofSome = new Set(Object.values(verbs).flatMap(({flags}) => flags));

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [word = '', ...words] = inputs;
	const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined;
	if (verb === undefined)
		throw usageError(
			word === ''
				? 'rollout takes what to do, as in: troupe rollout status deployment/web'
				: `unknown verb "${word}" of rollout${didYouMean(word, Object.keys(verbs)) || `; there are ${Object.keys(verbs).join(', ')}`}`,
		);
	checkFlags(word, verb.flags, flags);
	if (words.length === 0) throw usageError(`${word} of what? as in: troupe rollout ${word} deployment/web`);
	return withClient(invocation, async client => {
		const {objects, isOne} = await chosenObjects(invocation, client, words, `${word} of which`);
		const chosen = objects.map(one => ({one, kind: rolloutKindOf(one.resource)}));
		if (chosen.length === 0) terminal.note('No resources found');
		const report = reportOf(terminal, flags, isOne);
		let exitCode = 0;
		for (const {one, kind} of chosen) {
			try {
				await verb.run({client, terminal, flags, one, kind, report});
			} catch (error) {
				exitCode = Math.max(exitCode, await tellOfOne(client, error, terminal));
			}
		}
		await report.end();
		return exitCode;
	});
}

/** Throws ERR_USAGE. */
function checkFlags(verb: string, taken: readonly string[], flags: Flags): void {
	for (const word of flags.words) {
		const name = word.replace(/^--(no-)?/, '').split('=')[0] ?? '';
		if (ofSome.has(name) && !taken.includes(name)) throw usageError(`rollout ${verb} takes no --${name}`);
	}
	for (const name of ['revision', 'to-revision']) {
		const revision = flags.number(name);
		if (revision !== undefined && (!Number.isSafeInteger(revision) || revision < 0))
			throw usageError(`--${name} must be a whole number from 0 on, got ${revision}`);
	}
}

/** What kubectl says of an object that does not let it. */
const refusal = ({resource, name}: NamedObject, why: string): AppError => failedError(`${qualifiedPlural(resource)} "${name}" ${why}`);

// ---- telling -----------------------------------------------------------------------------------------------------------------

async function status({client, terminal, flags, one, kind}: Parameters<Verb>[0]): Promise<void> {
	// An object that is not there is an error of its own.
	await getOne(client, one.resource, one.namespace, one.name);
	const timeout = flags.text('timeout');
	const deadline = timeout === undefined || Number.parseFloat(timeout) === 0 ? noDeadline : deadlineOf(timeout);
	const wish = {revision: flags.number('revision') ?? 0, isFollowed: flags.given('watch') ?? true, deadline};
	await followStatus(client, terminal, one, kind, wish);
}

async function history({client, terminal, flags, one, kind}: Parameters<Verb>[0]): Promise<void> {
	const object = withKind(await getOne(client, one.resource, one.namespace, one.name), one.resource);
	const revisions = await kind.revisionsOf(client, object);
	const wanted = flags.number('revision') ?? 0;
	const meant = wanted === 0 ? revisions : [revisionOf(revisions, wanted)];
	const form = flags.text('output') as 'json' | 'yaml' | 'name' | undefined;
	if (form === 'json' || form === 'yaml') {
		for (const revision of meant) terminal.out(await asText(revision.object, form));
		return;
	}
	const name = displayName(one.resource, one.name);
	if (form === 'name') terminal.out(`${name}\n`);
	else if (wanted > 0) terminal.out(`${name} with revision #${wanted}\n${meant.map(({template}) => drawTemplate(template)).join('')}\n`);
	else {
		const rows = meant.map(({number, cause}) => [String(number), cause ?? '<none>']);
		terminal.out(`${name}\n${drawTable(['REVISION', 'CHANGE-CAUSE'], rows, await widthFor(rows.flat()))}\n`);
	}
}

function revisionOf(revisions: readonly Revision[], wanted: number): Revision {
	const found = revisions.find(({number}) => number === wanted);
	if (found !== undefined) return found;
	const there = revisions.length === 0 ? 'there are none' : `there are ${revisions.map(({number}) => number).join(', ')}`;
	throw failedError(`unable to find specified revision ${wanted} in history; ${there}`);
}

// ---- changing ----------------------------------------------------------------------------------------------------------------

const isPaused = (object: ApiObject): boolean => (object.spec as {readonly paused?: boolean} | undefined)?.paused === true;

async function undo({client, flags, one, kind, report}: Parameters<Verb>[0]): Promise<void> {
	const {resource, namespace, name} = one;
	const object = withKind(await getOne(client, resource, namespace, name), resource);
	const revisions = await kind.revisionsOf(client, object);
	const wanted = flags.number('to-revision') ?? 0;
	const revision = wanted === 0 ? kind.previous(object, revisions) : revisionOf(revisions, wanted);
	if (revision === undefined) throw failedError(`no rollout history found for ${resource.singular} "${name}"`);
	const {object: now, isChanged} = await changeObject(
		client,
		one,
		live => {
			if (isPaused(live))
				throw failedError(
					`you cannot rollback a paused ${resource.singular}; resume it first with 'troupe rollout resume ${resource.singular}/${name}' and try again`,
				);
			const back = kind.restored(live, revision);
			if (kind.isSame(live, back)) return undefined;
			return dryRunOf(flags) === 'client' ? undefined : wholePatch(live as unknown as JsonObject, back as unknown as JsonObject);
		},
		dryRunOf(flags) === 'server',
	);
	const isBack = isChanged || (dryRunOf(flags) === 'client' && !kind.isSame(now, kind.restored(now, revision)));
	report.say(resource, now, isBack ? 'rolled back' : `skipped rollback (current template already matches revision ${revision.number})`);
}

async function setPaused({client, flags, one, kind, report}: Parameters<Verb>[0], paused: boolean): Promise<void> {
	if (!kind.canPause) throw refusal(one, paused ? 'pausing is not supported' : 'resuming is not supported');
	const dryRun = dryRunOf(flags);
	const {object} = await changeObject(
		client,
		one,
		live => {
			if (isPaused(live) === paused) throw refusal(one, paused ? 'is already paused' : 'is not paused');
			return dryRun === 'client' ? undefined : {spec: {paused}};
		},
		dryRun === 'server',
	);
	report.say(one.resource, object, paused ? 'paused' : 'resumed');
}

async function restart({client, flags, one, kind, report}: Parameters<Verb>[0]): Promise<void> {
	if (kind.whyNoRestart !== undefined) throw refusal(one, kind.whyNoRestart(one.name));
	const dryRun = dryRunOf(flags);
	const restartedAt = timestampOf(Date.now());
	const {object} = await changeObject(
		client,
		one,
		live => {
			if (isPaused(live)) throw refusal(one, "can't restart paused deployment (run rollout resume first)");
			const {annotations = {}} = templateIn(live)?.metadata ?? {};
			if (Reflect.get(annotations, restartedAtAnnotation) === restartedAt)
				throw refusal(
					one,
					'if restart has already been triggered within the past second, please wait before attempting to trigger another',
				);
			return dryRun === 'client' ? undefined : {spec: {template: {metadata: {annotations: {[restartedAtAnnotation]: restartedAt}}}}};
		},
		dryRun === 'server',
	);
	report.say(one.resource, object, 'restarted');
}
