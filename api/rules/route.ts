// What Dnses and Ingresses share: host names and paths, and the services and functions behind them.

import {limits} from '../limits.js';
import type {Json} from '../object.js';
import {readRoutePattern} from '../route-pattern.js';
import {shown} from '../shown.js';
import {checkDnsSubdomain, isDnsLabel, isDnsSubdomain, isToken} from './names.js';
import {forbid, itemsOf, membersOf, refuse, requireOne, textOf, type Found} from './report.js';

/** A host name, or `*.` and one. */
export function checkRouteHost(found: Found, path: string, host: string): void {
	checkDnsSubdomain(found, path, host.startsWith('*.') ? host.slice(2) : host);
}

/** The path of a URL: dots that climb have no place there, since a request with them is refused. */
export function checkRoutePath(found: Found, path: string, text: string): void {
	if (!/^\/[^\s?#]*$/.test(text))
		refuse(found, path, `must be a path that begins with "/", without spaces, "?" and "#", got ${shown(text)}`);
	else if (/\/\.{1,2}(\/|$)/.test(text)) refuse(found, path, `must not have segments of dots, got ${shown(text)}`);
}

export function checkServiceName(found: Found, path: string, name: Json | undefined): void {
	if (typeof name === 'string' && !isDnsLabel(name)) refuse(found, path, `must be the name of a service, got ${shown(name)}`);
}

export function checkFunctionName(found: Found, path: string, name: Json | undefined): void {
	if (typeof name === 'string' && !isDnsSubdomain(name)) refuse(found, path, `must be the name of a function, got ${shown(name)}`);
}

/** How many more regular expressions the object may have. One that is too large ends the looking: what comes after it is not compiled. */
export type PatternAllowance = {left: number};

/** The services and functions that share a path. */
export function checkBackends(found: Found, path: string, value: Json | undefined, allowance: PatternAllowance): void {
	const backends = itemsOf(value).map(membersOf);
	if (backends.length > limits.routeBackends) refuse(found, path, `must be at most ${limits.routeBackends}, got ${backends.length}`);
	backends.slice(0, limits.routeBackends).forEach((backend, i) => {
		const {svcName, svcPort, funcName, match} = backend;
		requireOne(found, `${path}[${i}]`, backend, ['svcName', 'funcName'], ['svcPort', 'weight', 'match']);
		if (funcName !== undefined && svcPort !== undefined)
			forbid(found, `${path}[${i}].svcPort`, 'belongs to svcName; a function has no ports');
		checkServiceName(found, `${path}[${i}].svcName`, svcName);
		checkFunctionName(found, `${path}[${i}].funcName`, funcName);
		if (match !== undefined) checkMatch(found, `${path}[${i}].match`, match, allowance);
	});
	const weights = backends.map(({weight, match}) => (typeof weight === 'number' ? weight : match === undefined ? 1 : 0));
	if (backends.length > 0 && weights.every(weight => weight === 0))
		refuse(found, path, 'need a weight above 0 in at least one of them: it answers the requests that no match takes');
}

function checkMatch(found: Found, at: string, value: Json, allowance: PatternAllowance): void {
	const match = membersOf(value);
	if (Object.keys(match).length === 0) refuse(found, at, 'must have at least one of header, cookie and path');
	for (const part of ['header', 'cookie']) {
		if (match[part] === undefined) continue;
		const {name} = membersOf(match[part]);
		if (typeof name === 'string' && !isToken(name))
			refuse(found, `${at}.${part}.name`, `must be the name of a ${part}: letters, digits, "-" and "_" say, got ${shown(name)}`);
		checkComparison(found, `${at}.${part}`, match[part], allowance);
	}
	if (match['path'] === undefined) return;
	requireOne(found, `${at}.path`, membersOf(match['path']), comparisons);
	checkComparison(found, `${at}.path`, match['path'], allowance);
	for (const member of ['exact', 'prefix']) {
		const text = textOf(membersOf(match['path'])[member]);
		if (text !== undefined) checkRoutePath(found, `${at}.path.${member}`, text);
	}
}

const comparisons = ['exact', 'prefix', 'regex'] as const;

function checkComparison(found: Found, at: string, value: Json | undefined, allowance: PatternAllowance): void {
	const object = membersOf(value);
	const given = comparisons.filter(each => object[each] !== undefined);
	if (given.length > 1) refuse(found, at, `must be one of ${comparisons.join(', ')}, got ${given.join(' and ')}`);
	const {regex} = object;
	if (typeof regex !== 'string' || allowance.left < 0) return;
	allowance.left -= 1;
	if (allowance.left < 0) return refuse(found, `${at}.regex`, `is one too many: at most ${limits.routePatterns} in one object`);
	const read = readRoutePattern(regex);
	if (read.ok) return;
	refuse(found, `${at}.regex`, `${read.message}, got ${shown(regex)}`);
	allowance.left = -1;
}
