// The kind StatefulSet: so many pods of one template, each with a number and a name that it keeps.

import {ageColumn, column, nameColumn, templateColumns} from '../columns/common.js';
import {withTemplateDefaults} from '../defaults/pod.js';
import {deepEqual} from '../equal.js';
import type {KindDefinition} from '../kind.js';
import {limits} from '../limits.js';
import {hashNameLength} from '../names.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {checkAnnotations, checkLabels} from '../rules/metadata.js';
import {checkDnsLabel} from '../rules/names.js';
import {forbid, itemsOf, membersOf, refuse, refuseDuplicates, textOf, type Found} from '../rules/report.js';
import {checkClaimSpec} from '../rules/storage.js';
import {checkCountOrPercent, isZeroCount} from '../rules/count-or-percent.js';
import {checkWorkload} from '../rules/workload.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/statefulset.js';
import {shown} from '../shown.js';

export type StatefulSetSpec = ShapeOf<typeof spec>;
export type StatefulSetStatus = ShapeOf<typeof status>;
export type ClaimTemplate = NonNullable<StatefulSetSpec['volumeClaimTemplates']>[number];
export type StatefulSet = ApiObject<StatefulSetSpec, StatefulSetStatus>;

const asStatefulSet = (object: ApiObject): StatefulSet => object as StatefulSet;

export const statefulSet: KindDefinition = {
	kind: 'StatefulSet',
	group: 'apps',
	version: 'v1',
	plural: 'statefulsets',
	singular: 'statefulset',
	shortNames: ['sts'],
	categories: ['all'],
	namespaced: true,
	scalable: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as StatefulSetSpec)}),
	validate,
	initialStatus: (): StatefulSetStatus => ({replicas: 0, availableReplicas: 0}),
	columns: [
		nameColumn,
		column(
			'Ready',
			'How many pods are ready, of how many.',
			object => `${asStatefulSet(object).status?.readyReplicas ?? 0}/${asStatefulSet(object).spec?.replicas ?? 0}`,
		),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asStatefulSet(object);
			return spec === undefined ? undefined : {spec: spec.template.spec, selector: spec.selector};
		}).filter(({name}) => name !== 'Selector'),
	],
};

/** As in Kubernetes. */
const defaults = {partition: 0, unavailable: 1, revisions: 10} as const;

const withDefaults = (spec: StatefulSetSpec): StatefulSetSpec => ({
	...spec,
	replicas: spec.replicas ?? 1,
	podManagementPolicy: spec.podManagementPolicy ?? 'OrderedReady',
	updateStrategy:
		spec.updateStrategy?.type === 'OnDelete'
			? spec.updateStrategy
			: {
					type: 'RollingUpdate',
					rollingUpdate: {
						partition: spec.updateStrategy?.rollingUpdate?.partition ?? defaults.partition,
						maxUnavailable: spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? defaults.unavailable,
					},
				},
	revisionHistoryLimit: spec.revisionHistoryLimit ?? defaults.revisions,
	template: {...spec.template, spec: withTemplateDefaults(spec.template.spec)},
	...(spec.volumeClaimTemplates === undefined ? {} : {volumeClaimTemplates: spec.volumeClaimTemplates.map(withClaimDefaults)}),
	persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Retain', whenScaled: 'Retain', ...spec.persistentVolumeClaimRetentionPolicy},
});

/** However a template is written, it is the same one again. */
const withClaimDefaults = ({metadata: {name, labels, annotations}, spec}: ClaimTemplate): ClaimTemplate => ({
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name, ...(labels === undefined ? {} : {labels}), ...(annotations === undefined ? {} : {annotations})},
	spec: {...spec, volumeMode: spec.volumeMode ?? 'Filesystem'},
});

/** With a hyphen and the name of a revision it is still the value of a label. */
const longestName = 63 - hashNameLength - 1;

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	checkName(found, textOf(draft.metadata.name) ?? '');
	const claims = itemsOf(spec['volumeClaimTemplates']).map(membersOf);
	checkClaims(found, 'spec.volumeClaimTemplates', claims);
	checkClaimCount(found, 'spec.replicas', spec['replicas'], claims.length);
	const template = withClaimVolumes(membersOf(spec['template']), claims);
	checkWorkload(found, {...draft, spec: {...spec, template}}, old, 'StatefulSet');
	if (membersOf(template['spec'])['activeDeadlineSeconds'] !== undefined)
		forbid(found, 'spec.template.spec.activeDeadlineSeconds', 'must not be set in a StatefulSet: its pods have no end');
	checkStrategy(found, 'spec.updateStrategy', membersOf(spec['updateStrategy']));
	if (old === undefined) return;
	const before = membersOf(old.spec);
	for (const field of ['serviceName', 'podManagementPolicy']) checkUnchanged(found, `spec.${field}`, spec[field], before[field]);
	if (!deepEqual(claims, itemsOf(before['volumeClaimTemplates']))) forbid(found, 'spec.volumeClaimTemplates', keptClaims);
}

const keptClaims =
	"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
	"'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden; delete the set with --cascade=orphan and create it again";

const nameOf = (template: JsonObject): string | undefined => textOf(membersOf(template['metadata'])['name']);

function checkClaims(found: Found, path: string, templates: readonly JsonObject[]): void {
	const names = templates.flatMap((template, i) => {
		const at = `${path}[${i}]`;
		const {labels, annotations} = membersOf(template['metadata']);
		const name = nameOf(template);
		checkLabels(found, `${at}.metadata.labels`, labels);
		checkAnnotations(found, `${at}.metadata.annotations`, annotations);
		checkClaimSpec(found, `${at}.spec`, membersOf(template['spec']));
		if (name === undefined) return [];
		checkDnsLabel(found, `${at}.metadata.name`, name);
		return [{value: name, path: `${at}.metadata.name`}];
	});
	refuseDuplicates(found, names, name => `there is a claim ${shown(name)} already`);
	if (templates.length > limits.claimTemplates) refuse(found, path, `must be at most ${limits.claimTemplates}, got ${templates.length}`);
}

/** Each claim is an actor, as each pod is; and a set looks at them all when they are not as they shall be. */
function checkClaimCount(found: Found, path: string, replicas: unknown, templates: number): void {
	if (templates === 0) return;
	const most = Math.floor(limits.setClaims / templates);
	if (typeof replicas === 'number' && replicas > most)
		refuse(found, path, `must be at most ${most} with ${templates} volumeClaimTemplates, got ${replicas}`);
}

/** The template as its pods will have it, for the volumes that containers name. Those of its own keep their places. */
function withClaimVolumes(template: JsonObject, claims: readonly JsonObject[]): JsonObject {
	const spec = membersOf(template['spec']);
	const own = itemsOf(spec['volumes']);
	const there = own.map(volume => membersOf(volume)['name']);
	const added = claims.flatMap(claim => {
		const name = nameOf(claim);
		return name === undefined || name === '' || there.includes(name) ? [] : [{name, persistentVolumeClaim: {claimName: name}}];
	});
	return added.length === 0 ? template : {...template, spec: {...spec, volumes: [...own, ...added]}};
}

/** Its pods are called like it, and a host has that name. */
function checkName(found: Found, name: string): void {
	if (name === '') return;
	checkDnsLabel(found, 'metadata.name', name);
	if (name.length > longestName)
		refuse(found, 'metadata.name', `must have at most ${longestName} characters, got ${name.length}: its pods have longer names`);
}

function checkStrategy(found: Found, path: string, strategy: JsonObject): void {
	if (strategy['type'] === 'OnDelete') {
		if (strategy['rollingUpdate'] !== undefined) forbid(found, `${path}.rollingUpdate`, 'must not be set when the type is OnDelete');
		return;
	}
	const {maxUnavailable} = membersOf(strategy['rollingUpdate']);
	checkCountOrPercent(found, `${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 100);
	if (isZeroCount(maxUnavailable)) refuse(found, `${path}.rollingUpdate.maxUnavailable`, 'must not be 0: no pod could ever be replaced');
}
