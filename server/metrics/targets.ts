// What Prometheus is to scrape, as its discovery by HTTP reads it (http_sd_configs): pods that are annotated for it, and nodes.
//
// Of a pod's labels those are told that a target may have: their names become `__meta_troupe_pod_label_…`, as those of kubernetes_sd_configs do.

import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {nodeMetricsPath, type Labels} from '../../api/metrics.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

export type TargetGroup = {readonly targets: readonly string[]; readonly labels: Labels};

const annotation = (name: string): string => `prometheus.io/${name}`;

/** Running pods that want to be scraped, by namespace and name, at most `limits.metricsTargets`. */
export function podTargets(index: ObjectIndex): readonly TargetGroup[] {
	const found: TargetGroup[] = [];
	for (const {object} of index.entries('pods')) {
		const target = targetOf(object as Pod);
		if (target !== undefined) found.push(target);
		if (found.length >= limits.metricsTargets) break;
	}
	return found;
}

/** Undefined: it does not want to be scraped, cannot be, or says where in a way that is none. */
function targetOf({metadata, spec, status}: Pod): TargetGroup | undefined {
	const {annotations = {}, labels = {}, namespace = '', name, deletionTimestamp} = metadata;
	const address = status?.podIP ?? '';
	if (annotations[annotation('scrape')] !== 'true' || status?.phase !== 'Running' || deletionTimestamp !== undefined || address === '')
		return undefined;
	const port = portOf(annotations[annotation('port')], spec);
	const scheme = annotations[annotation('scheme')] ?? 'http';
	const path = annotations[annotation('path')] ?? '/metrics';
	if (port === undefined || !['http', 'https'].includes(scheme) || !isPath(path)) return undefined;
	return {
		targets: [`${address.includes(':') ? `[${address}]` : address}:${port}`],
		labels: {
			__scheme__: scheme,
			__metrics_path__: path,
			namespace,
			pod: name,
			node: spec?.nodeName ?? '',
			...Object.fromEntries(
				Object.entries(labels)
					.slice(0, limits.metricsTargetLabels)
					.map(([label, value]) => [`__meta_troupe_pod_label_${label.replace(/[^A-Za-z0-9_]/g, '_')}`, value]),
			),
		},
	};
}

/** The one that is annotated, else the first that a container names. */
function portOf(annotated: string | undefined, spec: Pod['spec']): number | undefined {
	const first = spec?.containers.flatMap(({ports = []}) => ports)[0]?.containerPort;
	const port = annotated === undefined ? first : /^\d{1,5}$/.test(annotated) ? Number(annotated) : undefined;
	return port !== undefined && port >= 1 && port <= 65_535 ? port : undefined;
}

/** As a request can have it; a query is none of its parts. */
const isPath = (path: string): boolean => path.length <= limits.metricsTargetPathCharacters && /^\/[\w\-./~%:@!$&'()*+,;=]*$/.test(path);

/** Nodes as targets of this server, which has answered at `host`; by name, at most `limits.metricsTargets`. */
export const nodeTargets = (index: ObjectIndex, host: string, scheme: 'http' | 'https'): readonly TargetGroup[] =>
	index
		.entries('nodes')
		.slice(0, limits.metricsTargets)
		.map(({object}) => ({
			targets: [host],
			labels: {__scheme__: scheme, __metrics_path__: nodeMetricsPath(object.metadata.name), instance: object.metadata.name},
		}));
