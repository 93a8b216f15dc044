// `describe node`: what it has, how it is, and the pods on it. Pure.

import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {WidthOf} from '../table.js';
import {conditionHead, conditionRows, drawFields, drawSection, metadataFields} from './lines.js';

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
		['System', info === undefined ? undefined : `${info.osImage}, ${info.operatingSystem} ${info.kernelVersion}, ${info.architecture}`],
		['Features', status?.runtimeFeatures],
	]);
	const rows = pods.map(({metadata, status: podStatus}) => [
		metadata.namespace ?? '',
		metadata.name,
		podStatus?.phase ?? '',
		podStatus?.podIP ?? '',
	]);
	return (
		fields +
		drawSection('Conditions', conditionHead, conditionRows(status?.conditions), widthOf) +
		drawSection('Pods', ['NAMESPACE', 'NAME', 'STATUS', 'IP'], rows, widthOf)
	);
}
