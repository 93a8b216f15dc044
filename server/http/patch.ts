// PATCH: which forms of a patch are taken, and what becomes of one. The record applies it to what is committed then.

import {keptKind} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {readJsonPatch} from '../../api/json-patch.js';
import {limits} from '../../api/limits.js';
import {lostNullWarnings} from '../../api/lost-nulls.js';
import {isObject, type ApiObject, type Draft, type Json, type JsonObject} from '../../api/object.js';
import {applyPatch, type Patch} from '../../api/patch.js';
import type {PatchObject, ReplaceObject} from '../../actors/control/objects/object-message.js';
import {mediaTypeOf, readJson, readObject, unsupported} from './body.js';
import {keptForm} from './draft.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {patchWithoutPassword, refuseStrangersSecret} from './inline-password.js';
import {sendObject} from './object-reply.js';
import {inTurn} from './object-turns.js';
import {refusal, valueOf} from './outcome.js';
import {isDryRun} from './query.js';
import {addWarnings} from './reply.js';
import {incoming, incomingPatch, isSecret, outgoing} from './secrets.js';
import {askObject, guardedOf, statusPart, told} from './write.js';

const mergeType = 'application/merge-patch+json';
const strategicType = 'application/strategic-merge-patch+json';
const jsonType = 'application/json-patch+json';

/** PATCH of an object or of its status. */
export async function patch(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {value: change, password} = patchWithoutPassword(target, await readPatch(exchange, target));
	if (password !== undefined) refuseStrangersSecret(backend, target, target.name ?? '');
	const isOther = keptKind(target.kind) !== target.kind;
	const patched = await (isOther || (isSecret(target.kind) && change.patchType !== undefined)
		? inTurn(backend, entryOf(backend, target).key, () => patchOpened(backend, exchange, target, change))
		: patchCommitted(backend, exchange, target, change));
	const lost = isMerge(change) ? lostNullWarnings(target.kind, patched, change.patch['metadata']) : [];
	const dryRun = isDryRun(exchange.query.getAll('dryRun'));
	const kept = password === undefined ? [] : [await told(backend, exchange, target, {written: patched, password, dryRun})];
	addWarnings(exchange.response, [...lost, ...kept]);
	await sendObject(backend, exchange, target.kind, patched, 200);
}

const isMerge = (change: Patch): change is Exclude<Patch, {readonly patchType: 'json'}> => change.patchType !== 'json';

/** The body of a patch. An empty one changes nothing. */
export async function readPatch({request}: Exchange, {kind}: Target): Promise<Patch> {
	// What Kubernetes has no types of it can merge by no key, and says so; clients then choose another form.
	const types = kind.group === 'troupe.dev' ? [jsonType, mergeType] : [jsonType, mergeType, strategicType];
	const type = mediaTypeOf(request);
	if (!types.includes(type)) throw unsupported(types);
	if (type === jsonType) return {patchType: 'json', patch: valueOf(readJsonPatch((await readJson(request, {types})) ?? []))};
	const patch = (await readObject(request, {types})) ?? {};
	return type === strategicType ? {patchType: 'strategic', patch} : {patch};
}

function patchCommitted(backend: Backend, exchange: Exchange, target: Target, change: Patch): Promise<ApiObject> {
	const sealed = change.patchType === undefined ? {patch: incomingPatch(backend, target, change.patch)} : change;
	const message: PatchObject = {
		type: 'patch',
		...sealed,
		...statusPart(target),
		...guardedOf(exchange, target),
		dryRun: isDryRun(exchange.query.getAll('dryRun')),
	};
	return askObject(backend, exchange, target, message);
}

/**
 * A Secret is patched here: its record has its values sealed, and could neither test nor copy one. So is an object in the form of another version. Patches take turns; when another write comes
 * between all the same, it is done again with what is committed then.
 */
async function patchOpened(backend: Backend, exchange: Exchange, target: Target, change: Patch): Promise<ApiObject> {
	if (isSecret(target.kind)) checkValuesStay(change);
	const dryRun = isDryRun(exchange.query.getAll('dryRun'));
	for (let tries = 1; ; tries++) {
		const {object} = entryOf(backend, target);
		const {resourceVersion} = object.metadata;
		const wanted = wholeDraft(valueOf(applyPatch(outgoing(backend, target.kind, object) as unknown as JsonObject, change)));
		const isOwn = (wanted.metadata.resourceVersion ?? resourceVersion) === resourceVersion;
		const given = {...wanted, metadata: {resourceVersion, ...wanted.metadata}};
		const message: ReplaceObject = {type: 'replace', object: incoming(backend, target, keptForm(given)), ...statusPart(target), dryRun};
		try {
			return await askObject(backend, exchange, target, message);
		} catch (error) {
			const isOvertaken = error instanceof AppError && error.code === 'ERR_CONFLICT';
			if (!isOvertaken || !isOwn || tries >= limits.changeTries) throw error;
		}
	}
}

const ofValue = '/data/';

/** Anywhere else a value that is moved or copied would be told to everyone: in topics, and in what is said of a field that cannot be that. */
function checkValuesStay(change: Patch): void {
	const operations = change.patchType === 'json' ? change.patch : [];
	for (const [at, operation] of operations.entries()) {
		if (operation.op !== 'move' && operation.op !== 'copy') continue;
		if (operation.from.startsWith(ofValue) && operation.path.startsWith(ofValue)) continue;
		throw refusal(`patch[${at}]: ${operation.op} is for values of a Secret only, from ${ofValue}NAME to ${ofValue}NAME`);
	}
}

function wholeDraft(patched: Json | undefined): Draft {
	if (isObject(patched) && isObject(patched['metadata'])) return patched as unknown as Draft;
	throw refusal('the patch leaves no object with metadata');
}
