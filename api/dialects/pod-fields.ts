// The fields of a pod that the older dialect writes otherwise than Kubernetes.

import type {Json, JsonObject} from '../object.js';
import {cpuMillis, cpuText, nanoCpusFrom} from '../quantity.js';
import {capitals, ifObject, mapItems, mapMember, numberOf, protocols, renameMember, type Edits} from './rewrite.js';

/** A pod's spec in canonical spelling. */
export function canonicalPodSpec(spec: Json, path: string, edits: Edits): Json {
	const ofContainers = (list: Json, at: string): Json => mapItems(list, at, (item, itemPath) => canonicalContainer(item, itemPath, edits));
	return ifObject(spec, object => mapMember(mapMember(object, 'containers', path, ofContainers), 'initContainers', path, ofContainers));
}

function canonicalContainer(container: JsonObject, path: string, edits: Edits): JsonObject {
	let edited = renameMember(container, 'ImagePullPolicy', 'imagePullPolicy', path, edits);
	edited = mapMember(edited, 'ports', path, (ports, at) => mapItems(ports, at, (port, portPath) => canonicalPort(port, portPath, edits)));
	edited = mapMember(edited, 'resources', path, (resources, at) => canonicalResources(resources, at, edits));
	edited = mapMember(edited, 'lifecycle', path, (lifecycle, at) => canonicalLifecycle(lifecycle, at, edits));
	for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
		edited = mapMember(edited, probe, path, (value, at) => canonicalHandler(value, at, edits));
	}
	return edited;
}

function canonicalPort(port: JsonObject, path: string, edits: Edits): JsonObject {
	let edited = port;
	for (const field of ['containerPort', 'hostPort']) edited = mapMember(edited, field, path, (value, at) => numberOf(value, at, edits));
	return mapMember(edited, 'protocol', path, (value, at) => capitals(value, at, protocols, edits));
}

/** Plain memory is bytes in Kubernetes, too; plain CPU from a million on is nano-CPUs. */
function canonicalResources(resources: Json, path: string, edits: Edits): Json {
	const ofQuantities = (quantities: Json, at: string): Json =>
		ifObject(quantities, object => mapMember(object, 'cpu', at, (cpu, cpuPath) => canonicalCpu(cpu, cpuPath, edits)));
	return ifObject(resources, object => mapMember(mapMember(object, 'requests', path, ofQuantities), 'limits', path, ofQuantities));
}

function canonicalCpu(cpu: Json, path: string, edits: Edits): Json {
	const isPlain = typeof cpu === 'number' || (typeof cpu === 'string' && /^\d+$/.test(cpu));
	const millis = isPlain && Number(cpu) >= nanoCpusFrom ? cpuMillis(cpu) : undefined;
	return millis === undefined ? cpu : changed(cpuText(millis), path, edits);
}

const canonicalLifecycle = (lifecycle: Json, path: string, edits: Edits): Json =>
	ifObject(lifecycle, object => {
		const ofHandler = (handler: Json, at: string): Json => canonicalHandler(handler, at, edits);
		return mapMember(mapMember(object, 'postStart', path, ofHandler), 'preStop', path, ofHandler);
	});

const canonicalHandler = (handler: Json, path: string, edits: Edits): Json =>
	ifObject(handler, object =>
		mapMember(object, 'exec', path, (exec, at) => ifObject(exec, action => renameMember(action, 'cmd', 'command', at, edits))),
	);

function changed(value: Json, path: string, edits: Edits): Json {
	edits.fields.push(path);
	return value;
}
