// What the LimitRanges of a namespace say of a new object. After Kubernetes' LimitRanger admission, with its words.

import {failed, type Outcome} from '../../../api/errors.js';
import type {LimitRange, LimitRangeItem} from '../../../api/kinds/limitrange.js';
import type {Draft} from '../../../api/object.js';
import {quantityValue} from '../../../api/quantity.js';
import {amountOf, amountText} from '../../../api/resource-amount.js';
import type {Quantities, Quantity} from '../../../api/shapes/pod.js';
import {shown} from '../../../api/shown.js';
import type {Known} from '../../../system/index/object-index.js';

/** The items of all LimitRanges of the object's namespace, the first by name first. */
export const limitsFor = ({metadata}: Draft, known: Known): readonly LimitRangeItem[] =>
	([...known.list('limitranges', metadata.namespace ?? '')] as LimitRange[])
		.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
		.flatMap(({spec}) => spec?.limits ?? []);

/** The draft, unless it breaks a limit. */
export function unlessBroken(plural: string, draft: Draft, broken: readonly string[]): Outcome<Draft> {
	if (broken.length === 0) return {ok: true, value: draft};
	const told = broken.length === 1 ? broken.join('') : `[${broken.join(', ')}]`;
	return failed('ERR_FORBIDDEN', {message: `${plural} ${shown(draft.metadata.name ?? '')} is forbidden: ${told}`});
}

/** What is asked for of one resource, in whole numbers; undefined where nothing is. */
export type Asked = {readonly request: number | undefined; readonly limit: number | undefined};

/** What a check says of one bound; undefined: it is kept. */
type Check = (resource: string, bound: Quantity) => string | undefined;

const each = (bounds: Quantities | undefined, check: Check): readonly string[] =>
	Object.entries(bounds ?? {}).flatMap(([resource, bound]) => check(resource, bound) ?? []);

/** What of an item what is asked for does not keep. */
export function brokenOf({type, min, max, maxLimitRequestRatio}: LimitRangeItem, askedOf: (resource: string) => Asked): readonly string[] {
	return [
		...each(min, (resource, bound) => tooLittle(`minimum ${resource} usage per ${type} is ${bound}`, resource, bound, askedOf(resource))),
		...each(max, (resource, bound) => tooMuch(`maximum ${resource} usage per ${type} is ${bound}`, resource, bound, askedOf(resource))),
		...each(maxLimitRequestRatio, (resource, bound) =>
			tooFarApart(`${resource} max limit to request ratio per ${type} is ${bound}`, bound, askedOf(resource)),
		),
	];
}

/** The same where requests alone are looked at. */
export function brokenByRequest({type, min, max}: LimitRangeItem, requestOf: (resource: string) => number | undefined): readonly string[] {
	return [
		...each(min, (resource, bound) =>
			tooLittle(`minimum ${resource} usage per ${type} is ${bound}`, resource, bound, {request: requestOf(resource), limit: undefined}),
		),
		...each(max, (resource, bound) =>
			tooMuchRequested(`maximum ${resource} usage per ${type} is ${bound}`, resource, bound, requestOf(resource)),
		),
	];
}

function tooLittle(what: string, resource: string, bound: Quantity, {request, limit}: Asked): string | undefined {
	const least = amountOf(resource, bound) ?? 0;
	if (request === undefined) return `${what}.  No request is specified`;
	if (request < least) return `${what}, but request is ${amountText(resource, request)}`;
	return limit !== undefined && limit < least ? `${what}, but limit is ${amountText(resource, limit)}` : undefined;
}

function tooMuch(what: string, resource: string, bound: Quantity, {request, limit}: Asked): string | undefined {
	const most = amountOf(resource, bound) ?? 0;
	if (limit === undefined) return `${what}.  No limit is specified`;
	if (limit > most) return `${what}, but limit is ${amountText(resource, limit)}`;
	return request === undefined ? undefined : tooMuchRequested(what, resource, bound, request);
}

function tooMuchRequested(what: string, resource: string, bound: Quantity, request: number | undefined): string | undefined {
	if (request === undefined) return `${what}.  No request is specified`;
	return request > (amountOf(resource, bound) ?? 0) ? `${what}, but request is ${amountText(resource, request)}` : undefined;
}

function tooFarApart(what: string, bound: Quantity, {request = 0, limit = 0}: Asked): string | undefined {
	if (request === 0) return `${what}, but no request is specified or request is 0`;
	if (limit === 0) return `${what}, but no limit is specified or limit is 0`;
	const ratio = limit / request;
	return ratio > (quantityValue(bound) ?? 0) ? `${what}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
