// The kind Dns: a host name whose paths are services.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkDnsSubdomain, isDnsLabel} from '../rules/names.js';
import {itemsOf, membersOf, refuse, refuseDuplicates, type Found} from '../rules/report.js';
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
	isInert: true,
	defaults: draft => draft,
	validate,
	initialStatus: () => ({}),
	columns: [
		nameColumn,
		column('Host', 'The host name.', object => specOf(object)?.host ?? none),
		column(
			'Paths',
			'Which service answers below which path.',
			object => (specOf(object)?.paths ?? []).map(({subPath, svcName, svcPort}) => `${subPath}=${svcName}:${svcPort}`).join(',') || none,
		),
		ageColumn,
	],
};

function validate(found: Found, draft: Draft): void {
	const {host, paths} = membersOf(draft.spec);
	if (typeof host === 'string') checkDnsSubdomain(found, 'spec.host', host);
	const places = itemsOf(paths).flatMap((item, i) => {
		const at = `spec.paths[${i}]`;
		const {subPath, svcName} = membersOf(item);
		if (typeof svcName === 'string' && !isDnsLabel(svcName))
			refuse(found, `${at}.svcName`, `must be the name of a service, got ${shown(svcName)}`);
		if (typeof subPath !== 'string') return [];
		if (!/^\/[^\s?#]*$/.test(subPath))
			refuse(found, `${at}.subPath`, `must be a path that begins with "/", without spaces, "?" and "#", got ${shown(subPath)}`);
		return [{value: subPath, path: `${at}.subPath`}];
	});
	refuseDuplicates(found, places, (path, first) => `${shown(path)} is the path of ${first.replace(/\.subPath$/, '')} already`);
}
