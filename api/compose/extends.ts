// `extends`: a service has what another one of the file has, and its own beside or instead of it. What is joined and what is replaced is as
// in docker-compose (its merge of service definitions).

import {limits} from '../limits.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {below, refuse, type At} from './findings.js';
import {refuseOthers, textOf} from './values.js';

/** All services with what they extend; one that extends wrongly is left out, and told. */
export function withExtended(services: JsonObject, at: At): ReadonlyMap<string, JsonObject> {
	const done = new Map<string, JsonObject | undefined>();
	let room = limits.composeCharacters;
	const resolve = (name: string, trail: readonly string[]): JsonObject | undefined => {
		if (done.has(name)) return done.get(name);
		const here = below(at, name);
		const own = services[name];
		if (!isObject(own)) {
			refuse(here, `must be a map, got ${shown(own)}`);
			done.set(name, undefined);
			return undefined;
		}
		const {extends: base, ...fields} = own;
		const from = base === undefined || base === null ? undefined : baseOf(base, services, below(here, 'extends'));
		let whole: JsonObject | undefined = base === undefined || base === null ? fields : undefined;
		if (from !== undefined && trail.includes(from)) refuse(below(here, 'extends'), `goes in a circle: ${[...trail, from].join(', ')}`);
		else if (from !== undefined) {
			const parent = resolve(from, [...trail, from]);
			if (parent !== undefined) whole = merged(parent, fields);
			room -= JSON.stringify(whole ?? null).length;
			if (room < 0) whole = refuse(below(here, 'extends'), 'makes the file too large: services extend others that extend others');
		}
		done.set(name, whole);
		return whole;
	};
	const found = Object.keys(services).map(name => [name, resolve(name, [name])] as const);
	return new Map(found.flatMap(([name, fields]) => (fields === undefined ? [] : [[name, fields] as const])));
}

function baseOf(base: Json, services: JsonObject, at: At): string | undefined {
	const members = isObject(base) ? base : {service: base};
	refuseOthers(at, members, ['service', 'file']);
	if (members['file'] !== undefined) return refuse(below(at, 'file'), 'services of other files are not read: write it into this one');
	const name = textOf(at, members['service']);
	if (name === undefined) return refuse(at, 'must name a service of this file');
	if (!Object.hasOwn(services, name)) return refuse(at, `there is no service ${shown(name)}${didYouMean(name, Object.keys(services))}`);
	return name;
}

type Merge = (base: Json, own: Json) => Json;

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const asList = (value: Json): readonly Json[] => (isList(value) ? value : [value]);

/** `KEY=VALUE` as a map, so that one key is there once. */
const asMap = (value: Json): Json =>
	isList(value)
		? Object.fromEntries(
				value.map(item => {
					const text = typeof item === 'string' ? item : JSON.stringify(item);
					const equals = text.indexOf('=');
					return equals < 0 ? [text, null] : [text.slice(0, equals), text.slice(equals + 1)];
				}),
			)
		: value;

/** Names as a map to what is said when nothing more is. */
const namesTo =
	(usual: Json) =>
	(value: Json): Json =>
		isList(value) ? Object.fromEntries(value.map(item => [typeof item === 'string' ? item : JSON.stringify(item), usual])) : value;

const mapsMerged =
	(map: (value: Json) => Json): Merge =>
	(base, own) => {
		const [first, second] = [map(base), map(own)];
		return isObject(first) && isObject(second) ? {...first, ...second} : own;
	};

/** One after another, each by its key once: the later counts. */
const listsMerged =
	(keyOf: (item: Json) => string): Merge =>
	(base, own) => [...new Map([...asList(base), ...asList(own)].map(item => [keyOf(item), item])).values()];

const deeplyMerged: Merge = (base, own) => {
	if (!isObject(base) || !isObject(own)) return own;
	const members = Object.entries(own).map(([key, value = null]): [string, Json] => {
		const before = Object.hasOwn(base, key) ? base[key] : undefined;
		return [key, before === undefined ? value : deeplyMerged(before, value)];
	});
	return {...base, ...Object.fromEntries(members)};
};

const member = (item: Json, name: string): Json => (isObject(item) ? (item[name] ?? item) : item);

/** Where a mount is seen: the second part of a short one, or its only one. */
function targetOf(item: Json): string {
	const parts = typeof item === 'string' ? item.split(':') : [];
	return JSON.stringify(parts.length > 1 ? parts[1] : member(item, 'target'));
}

const merges: {readonly [field: string]: Merge} = {
	...Object.fromEntries(['environment', 'labels', 'annotations', 'sysctls'].map(field => [field, mapsMerged(asMap)])),
	depends_on: mapsMerged(namesTo({condition: 'service_started'})),
	networks: mapsMerged(namesTo(null)),
	...Object.fromEntries(['volumes', 'devices'].map(field => [field, listsMerged(targetOf)])),
	...Object.fromEntries(['configs', 'secrets'].map(field => [field, listsMerged(item => JSON.stringify(member(item, 'source')))])),
	...Object.fromEntries(
		[
			...['cap_add', 'cap_drop', 'device_cgroup_rules', 'dns', 'dns_search', 'env_file', 'expose', 'external_links'],
			...['group_add', 'links', 'ports', 'profiles', 'security_opt', 'tmpfs', 'volumes_from'],
		].map(field => [field, listsMerged(item => JSON.stringify(item))]),
	),
	extra_hosts: (base, own) => (isObject(base) && isObject(own) ? {...base, ...own} : [...hostsOf(base), ...hostsOf(own)]),
	...Object.fromEntries(['deploy', 'healthcheck', 'logging', 'build', 'ulimits'].map(field => [field, deeplyMerged])),
};

const hostsOf = (value: Json): readonly Json[] =>
	isObject(value)
		? Object.entries(value).map(([name, ip]) => `${name}:${typeof ip === 'string' ? ip : JSON.stringify(ip)}`)
		: asList(value);

function merged(base: JsonObject, own: JsonObject): JsonObject {
	const members = Object.entries(own).map(([field, value = null]): [string, Json] => {
		const before = Object.hasOwn(base, field) ? base[field] : undefined;
		const merge = Object.hasOwn(merges, field) ? merges[field] : undefined;
		return [field, before === undefined || before === null || merge === undefined ? value : merge(before, value)];
	});
	return {...base, ...Object.fromEntries(members)};
}
