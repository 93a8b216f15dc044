// What the LimitRanges of its namespace make of a new pod: what a container does not ask for is filled in, and what is too much or too little
// is refused. After Kubernetes' LimitRanger admission, with its words.

import {admitCreate} from '../../../api/admission.js';
import type {Outcome} from '../../../api/errors.js';
import type {LimitRangeItem} from '../../../api/kinds/limitrange.js';
import type {Container, PodSpec} from '../../../api/kinds/pod.js';
import type {Draft} from '../../../api/object.js';
import {podLimits, podRequests, type Amounts} from '../../../api/pod-resources.js';
import {amountOf} from '../../../api/resource-amount.js';
import type {Quantities} from '../../../api/shapes/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {brokenOf, limitsFor, unlessBroken, type Asked} from '../objects/limit-range.js';

/** What was filled in, for people. */
const annotation = 'kubernetes.io/limit-ranger';

/**
 * The draft with its defaults, or what of it breaks a limit. A draft that admission will refuse is left to it. In a namespace without limits
 * nothing is looked at; in one with them a pod is admitted twice.
 */
export function withinLimits(draft: Draft, known: Known): Outcome<Draft> {
	const items = limitsFor(draft, known);
	if (items.length === 0) return {ok: true, value: draft};
	const admitted = admitCreate(draft);
	if (!admitted.ok) return {ok: true, value: draft};
	const pod = withDefaults(admitted.value, items);
	return unlessBroken(
		'pods',
		pod,
		items.flatMap(item => violations(item, pod.spec as PodSpec)),
	);
}

// ---- defaults ------------------------------------------------------------------------------------------------------------

type Filled = {readonly container: Container; readonly notes: readonly string[]};

/** Of several LimitRanges the first that has a default gives it. */
function withDefaults(draft: Draft, items: readonly LimitRangeItem[]): Draft {
	const ofContainers = items.filter(({type}) => type === 'Container');
	const most: Quantities = Object.assign({}, ...ofContainers.map(item => item.default ?? {}).reverse()) as Quantities;
	const least: Quantities = Object.assign({}, ...ofContainers.map(item => item.defaultRequest ?? {}).reverse()) as Quantities;
	const spec = draft.spec as PodSpec;
	const containers = spec.containers.map(each => filled('container', each, most, least));
	const init = spec.initContainers?.map(each => filled('init container', each, most, least));
	const notes = [...containers, ...(init ?? [])].flatMap(each => each.notes);
	if (notes.length === 0) return draft;
	const annotations = {...draft.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}`};
	return {
		...draft,
		metadata: {...draft.metadata, annotations},
		spec: {
			...spec,
			containers: containers.map(({container}) => container),
			...(init === undefined ? {} : {initContainers: init.map(({container}) => container)}),
		},
	};
}

function filled(what: string, container: Container, most: Quantities, least: Quantities): Filled {
	const {requests = {}, limits = {}} = container.resources ?? {};
	const newLimits = missing(most, limits);
	const newRequests = missing(least, requests);
	const note = (names: readonly string[], part: string): readonly string[] =>
		names.length === 0 ? [] : [`${[...names].sort().join(', ')} ${part} for ${what} ${container.name}`];
	const notes = [...note(Object.keys(newRequests), 'request'), ...note(Object.keys(newLimits), 'limit')];
	if (notes.length === 0) return {container, notes};
	const resources = {
		...container.resources,
		...(Object.keys(newRequests).length === 0 ? {} : {requests: {...requests, ...newRequests}}),
		...(Object.keys(newLimits).length === 0 ? {} : {limits: {...limits, ...newLimits}}),
	};
	return {container: {...container, resources}, notes};
}

const missing = (defaults: Quantities, given: Quantities): Quantities =>
	Object.fromEntries(Object.entries(defaults).filter(([resource]) => !Object.hasOwn(given, resource)));

// ---- limits --------------------------------------------------------------------------------------------------------------

function violations(item: LimitRangeItem, spec: PodSpec): readonly string[] {
	switch (item.type) {
		case 'Container':
			return [...spec.containers, ...(spec.initContainers ?? [])].flatMap(container =>
				brokenOf(item, resource => ({
					request: amountOf(resource, container.resources?.requests?.[resource]),
					limit: amountOf(resource, container.resources?.limits?.[resource]),
				})),
			);
		case 'Pod':
			return brokenOf(item, resource => askedByPod(spec, resource));
		case 'PersistentVolumeClaim':
			return [];
	}
}

function askedByPod(spec: PodSpec, resource: string): Asked {
	const all = [...spec.containers, ...(spec.initContainers ?? [])];
	const sum = (amounts: Amounts): number => (resource === 'cpu' ? amounts.cpuMillis : amounts.memoryBytes);
	const isAsked = (part: 'requests' | 'limits'): boolean => all.some(({resources}) => resources?.[part]?.[resource] !== undefined);
	return {
		request: isAsked('requests') ? sum(podRequests(spec)) : undefined,
		limit: isAsked('limits') ? sum(podLimits(spec)) : undefined,
	};
}
