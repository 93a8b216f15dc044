// A Function has a ReplicaSet for each of its versions that was called, as large as its calls need.
//
// How many instances these are its activator tells (activator.ts); the status keeps it, so that it survives both. A new version takes over instance by
// instance: an old one goes when a new one takes calls in its place. A version that runs of workflows began with is kept until the last of them is over,
// and is on its own (`status.apart`) once it stands in for the newest one no longer.

import {lacksCode, type FunctionObject, type FunctionStatus} from '../../../api/kinds/function.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Condition, Draft, JsonObject} from '../../../api/object.js';
import {revisionAnnotation} from '../../../api/rollouts.js';
import type {Known} from '../../../system/index/object-index.js';
import {tell, type Context, type Effect} from '../../../system/kernel/behavior.js';
import {activatorsAddress} from '../../addresses.js';
import {withCondition} from '../objects/conditions.js';
import {controller, type Failures, type Handled, type Reconciliation} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {controllerOf, ownerReferenceTo} from '../objects/owners.js';
import {triggerEvent, type Undelivered} from '../objects/trigger-news.js';
import {censusOf} from '../workloads/census.js';
import {creation} from '../workloads/pod-creation.js';
import {forgotten, revisionOf} from '../workloads/revisions.js';
import type {SizedSet} from '../workloads/sized-set.js';
import {templateHash, withHash} from '../workloads/template-hash.js';
import type {Activate, Demand} from './function-message.js';
import {isOfVersion, templateOf, type FunctionTemplate} from './function-template.js';
import {isApart, isNamed, versionOf, versionOfSet} from './function-version.js';
import {functionsConcerned, isPinned} from './run-pins.js';

export const functionController = controller<FunctionObject, Demand | Undelivered>({
	plural: 'functions',
	watches: {runs: functionsConcerned},
	reconcile,
	receive,
	goesOnWithoutCreates: true,
});

function receive(fn: FunctionObject, message: Demand | Undelivered, {self}: Context): Handled<FunctionObject> | undefined {
	if (message.type === 'undelivered') return {ok: true, object: fn, effects: [triggerEvent(message)]};
	if (message.type !== 'demand') return undefined;
	// It is status alone, and wakes nobody by itself.
	return {ok: true, object: {...fn, status: {...fn.status, ...withDemand(fn.status, message)}}, effects: [tell(self, {type: 'wake'})]};
}

function withDemand({demands = []}: FunctionStatus = {}, {revision, desired}: Demand): FunctionStatus {
	if (revision === undefined) return {desired};
	const others = demands.filter(each => each.revision !== revision);
	return {demands: [...others, ...(desired === 0 ? [] : [{revision, desired}])].sort((a, b) => a.revision - b.revision)};
}

/** The size that its sets shall have together, but for versions that have calls of their own. */
export const desiredOf = ({spec, status}: FunctionObject): number =>
	Math.min(Math.max(status?.desired ?? 0, spec?.min ?? 0), spec?.max ?? limits.functionInstancesDefault);

/** What the calls need that are a version's own. */
const demandOf = (fn: FunctionObject, revision: number): number =>
	isApart(fn, revision)
		? Math.min(fn.status?.demands?.find(each => each.revision === revision)?.desired ?? 0, fn.spec?.max ?? limits.functionInstancesDefault)
		: 0;

function reconcile(object: FunctionObject, context: Context, failures: Failures): Reconciliation<FunctionStatus> {
	if (object.spec === undefined || isDeleting(object)) return {effects: []};
	const {known, pending, nowMs} = context;
	const template = templateOf(object);
	const sets = setsOf(object, known, nowMs);
	const newest = template === undefined ? undefined : sets.find(({set}) => isOfVersion(set, template));
	const old = sets.filter(each => each !== newest);
	const fn = withApart(withDemandsOfNewlyNamed(object, old), newest, old, known);
	const steps = pending.size > 0 || template === undefined ? [] : stepsOf({fn, template, newest, old}, context);
	return {status: statusOf(fn, newest, sets, failures, nowMs), effects: [...attended(fn), ...steps]};
}

/** A version that traffic begins to name keeps the instances that it has: its own activator lets them go when its calls need fewer. */
function withDemandsOfNewlyNamed(fn: FunctionObject, old: readonly SizedSet[]): FunctionObject {
	if (fn.spec?.traffic === undefined || fn.status?.observedGeneration === fn.metadata.generation) return fn;
	return withDemandsOf(
		fn,
		old.filter(({set}) => isNamed(fn, revisionOf(set))),
	);
}

function withDemandsOf(fn: FunctionObject, newly: readonly SizedSet[]): FunctionObject {
	const {demands = []} = fn.status ?? {};
	const more = newly.flatMap(({set, wanted}) => {
		const revision = revisionOf(set);
		return wanted === 0 || demands.some(each => each.revision === revision) ? [] : [{revision, desired: wanted}];
	});
	if (more.length === 0) return fn;
	return {...fn, status: {...fn.status, demands: [...demands, ...more].sort((a, b) => a.revision - b.revision)}};
}

/**
 * Which old versions are on their own: those that runs under way began with, from when they have no instances in place of the newest one's any more.
 * One that no run names any more is on its own as long as it has instances, so that no other calls get them.
 */
function withApart(fn: FunctionObject, newest: SizedSet | undefined, old: readonly SizedSet[], known: Known): FunctionObject {
	const {apart: was = [], ...status} = fn.status ?? {};
	const isReplacing = placesOf(fn, newest) > 0;
	const apart = old.filter(({set, wanted, census}) =>
		isPinned(fn, versionOfSet(set), known)
			? was.includes(revisionOf(set)) || !isReplacing || wanted === 0
			: was.includes(revisionOf(set)) && wanted + census.owned > 0,
	);
	if (apart.length === 0) return was.length === 0 ? fn : {...fn, status};
	const revisions = apart.map(({set}) => revisionOf(set)).sort((a, b) => a - b);
	return withDemandsOf(
		{...fn, status: {...status, apart: revisions}},
		apart.filter(({set}) => !was.includes(revisionOf(set))),
	);
}

/** So many instances the newest version has not ready yet: older ones take calls in their place, unless versions have their shares. */
const placesOf = (fn: FunctionObject, newest: SizedSet | undefined): number =>
	fn.spec?.traffic === undefined ? Math.max(0, desiredOf(fn) - (newest?.census.ready ?? 0)) : 0;

/** Whoever has instances has an activator, which lets them go when nobody calls. */
function attended(fn: FunctionObject): readonly Effect[] {
	const {desired = 0, demands = []} = fn.status ?? {};
	const key = objectKey('functions', fn.metadata.namespace, fn.metadata.name);
	const all: readonly Omit<Activate, 'type'>[] = [
		...(desired === 0 ? [] : [{function: key}]),
		...demands.map(({revision}) => ({function: key, revision})),
	];
	return all.map(each => tell(activatorsAddress, {type: 'activate', ...each} satisfies Activate));
}

/** Newest version first. */
const setsOf = ({metadata: {uid}}: FunctionObject, known: Known, nowMs: number): readonly SizedSet[] =>
	[...known.byOwner(uid)]
		.filter((object): object is ReplicaSet => object.kind === 'ReplicaSet' && controllerOf(object)?.uid === uid && !isDeleting(object))
		.map(set => ({set, wanted: set.spec?.replicas ?? 1, census: censusOf(set, known, nowMs)}))
		.sort((a, b) => revisionOf(b.set) - revisionOf(a.set));

type Look = {
	readonly fn: FunctionObject;
	readonly template: FunctionTemplate;
	readonly newest: SizedSet | undefined;
	readonly old: readonly SizedSet[];
};

function stepsOf({fn, template, newest, old}: Look, {known}: Context): readonly Effect[] {
	const desired = desiredOf(fn);
	const [own, others] = [old.filter(({set}) => isApart(fn, revisionOf(set))), old.filter(({set}) => !isApart(fn, revisionOf(set)))];
	const ofOld = [
		...own.flatMap(sized => written(sized, isKept(fn, sized.set, known) ? demandOf(fn, revisionOf(sized.set)) : 0)),
		...scaled(fn, others, placesOf(fn, newest), known),
	];
	if (newest === undefined)
		// Without instances it is made for its template: a run may call that version when the function has another one.
		return [...(desired === 0 && !isPinned(fn, versionOf(fn), known) ? [] : created(fn, template, old, desired, known)), ...ofOld];
	const revision = Math.max(0, ...old.map(({set}) => revisionOf(set))) + 1;
	const isNumbered = revisionOf(newest.set) >= revision;
	return [
		...written(newest, desired + demandOf(fn, revisionOf(newest.set)), isNumbered ? {} : {[revisionAnnotation]: String(revision)}),
		...ofOld,
		...forgetting(fn, old, known),
	];
}

/** Whether traffic or a run under way names it. */
const isKept = (fn: FunctionObject, set: ReplicaSet, known: Known): boolean =>
	isNamed(fn, revisionOf(set)) || isPinned(fn, versionOfSet(set), known);

/** Of the old versions, newest first, so many instances stay. One that runs go on with may get more: the newest cannot take their calls. */
function scaled(fn: FunctionObject, old: readonly SizedSet[], places: number, known: Known): readonly Effect[] {
	let left = places;
	return old.flatMap(sized => {
		const kept = isPinned(fn, versionOfSet(sized.set), known) ? left : Math.min(sized.wanted, left);
		left -= kept;
		return written(sized, kept);
	});
}

function written({set, wanted}: SizedSet, replicas: number, annotations: JsonObject = {}): readonly Effect[] {
	if (replicas === wanted && Object.keys(annotations).length === 0) return [];
	const {uid, namespace, name} = set.metadata;
	const message: PatchObject = {type: 'patch', patch: {metadata: {uid, annotations}, spec: {replicas}}};
	return [{type: 'update', key: objectKey('replicasets', namespace, name), message, id: `scale/${name}`}];
}

/** A set for the version. Where another object has its name, the name is another one. */
function created(
	fn: FunctionObject,
	template: FunctionTemplate,
	old: readonly SizedSet[],
	replicas: number,
	known: Known,
): readonly Effect[] {
	const {name, namespace} = fn.metadata;
	for (let collisions = 0; collisions < limits.nameTries; collisions++) {
		const hash = templateHash(template, collisions);
		const setName = `${name}-${hash}`;
		if (known.get(objectKey('replicasets', namespace, setName)) !== undefined) continue;
		const labels = withHash(template, hash).metadata?.labels ?? {};
		const draft: Draft = {
			apiVersion: 'apps/v1',
			kind: 'ReplicaSet',
			metadata: {
				name: setName,
				...(namespace === undefined ? {} : {namespace}),
				labels,
				annotations: {[revisionAnnotation]: String(Math.max(0, ...old.map(({set}) => revisionOf(set))) + 1)},
				ownerReferences: [ownerReferenceTo(fn)],
			},
			spec: {replicas, selector: {matchLabels: labels}, template: withHash(template, hash)},
		};
		return [creation(draft)];
	}
	return [];
}

/** Versions beyond `revisionHistoryLimit`; one that traffic or a run under way names stays. */
const forgetting = (fn: FunctionObject, old: readonly SizedSet[], known: Known): readonly Effect[] =>
	forgotten(
		old.filter(({set}) => !isKept(fn, set, known)),
		fn.spec?.revisionHistoryLimit ?? 10,
	).map(({metadata}) => ({
		type: 'delete',
		key: objectKey('replicasets', metadata.namespace, metadata.name),
		uid: metadata.uid,
		id: `delete/${metadata.uid}`,
	}));

// ---- its status --------------------------------------------------------------------------------------------------------------

function statusOf(
	fn: FunctionObject,
	newest: SizedSet | undefined,
	sets: readonly SizedSet[],
	failures: Failures,
	nowMs: number,
): FunctionStatus {
	const sum = (count: (sized: SizedSet) => number): number => sets.reduce((total, sized) => total + count(sized), 0);
	const {demands, conditions: _conditions, ...before} = fn.status ?? {};
	const kept = demands?.filter(({revision}) => isApart(fn, revision)) ?? [];
	return {
		...before,
		...(kept.length === 0 ? {} : {demands: kept}),
		observedGeneration: fn.metadata.generation,
		instances: sum(({census}) => census.active),
		ready: sum(({census}) => census.ready),
		updated: newest?.census.ready ?? 0,
		...(newest === undefined ? {} : {revision: revisionOf(newest.set)}),
		conditions: withTraffic(fn, sets, withCondition(fn.status?.conditions, callable(fn, failures), nowMs), nowMs),
	};
}

/** Says which versions there are not that traffic names. */
function withTraffic(fn: FunctionObject, sets: readonly SizedSet[], conditions: readonly Condition[], nowMs: number): readonly Condition[] {
	const type = 'TrafficKnown';
	const missing = (fn.spec?.traffic ?? []).flatMap(({revision}) =>
		revision === undefined || sets.some(({set}) => revisionOf(set) === revision) ? [] : [revision],
	);
	if (missing.length === 0) return conditions.filter(condition => condition.type !== type);
	const message = `spec.traffic names revision ${missing.join(', ')}, which there is not: its share goes to the newest version`;
	return withCondition(conditions, {type, status: 'False', reason: 'UnknownRevision', message}, nowMs);
}

function callable({spec}: FunctionObject, {last}: Failures): Omit<Condition, 'lastTransitionTime'> {
	const type = 'Callable';
	if (lacksCode(spec))
		return {type, status: 'False', reason: 'NoCode', message: 'its code is not here: troupe apply uploads the folder that it names'};
	if (last !== undefined) return {type, status: 'False', reason: 'FailedCreate', message: last};
	return {type, status: 'True', reason: 'HasCode', message: ''};
}
