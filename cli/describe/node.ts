// `describe node`: what it has, how it is, and the pods on it. Pure.

import {gpuResource} from '../../api/gpu.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Labels} from '../../api/object.js';
import {added, noAmounts, podLimits, podRequests} from '../../api/pod-resources.js';
import {cpuMillis, cpuText, memoryBytes, memoryText} from '../../api/quantity.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, drawSection, metadataFields} from './lines.js';

/** Everything but the events. `pods` are those bound to it. */
export function describeNode(node: NodeObject, pods: readonly Pod[], nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = node;
	const info = status?.nodeInfo;
	const fields = drawFields([
		...metadataFields(node, nowMs),
		['Taints', (spec?.taints ?? []).map(({key, value, effect}) => `${key}${value === undefined ? '' : `=${value}`}:${effect}`)],
		['Unschedulable', String(spec?.unschedulable ?? false)],
		['Addresses', (status?.addresses ?? []).map(({type, address}) => `${type}: ${address}`)],
		['Capacity', Object.entries(status?.capacity ?? {}).map(([name, quantity]) => `${name}: ${quantity}`)],
		['Allocatable', Object.entries(status?.allocatable ?? {}).map(([name, quantity]) => `${name}: ${quantity}`)],
		['Runtime', info?.containerRuntimeVersion],
		['Runtime Classes', status?.runtimeClasses?.join(', ')],
		['System', info === undefined ? undefined : `${info.osImage}, ${info.operatingSystem} ${info.kernelVersion}, ${info.architecture}`],
		['Features', status?.runtimeFeatures],
	]);
	const allocated = allocatedRows(status?.allocatable ?? {}, pods.filter(takesRoom));
	return (
		fields +
		drawConditions(status?.conditions, widthOf) +
		drawSection('Allocated resources', ['RESOURCE', 'REQUESTS', 'LIMITS', 'ALLOCATABLE'], allocated, widthOf) +
		drawSection('Pods', ['NAMESPACE', 'NAME', 'STATUS', 'IP', 'CPU', 'MEMORY', 'PRIORITY'], pods.map(podRow), widthOf)
	);
}

/** Pods that are over do not. */
const takesRoom = ({status}: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

function podRow({metadata, spec, status}: Pod): readonly string[] {
	const requests = spec === undefined ? noAmounts : podRequests(spec);
	return [
		metadata.namespace ?? '',
		metadata.name,
		metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
		status?.podIP ?? '',
		cpuText(requests.cpuMillis),
		memoryText(requests.memoryBytes),
		String(spec?.priority ?? 0),
	];
}

/** What the pods there ask for and may use, and which share of the node that is. */
function allocatedRows(allocatable: Labels, pods: readonly Pod[]): readonly (readonly string[])[] {
	const specs = pods.flatMap(({spec}) => spec ?? []);
	const requests = specs.map(podRequests).reduce(added, noAmounts);
	const most = specs.map(podLimits).reduce(added, noAmounts);
	const cpu = cpuMillis(allocatable['cpu'] ?? '') ?? 0;
	const memory = memoryBytes(allocatable['memory'] ?? '') ?? 0;
	const ofCpu = (millis: number): string => withShare(cpuText(millis), millis, cpu);
	const ofMemory = (bytes: number): string => withShare(memoryText(bytes), bytes, memory);
	const {pods: maxPods = '', [gpuResource]: gpus = '0'} = allocatable;
	const ofGpus = (count: number): string => withShare(String(count), count, Number(gpus));
	return [
		['cpu', ofCpu(requests.cpuMillis), ofCpu(most.cpuMillis), cpuText(cpu)],
		['memory', ofMemory(requests.memoryBytes), ofMemory(most.memoryBytes), memoryText(memory)],
		...(Number(gpus) > 0 || requests.gpus > 0 ? [[gpuResource, ofGpus(requests.gpus), ofGpus(most.gpus), gpus]] : []),
		['pods', withShare(String(pods.length), pods.length, Number(maxPods)), '', maxPods],
	];
}

const withShare = (text: string, part: number, all: number): string => (all > 0 ? `${text} (${Math.round((100 * part) / all)}%)` : text);
