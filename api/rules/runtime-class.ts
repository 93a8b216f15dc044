// Rules that depend on what runs a pod. They hold where its class is known: in a template that names one, and in each pod, since the class of a
// pod that names none is filled in when it is made.

import {readImageName} from '../image-name.js';
import {unmountable} from '../mount-places.js';
import {limits} from '../limits.js';
import type {Json, JsonObject} from '../object.js';
import {memoryText} from '../quantity.js';
import {amountOf} from '../resource-amount.js';
import type {RuntimeClass} from '../runtime-class.js';
import {shown} from '../shown.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, textOf, type Found} from './report.js';
import {goesUp, plainPath} from './volume.js';

/** `path` is that of the pod's spec. */
export function checkRuntimeClass(found: Found, path: string, spec: JsonObject): void {
	const runtimeClass = spec['runtimeClassName'];
	if (runtimeClass === 'process') checkProcess(found, path, spec);
	else if (runtimeClass === 'docker') checkDocker(found, path, spec);
}

/** Both lists of containers, each with its path. */
const containersOf = (spec: JsonObject, path: string): readonly (readonly [path: string, container: JsonObject])[] =>
	['initContainers', 'containers'].flatMap(field =>
		itemsOf(spec[field]).map((item, i): [string, JsonObject] => [`${path}.${field}[${i}]`, membersOf(item)]),
	);

const needs = (found: Found, path: string, field: string, wanted: RuntimeClass, present: RuntimeClass): void =>
	forbid(found, `${path}.${field}`, `needs runtimeClassName: ${wanted}, and here it is ${present}`);

const needsDocker = (found: Found, path: string, field: string): void => needs(found, path, field, 'docker', 'process');

// ---- process -------------------------------------------------------------------------------------------------------------

const ofDocker = ['hostPID', 'hostIPC', 'shareProcessNamespace'];

/** A program of the node, with the node's files, network and calls of the kernel. */
function checkProcess(found: Found, path: string, spec: JsonObject): void {
	for (const field of ofDocker) if (!isEmpty(spec[field])) needsDocker(found, path, field);
	const security = membersOf(spec['securityContext']);
	// A program has the groups that its pod names, and no other one.
	if (security['supplementalGroupsPolicy'] === 'Merge') needsDocker(found, `${path}.securityContext`, 'supplementalGroupsPolicy');
	checkNoSeccomp(found, `${path}.securityContext`, security);
	for (const [at, container] of containersOf(spec, path)) checkProgram(found, at, container);
}

function checkProgram(found: Found, path: string, container: JsonObject): void {
	const at = `${path}.securityContext`;
	const security = membersOf(container['securityContext']);
	const {add, drop} = membersOf(security['capabilities']);
	if (security['privileged'] === true) needsDocker(found, at, 'privileged');
	if (!isEmpty(add) || !isEmpty(drop)) needsDocker(found, at, 'capabilities');
	checkNoSeccomp(found, at, security);
	itemsOf(container['ports']).forEach((port, i) => {
		const hostIP = textOf(membersOf(port)['hostIP']) ?? '';
		if (hostIP !== '' && hostIP !== '0.0.0.0') needsDocker(found, `${path}.ports[${i}]`, 'hostIP');
	});
	eachMount(container, path, (at, place) => {
		const never = unmountable(place);
		if (never !== undefined) refuse(found, at, `nothing can be mounted at ${shown(place)} in a pod of class process: ${never}`);
	});
}

/** That all calls are allowed is what happens anyway. */
function checkNoSeccomp(found: Found, path: string, security: JsonObject): void {
	if (membersOf(security['seccompProfile'])['type'] === 'RuntimeDefault') needsDocker(found, path, 'seccompProfile');
}

// ---- docker --------------------------------------------------------------------------------------------------------------

function checkDocker(found: Found, path: string, spec: JsonObject): void {
	itemsOf(spec['volumes']).forEach((volume, i) => {
		if (membersOf(volume)['nfs'] !== undefined) needs(found, `${path}.volumes[${i}]`, 'nfs', 'process', 'docker');
	});
	for (const [at, container] of containersOf(spec, path)) {
		checkImage(found, `${at}.image`, container['image']);
		checkMemory(found, `${at}.resources.limits.memory`, membersOf(membersOf(container['resources'])['limits'])['memory']);
		eachMount(container, at, (place, mounted) => {
			if (reserved.test(mounted)) refuse(found, place, `nothing can be mounted at ${shown(mounted)} in a pod of class docker`);
		});
	}
}

/** The kernel alone makes entries in the first; the others are how a container is started. */
const reserved = /^\/(?:proc|\.troupe-gate|\.troupe-go)(?:\/|$)/;

function checkImage(found: Found, path: string, image: unknown): void {
	if (typeof image !== 'string' || image === '' || image.trim() !== image) return;
	const read = readImageName(image);
	if (typeof read === 'string') refuse(found, path, `must be the name of an image, such as nginx:1.27, got ${shown(image)}: ${read}`);
}

function checkMemory(found: Found, path: string, memory: Json | undefined): void {
	const amount = amountOf('memory', memory) ?? 0;
	if (amount > 0 && amount < limits.engineMemoryLimitBytes)
		refuse(found, path, `must be at least ${memoryText(limits.engineMemoryLimitBytes)} in a pod of class docker, got ${shown(memory)}`);
}

/** Where a container sees volumes, as the kernel reads the paths; those that other rules refuse aside. */
function eachMount(container: JsonObject, path: string, check: (path: string, place: string) => void): void {
	itemsOf(container['volumeMounts']).forEach((mount, i) => {
		const place = textOf(membersOf(mount)['mountPath']) ?? '';
		if (place.startsWith('/') && !goesUp(place) && plainPath(place) !== '') check(`${path}.volumeMounts[${i}].mountPath`, plainPath(place));
	});
}
