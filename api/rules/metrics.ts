// The rules for what an autoscaler measures.

import {limits} from '../limits.js';
import {metricFilterOf, podLevel, queryUrlOf} from '../metric-source.js';
import type {Json, JsonObject} from '../object.js';
import {cpuMillis, memoryBytes, quantityValue} from '../quantity.js';
import {shown} from '../shown.js';
import {checkDnsSubdomain, isDnsLabel} from './names.js';
import {forbid, itemsOf, membersOf, refuse, requireOne, textOf, type Found} from './report.js';
import {checkRequirements} from './selector.js';
import {checkTopicLength} from './triggers.js';

/** The member of a metric by its type. */
const members: {readonly [type: string]: string} = {
	Resource: 'resource',
	ContainerResource: 'containerResource',
	Pods: 'pods',
	Object: 'object',
	External: 'external',
};

export function checkMetrics(found: Found, path: string, value: Json | undefined): void {
	const metrics = itemsOf(value);
	if (metrics.length > limits.autoscaleMetrics) refuse(found, path, `must be at most ${limits.autoscaleMetrics}, got ${metrics.length}`);
	metrics.slice(0, limits.autoscaleMetrics).forEach((metric, i) => checkMetric(found, `${path}[${i}]`, membersOf(metric)));
}

/** Whether there is one that says something of no pods, as Kubernetes asks where there may be none. */
export const measuresBeyondPods = (value: Json | undefined): boolean =>
	itemsOf(value).some(metric => ['Object', 'External'].includes(textOf(membersOf(metric)['type']) ?? ''));

function checkMetric(found: Found, path: string, metric: JsonObject): void {
	const type = textOf(metric['type']) ?? '';
	const own = Object.hasOwn(members, type) ? members[type] : undefined;
	if (own === undefined) return;
	for (const member of Object.values(members))
		if (member !== own && metric[member] !== undefined) forbid(found, `${path}.${member}`, `belongs to another type than ${type}`);
	if (metric[own] === undefined) return refuse(found, `${path}.${own}`, 'is required', 'FieldValueRequired');
	const at = `${path}.${own}`;
	const parts = membersOf(metric[own]);
	if (type === 'Resource' || type === 'ContainerResource') return checkResource(found, at, parts);
	checkName(found, at, parts);
	if (type === 'Object') checkDescribed(found, `${at}.describedObject`, membersOf(parts['describedObject']));
	checkTarget(found, `${at}.target`, membersOf(parts['target']), {
		types: type === 'Pods' ? ['AverageValue'] : ['Value', 'AverageValue'],
		parse: quantityValue,
	});
	if (parts['source'] !== undefined) checkSource(found, `${at}.source`, membersOf(parts['source']), type === 'Pods');
}

function checkResource(found: Found, path: string, {name, container, target}: JsonObject): void {
	if (typeof name === 'string' && name !== 'cpu' && name !== 'memory')
		refuse(found, `${path}.name`, `must be cpu or memory, got ${shown(name)}`, 'FieldValueNotSupported');
	if (typeof container === 'string' && !isDnsLabel(container))
		refuse(found, `${path}.container`, `must be the name of a container, got ${shown(container)}`);
	checkTarget(found, `${path}.target`, membersOf(target), {
		types: ['Utilization', 'AverageValue'],
		parse: name === 'cpu' ? cpuMillis : memoryBytes,
	});
}

function checkName(found: Found, path: string, {metric, source}: JsonObject): void {
	const {name, selector} = membersOf(metric);
	if (name === '') refuse(found, `${path}.metric.name`, 'is required', 'FieldValueRequired');
	if (typeof name === 'string' && (name.length > 253 || /[\s/%]/.test(name)))
		refuse(found, `${path}.metric.name`, `must be at most 253 characters without spaces, "/" and "%", got ${shown(name)}`);
	if (selector === undefined) return;
	checkRequirements(found, `${path}.metric.selector`, membersOf(selector));
	if (source !== undefined)
		forbid(found, `${path}.metric.selector`, 'stands beside a source, which says itself which series are meant; leave it out');
}

function checkDescribed(found: Found, path: string, {kind, name}: JsonObject): void {
	if (kind === '') refuse(found, `${path}.kind`, 'is required', 'FieldValueRequired');
	if (typeof name === 'string') checkDnsSubdomain(found, `${path}.name`, name);
}

type TargetWords = {
	readonly types: readonly string[];
	readonly parse: (quantity: string | number) => number | undefined;
};

/** The member that each type of target has. */
const targetMembers: {readonly [type: string]: string} = {Utilization: 'averageUtilization', AverageValue: 'averageValue', Value: 'value'};

function checkTarget(found: Found, path: string, target: JsonObject, {types, parse}: TargetWords): void {
	const type = textOf(target['type']) ?? '';
	const own = Object.hasOwn(targetMembers, type) ? targetMembers[type] : undefined;
	if (own === undefined) return;
	if (!types.includes(type)) return forbid(found, `${path}.type`, `must be ${types.join(' or ')} here, got ${shown(type)}`);
	for (const member of Object.values(targetMembers))
		if (member !== own && target[member] !== undefined) forbid(found, `${path}.${member}`, `belongs to another type than ${type}`);
	const value = target[own];
	if (value === undefined) return refuse(found, `${path}.${own}`, `is required when the type is ${type}`, 'FieldValueRequired');
	if (own === 'averageUtilization' || (typeof value !== 'string' && typeof value !== 'number')) return;
	const amount = parse(value);
	if (amount === undefined || amount <= 0) refuse(found, `${path}.${own}`, `must be a quantity above 0, got ${shown(value)}`);
}

function checkSource(found: Found, path: string, source: JsonObject, isOfPods: boolean): void {
	requireOne(found, path, source, ['mqtt', 'prometheus']);
	if (source['mqtt'] !== undefined) checkMqtt(found, `${path}.mqtt`, membersOf(source['mqtt']), isOfPods);
	if (source['prometheus'] !== undefined) checkPrometheus(found, `${path}.prometheus`, membersOf(source['prometheus']));
}

function checkMqtt(found: Found, path: string, mqtt: JsonObject, isOfPods: boolean): void {
	const topic = textOf(mqtt['topic']);
	if (topic !== undefined) {
		checkTopicLength(found, `${path}.topic`, topic);
		const pods = isOfPods ? `with one level ${podLevel}, which is the name of the pod` : `without ${podLevel}, which is of type Pods`;
		if (metricFilterOf(topic, isOfPods) === undefined)
			refuse(
				found,
				`${path}.topic`,
				`must be a topic without "+" and "#" that begins with a word that is not troupe or $..., ${pods}; got ${shown(topic)}`,
			);
	}
	const at = textOf(mqtt['path']);
	if (at === undefined) return;
	const {autoscalePathCharacters: characters, autoscalePathLevels: levels} = limits;
	const parts = at.split('.');
	if (parts.includes('') || parts.length > levels || at.length > characters)
		refuse(
			found,
			`${path}.path`,
			`must be names with dots between, such as queue.length, at most ${levels} of them and ${characters} characters, got ${shown(at)}`,
		);
}

function checkPrometheus(found: Found, path: string, prometheus: JsonObject): void {
	const [url, query] = [textOf(prometheus['url']), textOf(prometheus['query'])];
	// What is in it may be a password: it is not said again.
	if (url !== undefined && (url.length > limits.prometheusUrlCharacters || queryUrlOf({url, query: ''}) === undefined))
		refuse(
			found,
			`${path}.url`,
			`must be the address of a Prometheus such as http://prometheus.example:9090, without a user, "?" and "#", of at most ${limits.prometheusUrlCharacters} characters`,
		);
	if (query === undefined) return;
	if (query.trim() === '') refuse(found, `${path}.query`, 'is required', 'FieldValueRequired');
	if (query.length > limits.prometheusQueryCharacters)
		refuse(found, `${path}.query`, `must be at most ${limits.prometheusQueryCharacters} characters, got ${query.length}`);
	// Half of a character cannot be sent.
	if (/\p{Surrogate}/u.test(query)) refuse(found, `${path}.query`, 'must be well-formed text');
}
