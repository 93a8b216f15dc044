// The pods of a StatefulSet, each with a number, and a name and host name that follow from it. After stateful_set_utils.go of Kubernetes.

import {exclusiveAnnotation} from '../../../api/exclusive.js';
import {objectKey} from '../../../api/keys.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ClaimTemplate, StatefulSet} from '../../../api/kinds/statefulset.js';
import type {ControllerRevision} from '../../../api/kinds/controllerrevision.js';
import type {ApiObject, Draft} from '../../../api/object.js';
import {isDnsLabel} from '../../../api/rules/names.js';
import type {PodSpec} from '../../../api/shapes/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {placeNumber, podIndexLabel, podNameLabel, revisionLabel} from '../pods/pod-terms.js';
import {templateOf} from './controller-revisions.js';
import {podOf} from './pod-creation.js';

export const nameOf = ({metadata}: StatefulSet, ordinal: number): string => `${metadata.name}-${ordinal}`;

const numbered = /^(.+)-(0|[1-9]\d{0,9})$/;

/** The number in the pod's name; undefined where the name is none of the set's. */
export function ordinalOf({metadata: {name}}: StatefulSet, pod: ApiObject): number | undefined {
	const [, base, ordinal] = numbered.exec(pod.metadata.name) ?? [];
	return base === name ? Number(ordinal) : undefined;
}

/** The set that may be waiting for such a name to be free. */
export function namesake({metadata: {name, namespace}}: ApiObject, known: Known): ApiObject | undefined {
	const [, base] = numbered.exec(name) ?? [];
	return base === undefined ? undefined : known.get(objectKey('statefulsets', namespace, base));
}

/** The numbers its pods shall have: from the first on, the last excluded. */
export function ordinalsOf({spec}: StatefulSet): {readonly first: number; readonly end: number} {
	const first = spec?.ordinals?.start ?? 0;
	return {first, end: first + (spec?.replicas ?? 1)};
}

const remembered = new WeakMap<object, {readonly name: string; readonly sum: number}>();

/** What the places of its pods add up to when just those are there that shall be (`placesTerm`). By its spec, which stays while its status changes. */
export function wantedSum(set: StatefulSet): number {
	const {spec, metadata} = set;
	if (spec === undefined) return 0;
	const found = remembered.get(spec);
	if (found?.name === metadata.name) return found.sum;
	const {first, end} = ordinalsOf(set);
	let sum = 0;
	for (let ordinal = first; ordinal < end; ordinal++) sum += placeNumber(nameOf(set, ordinal));
	remembered.set(spec, {name: metadata.name, sum});
	return sum;
}

/** A pod is exclusive unless the template says otherwise: what has an identity must not run twice. */
export function statefulPod(set: StatefulSet, ordinal: number, revision: ControllerRevision): Draft {
	const {spec} = set;
	const name = nameOf(set, ordinal);
	const draft = podOf(spec === undefined ? set : {...set, spec: {...spec, template: templateOf(revision)}}, name);
	const {labels, annotations, ...metadata} = draft.metadata;
	return {
		...draft,
		metadata: {
			...metadata,
			labels: {...labels, [revisionLabel]: revision.metadata.name, [podNameLabel]: name, [podIndexLabel]: String(ordinal)},
			annotations: {[exclusiveAnnotation]: 'true', ...annotations},
		},
		spec: {...withClaims(set, name, draft.spec as PodSpec), hostname: name, ...subdomainOf(set)},
	};
}

/** Its headless Service, which gives each pod a name. What cannot be called so has none. */
const subdomainOf = ({spec}: StatefulSet): Pick<PodSpec, 'subdomain'> =>
	spec?.serviceName !== undefined && isDnsLabel(spec.serviceName) ? {subdomain: spec.serviceName} : {};

export const claimTemplatesOf = ({spec}: StatefulSet): readonly ClaimTemplate[] => spec?.volumeClaimTemplates ?? [];

export const claimNameOf = ({metadata}: ClaimTemplate, pod: string): string => `${metadata.name}-${pod}`;

/** Its volumes of the names of claims are those claims. */
function withClaims(set: StatefulSet, pod: string, spec: PodSpec): PodSpec {
	const templates = claimTemplatesOf(set);
	if (templates.length === 0) return spec;
	const names = new Set(templates.map(({metadata}) => metadata.name));
	const volumes = templates.map(template => ({
		name: template.metadata.name,
		persistentVolumeClaim: {claimName: claimNameOf(template, pod)},
	}));
	return {...spec, volumes: [...volumes, ...(spec.volumes ?? []).filter(({name}) => !names.has(name))]};
}

export const isOfRevision = ({metadata}: Pod, revision: ControllerRevision): boolean =>
	metadata.labels?.[revisionLabel] === revision.metadata.name;
