// The history of a DaemonSet or StatefulSet: for each template that it had a ControllerRevision, as Kubernetes keeps them, so that
// `kubectl rollout history` and `undo` work. After pkg/controller/history and daemon/update.go.
//
// A template that comes back gets its old revision again under a new number. A revision is called after its content: one that is asked for again
// after a crash is the same one.

import {deepEqual} from '../../../api/equal.js';
import type {ControllerRevision} from '../../../api/kinds/controllerrevision.js';
import {objectKey} from '../../../api/keys.js';
import {hashName} from '../../../api/names.js';
import type {Draft, JsonObject, Labels} from '../../../api/object.js';
import {changeCauseAnnotation} from '../../../api/rollouts.js';
import {membersOf} from '../../../api/rules/report.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {controller} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {controllerOf, ownerReferenceTo, strayTerm} from '../objects/owners.js';
import {ownerships} from '../objects/selection.js';
import {ownedTerm, revisionLabel} from '../pods/pod-terms.js';
import type {Workload} from './census.js';
import {creation, creationId} from './pod-creation.js';

const plural = 'controllerrevisions';

export const controllerRevisionController = controller<ControllerRevision>({
	plural,
	terms: revision => {
		const owner = controllerOf(revision);
		return [owner === undefined ? strayTerm(revision.metadata.namespace ?? '') : ownedTerm(owner.uid)];
	},
	reconcile: () => ({effects: []}),
});

type Template = NonNullable<Workload['spec']>['template'];

export type History = {
	/** Of the present template; undefined until it is committed, and nothing is made before. */
	readonly update: ControllerRevision | undefined;
	readonly all: readonly ControllerRevision[];
	readonly effects: Effect[];
};

/** `isLive`: pods are of that revision, or will be again. `limit`: of those that are not, so many are kept. */
export function historyOf(
	set: Workload,
	{limit, isLive}: {readonly limit: number; readonly isLive: (revision: ControllerRevision) => boolean},
	context: Context,
): History {
	const {spec, metadata} = set;
	const {known, pending} = context;
	if (spec === undefined) return {update: undefined, all: [], effects: []};
	const all = revisionsOf(metadata.uid, known);
	const effects = ownerships(set, {plural, selector: spec.selector, owned: all.length, strangers: [], isWanted: () => true}, context);
	const present = all.filter(revision => isOf(revision, spec.template)).at(-1);
	if (present === undefined) {
		// One that is about to be adopted may be it.
		const isAdopting = [...pending.values(), ...effects].some(write => write.type === 'update' && write.key.startsWith(`${plural}/`));
		const made = newRevision(set, spec.template, numberAfter(all), known);
		if (!isAdopting && !pending.has(creationId(made.metadata.name ?? ''))) effects.push(creation(made));
		return {update: undefined, all, effects};
	}
	const others = all.filter(revision => revision !== present);
	if (present.revision < numberAfter(others)) effects.push(...renumbered(present, numberAfter(others), context));
	effects.push(...pruned(others, limit, isLive, context));
	return {update: present, all, effects};
}

/** By number, the oldest first. */
const revisionsOf = (uid: string, known: Known): readonly ControllerRevision[] =>
	([...known.byTerm(plural, ownedTerm(uid))] as ControllerRevision[])
		.filter(revision => !isDeleting(revision))
		.sort((a, b) => a.revision - b.revision);

/** The last number there is comes after itself: whoever gave it to a revision does not keep the set from its next one. */
const numberAfter = (revisions: readonly ControllerRevision[]): number =>
	Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, ...revisions.map(({revision}) => revision)) + 1);

/** What the revision is told apart by in labels of pods. */
export const revisionHash = ({metadata}: ControllerRevision): string => metadata.labels?.[revisionLabel] ?? metadata.name;

const replace = '$patch';

/** A strategic merge patch that puts the template back as a whole. */
const dataOf = (template: Template): JsonObject => ({spec: {template: {...(template as unknown as JsonObject), [replace]: 'replace'}}});

/** The template that a revision keeps. */
export function templateOf({data}: ControllerRevision): Template {
	const {[replace]: _directive, ...template} = membersOf(membersOf(membersOf(data)['spec'])['template']);
	return template as unknown as Template;
}

const isOf = (revision: ControllerRevision, template: Template): boolean => deepEqual(templateOf(revision), template);

function newRevision(
	{metadata, ...set}: Workload,
	template: Template,
	revision: number,
	known: Known,
): Draft & Pick<ControllerRevision, 'data' | 'revision'> {
	const {namespace, name: setName, annotations} = metadata;
	const text = JSON.stringify(template);
	let hash = hashName(text);
	// Another object has the name: with the same hash by chance, or made by somebody.
	for (let again = 1; known.get(objectKey(plural, namespace, `${setName}-${hash}`)) !== undefined; again++)
		hash = hashName(`${again} ${text}`);
	const cause = annotations?.[changeCauseAnnotation];
	const labels: Labels = {...template.metadata?.labels, [revisionLabel]: hash};
	return {
		apiVersion: 'apps/v1',
		kind: 'ControllerRevision',
		metadata: {
			name: `${setName}-${hash}`,
			...(namespace === undefined ? {} : {namespace}),
			labels,
			...(cause === undefined ? {} : {annotations: {[changeCauseAnnotation]: cause}}),
			ownerReferences: [ownerReferenceTo({...set, metadata})],
		},
		data: dataOf(template),
		revision,
	};
}

function renumbered({metadata}: ControllerRevision, revision: number, {pending}: Context): Effect[] {
	const id = `renumber/${metadata.uid}`;
	if (pending.has(id)) return [];
	const message: PatchObject = {
		type: 'patch',
		patch: {metadata: {uid: metadata.uid, resourceVersion: metadata.resourceVersion}, revision},
	};
	return [{type: 'update', key: objectKey(plural, metadata.namespace, metadata.name), message, id}];
}

/** The oldest go, as far as they are more than the limit. */
function pruned(
	others: readonly ControllerRevision[],
	limit: number,
	isLive: (revision: ControllerRevision) => boolean,
	{pending}: Context,
): Effect[] {
	if (others.length <= limit) return [];
	const over = others.filter(revision => !isLive(revision));
	return over.slice(0, Math.max(0, over.length - limit)).flatMap(({metadata}): Effect[] => {
		const id = `delete/${metadata.uid}`;
		const key = objectKey(plural, metadata.namespace, metadata.name);
		return pending.has(id) ? [] : [{type: 'delete', key, uid: metadata.uid, id}];
	});
}
