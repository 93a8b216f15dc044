// `troupe edit`: an object in an editor, again and again until the cluster takes it or the person changes nothing more.

import {AppError, rowOf} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {locateFaults} from '../apply/located.js';
import {changeObject, type PatchBody} from '../cluster/changes.js';
import type {Client} from '../client.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {openDraftFile, type DraftFile} from '../edit/draft-file.js';
import {editorOf, runEditor, type Editor} from '../edit/editor.js';
import {readEdited, withoutRemarks, withRemarks, type Edited} from '../edit/text.js';
import type {Fault} from '../manifests/faults.js';
import {getOne, withKind} from '../cluster/lists.js';
import type {NamedObject} from '../objects/chosen.js';
import {asText} from '../objects/output.js';
import {patchBetween, patchesClash, sentPatch} from '../manifests/patch-between.js';
import {displayName, readTargets, type Resource} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {writtenPart} from '../manifests/written-part.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal, environment} = invocation;
	const {resource, name} = oneOf(inputs);
	const form = (flags.text('output') ?? 'yaml') as 'yaml' | 'json';
	const editor = editorOf(environment, terminal.interactive);
	return withClient(invocation, async client => {
		const one = {resource, namespace: namespaceOf(invocation, client), name};
		const object = withKind(await getOne(client, resource, one.namespace, name), resource);
		const draft = openDraftFile(`${resource.singular}-${name}.${form}`, line => terminal.error(line));
		try {
			const said = await editing(client, one, object, {editor, draft, form, again: terminal.interactive});
			draft.remove();
			if (said.note !== undefined) terminal.note(said.note);
			else terminal.out(`${displayName(resource, name)} edited\n`);
			return 0;
		} catch (error) {
			if (error instanceof Kept) draft.keep();
			else draft.remove();
			throw error instanceof Kept ? error.reason : error;
		}
	});
}

function oneOf(inputs: readonly string[]): {readonly resource: Resource; readonly name: string} {
	const [target, ...others] = readTargets(inputs);
	const [name, ...names] = target?.names ?? [];
	if (target === undefined || name === undefined) throw usageError('edit needs a name, as in: troupe edit rs hello');
	if (others.length + names.length > 0) throw usageError('edit takes one object at a time');
	return {resource: target.resource, name};
}

/** It did not come to an end, but what was typed must not be lost: the file stays, and the reason names it. */
class Kept extends Error {
	override readonly name = 'Kept';
	readonly reason: AppError;

	constructor(reason: AppError, {file}: DraftFile) {
		super(reason.message);
		this.reason = reason;
		this.reason.message = `${reason.message}; what you wrote is in ${file}`;
	}
}

type Tools = {
	readonly editor: Editor;
	readonly draft: DraftFile;
	readonly form: 'yaml' | 'json';
	/** Whether a person is there to mend what is refused. */
	readonly again: boolean;
};

/** Resolves when the cluster has taken the change, or with a note when there was none. */
async function editing(client: Client, one: NamedObject, object: ApiObject, tools: Tools): Promise<{readonly note?: string}> {
	const {draft, form} = tools;
	const original = writtenPart(object);
	let body = await asText(original, form);
	let faults: readonly Fault[] = [];
	for (let left = limits.editTries; left > 0; left--) {
		const before = body;
		body = withoutRemarks(await editedIn(tools, withRemarks(body, faults), faults.length > 0));
		const edited = readEdited(body, original, form);
		if (faults.length > 0 && body === before) throw new Kept(failedError('edit cancelled, no valid changes were made'), draft);
		if (edited.type === 'empty') return {note: 'edit cancelled, the file was empty'};
		if (edited.type === 'unchanged') return {note: 'edit cancelled, no changes made'};
		faults = edited.type === 'wrong' ? edited.faults : await tried(client, one, {object, original, edited}, draft);
		if (faults.length === 0) return {};
		if (tools.again) continue;
		draft.write(body); // Its lines are those of the faults.
		throw new Kept(refused(faults), draft);
	}
	throw new Kept(failedError(`edit gave up after ${limits.editTries} tries`), draft);
}

/** The text as the editor left it. What was typed is kept where the editor failed, or left what cannot be read. */
async function editedIn({editor, draft}: Tools, text: string, hasBeenEdited: boolean): Promise<string> {
	draft.write(text);
	try {
		await runEditor(editor, draft.file);
		return await draft.read();
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		const isTouched = hasBeenEdited || (await draft.read().catch(() => undefined)) !== text;
		throw isTouched && draft.isThere() ? new Kept(error, draft) : error;
	}
}

type Change = {readonly object: ApiObject; readonly original: JsonObject; readonly edited: Edited & {readonly type: 'changed'}};

/** What the cluster has against it; none: it is written. */
async function tried(client: Client, one: NamedObject, {object, original, edited}: Change, draft: DraftFile): Promise<readonly Fault[]> {
	const patchOf = (live: ApiObject): PatchBody => {
		if (live.metadata.uid === object.metadata.uid) {
			const mine = patchBetween(original, edited.value) ?? {};
			if (!patchesClash(mine, patchBetween(original, writtenPart(live)) ?? {}))
				return sentPatch(live as unknown as JsonObject, mine, {from: original, to: edited.value});
		}
		const conflict = new AppError('ERR_CONFLICT', {resource: one.resource.plural, name: one.name});
		conflict.message = `${displayName(one.resource, one.name)} was changed by another in the same fields while it was edited`;
		throw conflict;
	};
	try {
		await changeObject(client, one, patchOf, false);
		return [];
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		const {exitCode} = rowOf(error.code);
		const isLost = exitCode === 3 || exitCode === 4 || exitCode === 5 || error.code === 'ERR_UNAUTHORIZED';
		if (isLost) throw new Kept(error, draft);
		return locateFaults(error, {value: edited.value, locate: edited.locate}, []);
	}
}

function refused(faults: readonly Fault[]): AppError {
	const error = new AppError(faults[0]?.code ?? 'ERR_INVALID', {});
	error.message = faults.map(({place, message}) => `${'line' in place ? `line ${place.line}: ` : ''}${message}`).join('\n');
	return error;
}
