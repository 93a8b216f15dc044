// All objects of one kind: it creates their records, so it alone gives out names.
//
// A name is taken while its record lives and free again when the removal is committed. A second create of a name whose first
// is not committed yet goes to that record, and so waits for its outcome. What quotas allow is decided here too (quota.ts), and what each object
// has alone is given here (allotment.ts).

import {qualifiedPlural} from '../../../api/catalogue.js';
import {admitCreate} from '../../../api/admission.js';
import {failed, failure, type Failure, type Outcome} from '../../../api/errors.js';
import {objectKey, objectPath} from '../../../api/keys.js';
import type {KindDefinition} from '../../../api/kind.js';
import {defaultNamespace} from '../../../api/kinds/namespace.js';
import type {ResourceQuota} from '../../../api/kinds/resourcequota.js';
import {limits} from '../../../api/limits.js';
import {generateName} from '../../../api/names.js';
import type {ApiObject, Draft, JsonObject, OwnerReference} from '../../../api/object.js';
import {itemsOf, membersOf} from '../../../api/rules/report.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import {namespaceKey} from '../../addresses.js';
import {aboutObject} from './about-object.js';
import {allotted, noHolds, type AllotChange, type AllottedChange, type Holds} from './allotment.js';
import type {Controller} from './controller.js';
import {isDeleting} from './garbage.js';
import type {RecordInput} from './object.js';
import type {CreateObject} from './object-message.js';
import {stillComing, withinQuotas, type Coming} from './quota.js';

export type CollectionMessage = CreateObject | AllotChange;

type CollectionState = {
	/** Creates that count against a quota and are not committed yet; those of which that has changed are forgotten at the next create. */
	readonly coming: readonly Coming[];
	readonly holds: Holds;
};

/** What of a kind's controller concerns its collection. */
type Rules = Pick<Controller, 'prepare' | 'allotment'>;

export function collectionBehavior(definition: KindDefinition, rules: Rules = {}): Behavior<null, CollectionState, CollectionMessage> {
	return {
		kind: `${definition.kind}Collection`,
		init: (_input, context) => next({coming: [], holds: noHolds}, recordsOf(definition, context)),
		receive(state, message, context) {
			switch (message.type) {
				case 'create':
					return create({definition, rules, state}, message, context);
				case 'allot':
					return allotChange({definition, rules, state}, message, context);
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

type Collection = {readonly definition: KindDefinition; readonly rules: Rules; readonly state: CollectionState};

function create({definition, rules, state}: Collection, message: CreateObject, context: Context): Next<CollectionState> {
	const answered = (outcome: Outcome<never>): Next<CollectionState> => next(state, reply(message.replyTo, outcome));
	const found = withName(definition, inItsNamespace(definition, message.object), context);
	if (!found.ok) return answered(found);
	const refusal = refusalOf(definition, found.value, context);
	if (refusal !== undefined) return answered({ok: false, error: refusal});
	const prepared = rules.prepare?.(found.value, context.known) ?? found;
	if (!prepared.ok) return answered(prepared);
	const {name = '', namespace} = prepared.value.metadata;
	const key = objectKey(definition.plural, namespace, name);
	const child = childName(key);
	if (context.known.get(key) !== undefined) return answered(failed('ERR_ALREADY_EXISTS', aboutObject(definition, name)));
	// No record can have a name with a slash: it is refused, but not by the record that the name would lead to.
	const isApart = message.dryRun === true || key.split('/').length !== 3;
	if (!isApart && context.hasChild(child)) return next(state, [tell(`${context.self}/${child}`, {...message, object: prepared.value})]);
	const counted = withQuotas(definition, state.coming, prepared.value, {child, key, namespace: namespace ?? ''}, context);
	if (!counted.ok) return answered(counted);
	const given = withAllotment({definition, rules, state}, prepared.value, {key, uid: undefined, child, isDryRun: isApart}, context);
	if (!given.ok) return answered(given);
	const {object, holds} = given.value;
	const input: RecordInput = {object, dryRun: message.dryRun === true, replyTo: message.replyTo};
	const actor = isApart ? `dry-run.${context.random.uuid()}` : child;
	const now = isApart ? state : {coming: counted.value, holds};
	return next(now, [{type: 'spawn', name: actor, behavior: definition.kind, input}]);
}

type Place = Omit<Parameters<typeof allotted>[3], 'object'>;

/** What admission will refuse is left to the record, and gets nothing. */
function withAllotment({definition, rules, state}: Collection, draft: Draft, place: Place, context: Context): ReturnType<typeof allotted> {
	const {allotment} = rules;
	const admitted = allotment === undefined ? undefined : admitCreate(draft);
	if (allotment === undefined || admitted?.ok !== true) return {ok: true, value: {object: draft, holds: state.holds}};
	return allotted(definition, allotment, state.holds, {...place, object: admitted.value}, context);
}

/** A change of an object goes back to its record with what it needs. */
function allotChange({definition, rules, state}: Collection, change: AllotChange, context: Context): Next<CollectionState> | undefined {
	const {allotment} = rules;
	if (allotment === undefined) return undefined;
	const {name, namespace, uid} = change.object.metadata;
	const key = objectKey(definition.plural, namespace, name);
	const child = childName(key);
	const place = {key, uid, child, isDryRun: change.message.dryRun === true};
	const given = allotted(definition, allotment, state.holds, {...place, object: change.object}, context);
	if (!given.ok) return next(state, reply(change.replyTo, given));
	const answer: AllottedChange = {...change, type: 'allotted', object: given.value.object as ApiObject};
	return next({...state, holds: given.value.holds}, [tell(`${context.self}/${child}`, answer)]);
}

/** What is coming with this object, or which quota refuses it. What admission will refuse is left to the record, and takes nothing. */
function withQuotas(
	definition: KindDefinition,
	coming: readonly Coming[],
	draft: Draft,
	place: Omit<Coming, 'usage'>,
	context: Context,
): Outcome<readonly Coming[]> {
	const quotas = definition.namespaced ? ([...context.known.list('resourcequotas', place.namespace)] as ResourceQuota[]) : [];
	if (quotas.length === 0) return {ok: true, value: coming};
	const admitted = admitCreate(draft);
	if (!admitted.ok) return {ok: true, value: coming};
	const present = stillComing(coming, context);
	const usage = withinQuotas(definition, admitted.value, quotas, present, context.known);
	return usage.ok ? {ok: true, value: [...present, {...place, usage: usage.value}]} : usage;
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
