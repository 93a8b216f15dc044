// All objects of one kind: it creates their records, so it alone gives out names.
//
// A name is taken while its record lives and free again when the removal is committed. A second create of a name whose first
// is not committed yet goes to that record, and so waits for its outcome.

import {qualifiedPlural} from '../../../api/catalogue.js';
import {failed, failure, type Failure} from '../../../api/errors.js';
import {objectKey, objectPath} from '../../../api/keys.js';
import type {KindDefinition} from '../../../api/kind.js';
import {defaultNamespace} from '../../../api/kinds/namespace.js';
import {limits} from '../../../api/limits.js';
import {generateName} from '../../../api/names.js';
import type {Draft, JsonObject, OwnerReference} from '../../../api/object.js';
import {itemsOf, membersOf} from '../../../api/rules/report.js';
import {next, reply, tell, type Behavior, type Context, type Effect} from '../../../system/kernel/behavior.js';
import {namespaceKey} from '../../addresses.js';
import {aboutObject} from './about-object.js';
import type {Controller} from './controller.js';
import {isDeleting} from './garbage.js';
import type {RecordInput} from './object.js';
import type {CreateObject} from './object-message.js';

export type CollectionMessage = CreateObject;

export function collectionBehavior(
	definition: KindDefinition,
	{prepare}: Pick<Controller, 'prepare'> = {},
): Behavior<null, null, CollectionMessage> {
	return {
		kind: `${definition.kind}Collection`,
		init: (_input, context) => next(null, recordsOf(definition, context)),
		receive(_state, message, context) {
			switch (message.type) {
				case 'create':
					return next(null, create(definition, prepare, message, context));
			}
		},
	};
}

/** The records of everything the index holds, at start and after a crash. */
const recordsOf = ({plural, kind}: KindDefinition, {known}: Context): Effect[] =>
	[...known.list(plural)].map(({metadata}) => {
		const key = objectKey(plural, metadata.namespace, metadata.name);
		return {type: 'spawn', name: childName(key), behavior: kind, snapshot: key};
	});

/** The last segment of the record's path: `default.web-1`, or `node-a` for a cluster-scoped kind. */
const childName = (key: string): string => {
	const path = objectPath(key);
	return path.slice(path.indexOf('/') + 1);
};

function create(definition: KindDefinition, prepare: Controller['prepare'], message: CreateObject, context: Context): readonly Effect[] {
	const found = withName(definition, inItsNamespace(definition, message.object), context);
	if (!found.ok) return reply(message.replyTo, found);
	const refusal = refusalOf(definition, found.value, context);
	if (refusal !== undefined) return reply(message.replyTo, {ok: false, error: refusal});
	const prepared = prepare?.(found.value, context.known) ?? found;
	if (!prepared.ok) return reply(message.replyTo, prepared);
	const object = prepared.value;
	const {name = '', namespace} = object.metadata;
	const key = objectKey(definition.plural, namespace, name);
	const child = childName(key);
	if (context.known.get(key) !== undefined) return reply(message.replyTo, failed('ERR_ALREADY_EXISTS', aboutObject(definition, name)));
	// No record can have a name with a slash: it is refused, but not by the record that the name would lead to.
	const isApart = message.dryRun === true || key.split('/').length !== 3;
	if (!isApart && context.hasChild(child)) return [tell(`${context.self}/${child}`, {...message, object})];
	const input: RecordInput = {object, dryRun: message.dryRun === true, replyTo: message.replyTo};
	const actor = isApart ? `dry-run.${context.random.uuid()}` : child;
	return [{type: 'spawn', name: actor, behavior: definition.kind, input}];
}

/** The record's address has the namespace in it, so it is filled in before there is one. */
function inItsNamespace({namespaced}: KindDefinition, draft: Draft): Draft {
	const {namespace = ''} = draft.metadata;
	return namespaced && namespace === '' ? {...draft, metadata: {...draft.metadata, namespace: defaultNamespace}} : draft;
}

function withName(
	{plural, namespaced}: KindDefinition,
	draft: Draft,
	{known, random, hasChild}: Context,
): {ok: true; value: Draft} | {ok: false; error: Failure} {
	const {name, generateName: prefix, namespace} = draft.metadata;
	if (typeof name === 'string' && name !== '') return {ok: true, value: draft};
	if (typeof prefix !== 'string' || prefix === '') return {ok: true, value: draft}; // The record's admission says what is missing.
	for (let tries = 0; tries < limits.nameTries; tries++) {
		const candidate = generateName(prefix, random.next);
		const key = objectKey(plural, namespaced ? namespace : undefined, candidate);
		if (known.get(key) === undefined && !hasChild(childName(key))) {
			return {ok: true, value: {...draft, metadata: {...draft.metadata, name: candidate}}};
		}
	}
	return failed('ERR_ALREADY_EXISTS', {resource: plural, name: prefix});
}

const isController = (owner: JsonObject): owner is OwnerReference => owner['controller'] === true && typeof owner['uid'] === 'string';

/** Nothing new in a namespace that is missing or ending, nothing for an owner that is gone. */
function refusalOf(definition: KindDefinition, {metadata}: Draft, {known}: Context): Failure | undefined {
	const {namespace, ownerReferences, name = ''} = metadata;
	if (definition.namespaced && typeof namespace === 'string') {
		const home = known.get(namespaceKey(namespace));
		if (home === undefined) return failure('ERR_NOT_FOUND', {resource: 'namespaces', name: namespace, kind: 'namespaces'});
		if (isDeleting(home)) {
			return failure('ERR_FORBIDDEN', {
				message: `${qualifiedPlural(definition)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
			});
		}
	}
	// What is no list of owners is worded by the record's admission.
	const controllerOwner = itemsOf(ownerReferences).map(membersOf).find(isController);
	const owner = controllerOwner === undefined ? undefined : known.byUid(controllerOwner.uid);
	if (controllerOwner !== undefined && (owner === undefined || isDeleting(owner))) {
		return failure('ERR_CONFLICT', {
			resource: qualifiedPlural(definition),
			name,
			message: `its owner ${controllerOwner.kind} "${controllerOwner.name}" (uid ${controllerOwner.uid}) is gone`,
		});
	}
	return undefined;
}
