// Dnses and Ingresses: whether each gets the paths of hosts that it asks for. A path belongs to the oldest that asks for it; the others say so.

import {conditionOf} from '../../../api/conditions.js';
import {functionsOf} from '../../../api/dns-backends.js';
import type {Dns} from '../../../api/kinds/dns.js';
import type {Ingress} from '../../../api/kinds/ingress.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Condition} from '../../../api/object.js';
import {byAge, dnsPlaces, ingressPlaces, placeText, type RouteClaimant, type RoutePlace} from '../../../api/routes.js';
import type {Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {withCondition} from '../objects/conditions.js';
import {certificateKeysOf, certificateTerm, routedFunctionTerm} from '../../network-references.js';
import {controller, type Controller, type Reconciliation, type Watched} from '../objects/controller.js';
import {warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';

type Route = Dns | Ingress;
type RouteStatus = {readonly observedGeneration?: number; readonly conditions?: readonly Condition[]};

const plurals = ['dnses', 'ingresses'] as const;

const placesOf = ({kind, spec}: ApiObject): readonly RoutePlace[] => {
	if (spec === undefined) return [];
	return kind === 'Dns' ? dnsPlaces(spec as NonNullable<Dns['spec']>) : ingressPlaces(spec as NonNullable<Ingress['spec']>);
};

const placeTerm = ({host, path, type}: RoutePlace): string => `route=${host} ${type} ${path}`;

const termsOf = (route: ApiObject): readonly string[] => [...new Set(placesOf(route).map(placeTerm))];

/** Those that name a Secret are found when it changes. */
const certificateTermsOf = ({kind, metadata, spec}: ApiObject): readonly string[] =>
	kind === 'Ingress' && spec !== undefined
		? certificateKeysOf(spec as NonNullable<Ingress['spec']>, metadata.namespace ?? '').map(certificateTerm)
		: [];

/** So that a call of a function which a node passes on is known to be of a route. */
const functionTermsOf = ({kind, metadata, spec}: ApiObject): readonly string[] =>
	kind === 'Dns' && spec !== undefined
		? functionsOf((spec as NonNullable<Dns['spec']>).paths).map(name => routedFunctionTerm(metadata.namespace ?? '', name))
		: [];

const claimant = ({kind, metadata}: ApiObject): RouteClaimant => ({
	createdAt: metadata.creationTimestamp,
	kind: kind === 'Dns' ? 'dns' : 'ingress',
	namespace: metadata.namespace ?? '',
	name: metadata.name,
});

/** Those of a kind that ask for a path that this one asks for, or did. */
function* rivals(plural: string, {before, after}: Watched, known: Known): Iterable<ApiObject> {
	if (before !== undefined && after?.spec === before.spec) return;
	const terms = new Set([before, after].flatMap(each => (each === undefined ? [] : termsOf(each))));
	for (const term of terms) yield* known.byTerm(plural, term);
}

/** The oldest that asks for it, if it is older than this one. */
function holderOf(place: RoutePlace, route: ApiObject, known: Known): ApiObject | undefined {
	let oldest = route;
	for (const plural of plurals) {
		for (const other of known.byTerm(plural, placeTerm(place))) if (byAge(claimant(other), claimant(oldest)) < 0) oldest = other;
	}
	return oldest === route || oldest.metadata.uid === route.metadata.uid ? undefined : oldest;
}

function takenText(route: ApiObject, known: Known): string {
	const taken = placesOf(route).flatMap(place => {
		const holder = holderOf(place, route, known);
		if (holder === undefined) return [];
		const {namespace = '', name} = holder.metadata;
		return [`${placeText(place)} belongs to ${holder.kind.toLowerCase()} ${namespace}/${name}`];
	});
	const more = taken.length - limits.routesTakenShown;
	return taken.slice(0, limits.routesTakenShown).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

const accepted = 'Accepted';

function reconcile<Obj extends Route>(route: Obj, {known, nowMs}: Context): Reconciliation<Obj['status']> {
	if (isDeleting(route)) return {effects: []};
	const status: RouteStatus = route.status ?? {};
	const taken = takenText(route, known);
	const condition: Condition =
		taken === ''
			? {type: accepted, status: 'True', reason: accepted, message: 'all of its paths are its own'}
			: {type: accepted, status: 'False', reason: 'PathTaken', message: `${taken}: the older one has it`};
	const isNews = taken !== '' && conditionOf(status.conditions, accepted)?.message !== condition.message;
	return {
		status: {
			...status,
			...(route.kind === 'Dns' ? {observedGeneration: route.metadata.generation} : {}),
			conditions: withCondition(status.conditions, condition, nowMs),
		},
		effects: isNews ? [warning('PathTaken', condition.message ?? '')] : [],
	};
}

const routeController = <Obj extends Route>(plural: (typeof plurals)[number]): Controller =>
	controller<Obj>({
		plural,
		terms: route => [...termsOf(route), ...certificateTermsOf(route), ...functionTermsOf(route)],
		watches: Object.fromEntries(plurals.map(each => [each, (change: Watched, known: Known) => rivals(plural, change, known)])),
		reconcile,
	});

export const dnsController = routeController<Dns>('dnses');
export const ingressController = routeController<Ingress>('ingresses');
