// The kind Dns: a host name whose paths are services and functions.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import {backendsOf, type DnsBackend, type DnsPath} from '../dns-backends.js';
import type {KindDefinition} from '../kind.js';
import {limits} from '../limits.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {forbid, itemsOf, membersOf, refuse, refuseDuplicates, requireOne, type Found} from '../rules/report.js';
import {checkBackends, checkFunctionName, checkRouteHost, checkRoutePath, checkServiceName, type PatternAllowance} from '../rules/route.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/dns.js';
import {shown} from '../shown.js';

export type DnsSpec = ShapeOf<typeof spec>;
export type Dns = ApiObject<DnsSpec, ShapeOf<typeof status>>;

const specOf = (object: ApiObject): DnsSpec | undefined => (object as Dns).spec;

export const dns: KindDefinition = {
	kind: 'Dns',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'dnses',
	singular: 'dns',
	shortNames: [],
	namespaced: true,
	defaults: draft => draft,
	validate,
	initialStatus: () => ({}),
	columns: [
		nameColumn,
		column('Host', 'The host name.', object => specOf(object)?.host ?? none),
		column(
			'Paths',
			'Which service or function answers below which path.',
			object => (specOf(object)?.paths ?? []).map(pathText).join(',') || none,
		),
		ageColumn,
	],
};

const pathText = (path: DnsPath): string => `${path.subPath}=${backendsOf(path).map(backendText).join('|')}`;

function backendText({svcName = '', svcPort, funcName}: DnsBackend): string {
	if (funcName !== undefined) return `function/${funcName}`;
	return svcPort === undefined ? svcName : `${svcName}:${svcPort}`;
}

function validate(found: Found, draft: Draft): void {
	const {host, paths} = membersOf(draft.spec);
	if (typeof host === 'string') checkRouteHost(found, 'spec.host', host);
	const items = itemsOf(paths).map(membersOf);
	if (items.length > limits.routePaths) return refuse(found, 'spec.paths', `must be at most ${limits.routePaths}, got ${items.length}`);
	const allowance: PatternAllowance = {left: limits.routePatterns};
	const places = items.flatMap((item, i) => {
		const at = `spec.paths[${i}]`;
		checkTargets(found, at, item, allowance);
		const {subPath} = item;
		if (typeof subPath !== 'string') return [];
		checkRoutePath(found, `${at}.subPath`, subPath);
		return [{value: subPath, path: `${at}.subPath`}];
	});
	refuseDuplicates(found, places, (path, first) => `${shown(path)} is the path of ${first.replace(/\.subPath$/, '')} already`);
}

/** One service, one function, or several of them that share the path. */
function checkTargets(found: Found, at: string, item: JsonObject, allowance: PatternAllowance): void {
	const {svcName, svcPort, funcName, backends} = item;
	const given = requireOne(found, at, item, ['svcName', 'funcName', 'backends'], ['subPath', 'svcPort']);
	if (given === 'backends') {
		if (svcPort !== undefined) forbid(found, `${at}.svcPort`, 'belongs to svcName; each of the backends has one of its own');
		checkBackends(found, `${at}.backends`, backends, allowance);
		return;
	}
	if (given === 'funcName') {
		if (svcPort !== undefined) forbid(found, `${at}.svcPort`, 'belongs to svcName; a function has no ports');
		checkFunctionName(found, `${at}.funcName`, funcName);
		return;
	}
	checkServiceName(found, `${at}.svcName`, svcName);
	if (svcName !== undefined && svcPort === undefined) refuse(found, `${at}.svcPort`, 'is required', 'FieldValueRequired');
}
