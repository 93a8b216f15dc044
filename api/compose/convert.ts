// A compose file becomes objects: claims, ConfigMaps and Secrets first, then for each service its Service and what runs it.

import type {Renamed} from '../dialects/rewrite.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import type {Problem} from '../problem.js';
import {shown} from '../shown.js';
import {buildOf, type ComposeBuild} from './build.js';
import {dependenciesOf, linksOf, refuseCircles, type Dependency} from './depends.js';
import {checkFields} from './fields.js';
import {below, refuse, remark, type At, type Note} from './findings.js';
import {labelOf} from './names.js';
import {builtImage, podOf, type PodParts, type Service} from './pod.js';
import {portsOf, servicePorts} from './ports.js';
import type {Project} from './project.js';
import {claimOf, marksOf, storedOf, type Composed, type Materials} from './stored.js';
import {flagOf, membersOf, refuseOthers, textOf, textsOf} from './values.js';
import {runningOf, waitsFor, workloadOf, type Running} from './workload.js';

/** On every object of a project, and on its pods. */
export const projectLabel = 'troupe.dev/compose-project';
/** On what a service became. */
export const serviceLabel = 'troupe.dev/compose-service';
/** On pods: what their configs and secrets held. Files that are mounted one by one stay as they were, so other contents need other pods. */
export const contentsAnnotation = 'troupe.dev/compose-contents';

export type Conversion = {readonly composed: readonly Composed[]; readonly problems: readonly Problem[]; readonly notes: readonly Note[]};

/** All objects of a project. With problems there are none; notes say what is another way than in the file. */
export function convert(project: Project, materials: Materials): Conversion {
	const {found} = project;
	const objects = objectsOf(project, materials);
	checkTwice(objects, found);
	return {composed: found.problems.length > 0 ? [] : objects, problems: found.problems, notes: found.notes};
}

function objectsOf(project: Project, materials: Materials): readonly Composed[] {
	const {name, services, found} = project;
	const labels = {[projectLabel]: name};
	const known = [...services].flatMap(([service, fields]) => serviceOf(service, fields, {found, path: 'services'}));
	for (const {at, fields} of known) checkFields(at, fields);
	const pods = known.map(service => podOf(service, project, materials));
	const waits = new Map(known.map(service => [service.name, dependenciesOf(service.at, service.fields, project)]));
	refuseCircles(waits);
	const running = runningOfAll(known, pods, waits);
	const names = namesOf(known, project);
	const stored = (['configs', 'secrets'] as const).flatMap(section =>
		usedOf(known, section, project).map(entry => ({section, entry, made: storedOf(project, section, entry, labels, materials)})),
	);
	const contents = ({fields}: Service): JsonObject => {
		const own = stored.filter(({section, entry, made}) => made !== undefined && namesIn(fields[section]).includes(entry));
		const text = JSON.stringify(own.map(({section, entry, made}) => [section, entry, made?.object['data'], made?.object['binaryData']]));
		return own.length === 0 ? {} : {[contentsAnnotation]: materials.digestOf(text)};
	};
	return [
		...Object.keys(project.volumes).flatMap(volume => claimOf(project, volume, labels) ?? []),
		...stored.flatMap(({made}) => made ?? []),
		...known.flatMap((service, i) => {
			const [pod, run] = [pods[i], running.get(service.name)];
			if (pod === undefined || run === undefined) return [];
			return [
				...(names.get(service.name) ?? []).map(called => serviceObject(called, service, labels)),
				{
					// A Job does its work once, with what there was then.
					...workload(service, pod, run, {waits, running, known, labels, contents: run.kind === 'Job' ? {} : contents(service)}),
					build: buildOfService(service, project),
				},
			];
		}),
	];
}

/** The image is called as the pod's container says it. */
function buildOfService({name, fields, at}: Service, project: Project): ComposeBuild | undefined {
	const tag = typeof fields['image'] === 'string' ? fields['image'] : builtImage(project, name);
	return buildOf(at, name, tag, fields, project);
}

function serviceOf(name: string, fields: JsonObject, all: At): readonly Service[] {
	const at = below(all, name);
	const label = labelOf(name);
	if (label === undefined) return refuse(at, 'no name of an object can be made of it: it needs a letter') ?? [];
	if (label !== name) remark(at, `is called ${label}: names of objects are DNS labels`);
	return [{name, label, fields, at, ports: portsOf(at, fields)}];
}

/** How each service runs, by its name: that depends on what others have. */
function runningOfAll(
	known: readonly Service[],
	pods: readonly PodParts[],
	waits: ReadonlyMap<string, readonly Dependency[]>,
): ReadonlyMap<string, Running> {
	const users = new Map<string, number>();
	for (const claim of pods.flatMap(({claims}) => claims)) users.set(claim, (users.get(claim) ?? 0) + 1);
	const all = [...waits.values()].flat();
	return new Map(
		known.map(({name, fields, at, ports}, i) => {
			const claims = pods[i]?.claims ?? [];
			const isAwaited = all.some(({service, condition}) => service === name && condition === 'service_completed_successfully');
			const isSingle = claims.length > 0 || ports.some(({hostPort}) => hostPort !== undefined);
			const running = runningOf(at, fields, {hasOwnVolume: claims.some(claim => users.get(claim) === 1), isSingle, isAwaited});
			return [name, running];
		}),
	);
}

type Around = {
	readonly waits: ReadonlyMap<string, readonly Dependency[]>;
	readonly running: ReadonlyMap<string, Running>;
	readonly known: readonly Service[];
	readonly labels: JsonObject;
	/** An annotation that tells contents of its files apart. */
	readonly contents: JsonObject;
};

function workload({name, label, fields, at}: Service, pod: PodParts, run: Running, around: Around): Composed {
	const own = {...around.labels, [serviceLabel]: label};
	const marks = marksOf(below(at, 'labels'), fields['labels'], own);
	const annotated = marksOf(below(at, 'annotations'), fields['annotations'], {});
	const annotations = {
		...(isObject(marks['annotations']) ? marks['annotations'] : {}),
		...texts(annotated),
		...run.annotations,
		...around.contents,
		...waitsFor((around.waits.get(name) ?? []).flatMap(dependency => awaited(dependency, around))),
	};
	const metadata = {labels: marks['labels'] ?? {}, ...(Object.keys(annotations).length === 0 ? {} : {annotations})};
	const deploy = isObject(fields['deploy']) ? fields['deploy'] : {};
	const object = workloadOf(run, {
		name: label,
		labels: own,
		marks: marksOf(below(at, 'deploy', 'labels'), deploy['labels'], own),
		template: {metadata, spec: pod.spec},
	});
	const spelled: readonly Renamed[] = [
		{path: '', from: at.path},
		{path: 'spec.template.metadata.labels', from: `${at.path}.labels`},
		{path: 'spec.template.metadata.annotations', from: `${at.path}.labels`},
		{path: 'metadata.labels', from: `${at.path}.deploy.labels`},
		{path: 'spec.replicas', from: `${at.path}.deploy.replicas`},
		{path: 'spec.strategy', from: `${at.path}.deploy.update_config`},
		...pod.spelled.map(({path, from}) => ({path: `spec.template.spec.${path}`, from})),
	];
	return {object, spelled};
}

/** Every text of `annotations` is an annotation, also one that could be a label. */
const texts = ({labels, annotations}: JsonObject): JsonObject => ({
	...(isObject(labels) ? labels : {}),
	...(isObject(annotations) ? annotations : {}),
});

/** What a pod waits for: the workload is available, or complete. */
function awaited({service, condition, at}: Dependency, {running, known}: Around): readonly string[] {
	const target = known.find(({name}) => name === service);
	const run = running.get(service);
	if (target === undefined || run === undefined) return [];
	const isComplete = condition === 'service_completed_successfully';
	if (isComplete && run.kind !== 'Job')
		return refuse(at, `${shown(service)} does not end: it is started again; give it restart: "no"`) ?? [];
	if (!isComplete && run.kind === 'Job') return refuse(at, `${shown(service)} is to end: wait for service_completed_successfully`) ?? [];
	if (run.replicas === 0) return [];
	if (condition === 'service_healthy' && target.fields['healthcheck'] === undefined)
		remark(at, `${shown(service)} has no healthcheck in this file: it counts as healthy as soon as it runs`);
	return [`${run.kind.toLowerCase()}/${target.label}`];
}

/** Under which names each service is found: its own, its aliases in networks, and what others link it as. */
function namesOf(known: readonly Service[], project: Project): ReadonlyMap<string, readonly string[]> {
	const names = new Map(known.map(({name, label}) => [name, new Set([label])]));
	const add = (service: string, alias: string, at: At): void => {
		const label = labelOf(alias);
		if (label !== alias) refuse(at, `must be lower-case letters, digits and "-", starting with a letter, got ${shown(alias)}`);
		else names.get(service)?.add(label);
	};
	const told = new Set<string>();
	for (const {name, fields, at} of known) {
		for (const link of linksOf(at, fields)) if (link.alias !== link.service) add(link.service, link.alias, link.at);
		for (const {text, at: here} of aliasesOf(below(at, 'networks'), fields['networks'], project, told)) add(name, text, here);
	}
	return new Map([...names].map(([name, called]) => [name, [...called]]));
}

/** Names in networks. Each network but the default one is told once: it keeps nothing apart. */
function aliasesOf(at: At, value: Json | undefined, project: Project, told: Set<string>): readonly {text: string; at: At}[] {
	if (!isObject(value)) {
		for (const {text, at: here} of textsOf(at, value)) checkNetwork(here, text, project, told);
		return [];
	}
	return Object.entries(value).flatMap(([network, member]) => {
		const here = below(at, network);
		const members = membersOf(here, member);
		checkNetwork(here, network, project, told);
		for (const field of addressFields)
			if (members[field] !== undefined && members[field] !== null)
				refuse(below(here, field), 'cannot be said: addresses of pods are chosen by the cluster');
		refuseOthers(here, members, ['aliases', 'priority', ...addressFields]);
		return textsOf(below(here, 'aliases'), members['aliases']);
	});
}

/** What else a service may say of a network. */
const addressFields = ['ipv4_address', 'ipv6_address', 'link_local_ips', 'mac_address', 'driver_opts', 'gw_priority', 'interface_name'];

function checkNetwork(at: At, name: string, {networks, found}: Project, told: Set<string>): void {
	if (told.has(name)) return;
	told.add(name);
	if (!Object.hasOwn(networks, name)) {
		if (name !== 'default') refuse(at, `there is no network ${shown(name)} in networks`);
		return;
	}
	const here = below({found, path: 'networks'}, name);
	const definition = membersOf(here, networks[name]);
	refuseOthers(here, definition, [
		'driver',
		'external',
		'name',
		'labels',
		'attachable',
		'internal',
		'ipam',
		'driver_opts',
		'enable_ipv6',
		'enable_ipv4',
	]);
	if (flagOf(below(here, 'internal'), definition['internal']) === true)
		refuse(below(here, 'internal'), 'cannot be said: pods reach what their node reaches');
	for (const field of ['ipam', 'driver_opts', 'enable_ipv6', 'enable_ipv4'])
		if (definition[field] !== undefined) refuse(below(here, field), "cannot be said: there is the cluster's network alone");
	const driver = textOf(below(here, 'driver'), definition['driver']);
	if (driver !== undefined && !['bridge', 'overlay', 'default'].includes(driver))
		refuse(below(here, 'driver'), `must be bridge or overlay, got ${shown(driver)}`);
	if (name !== 'default') remark(here, 'keeps nothing apart: all pods are in one network');
}

/** A name for the pods of a service: with its ports, or, where it says none, for all of them. */
function serviceObject(name: string, {label, ports, at}: Service, labels: JsonObject): Composed {
	const listed = servicePorts(ports);
	const spec = {
		...(listed.length === 0 ? {clusterIP: 'None'} : {}),
		selector: {...labels, [serviceLabel]: label},
		...(listed.length === 0 ? {} : {ports: listed}),
	};
	const metadata = {name, labels: {...labels, [serviceLabel]: label}};
	const spelled = [{path: '', from: at.path}, ...ports.map((port, i) => ({path: `spec.ports[${i}]`, from: port.at.path}))];
	return {object: {apiVersion: 'v1', kind: 'Service', metadata, spec}, spelled};
}

/** Entries of a section that services use, in the order of the section. */
function usedOf(known: readonly Service[], section: 'configs' | 'secrets', project: Project): readonly string[] {
	const used = new Set(known.flatMap(({fields}) => namesIn(fields[section])));
	return Object.keys(project[section]).filter(name => used.has(name));
}

/** What a service's `configs` or `secrets` name. */
const namesIn = (list: Json | undefined): readonly unknown[] =>
	Array.isArray(list) ? (list as readonly Json[]).map(item => (isObject(item) ? item['source'] : item)) : [];

/** Names that are different in the file may be one here. */
function checkTwice(objects: readonly Composed[], found: At['found']): void {
	const first = new Map<string, string>();
	for (const {object, spelled} of objects) {
		const {name} = isObject(object['metadata']) ? object['metadata'] : {};
		const {kind} = object;
		const path = spelled[0]?.from ?? '';
		const key = JSON.stringify([kind, name]);
		const before = first.get(key);
		if (before === undefined) first.set(key, path);
		else refuse({found, path}, `is ${textOf({found, path}, kind) ?? ''} ${shown(name)}, as ${before} is`);
	}
}

/** Where a field of an object comes from: the longest part of its path that is known. */
export function spelling({spelled}: Composed, path: string): string {
	const [longest] = spelled
		.filter(({path: known}) => known === '' || path === known || (path.startsWith(known) && /^[.[]/.test(path.slice(known.length))))
		.sort((a, b) => b.path.length - a.path.length);
	return longest?.from ?? path;
}
