// What is told to a scraper such as Prometheus: figures as data, and how what happens is counted. What makes text of them is handed in from outside.
//
// Labels come from closed lists; what can be any number of things (nodes, functions) is bounded where it is made. No label is ever the name of a pod,
// of a namespace without a bound, a user, or a path that a client chose.

export type Labels = Readonly<Record<string, string>>;

export type Sample = {readonly labels?: Labels; readonly value: number};

/** Names and units as Prometheus has them: `troupe_…`, the unit at the end (`_seconds`, `_bytes`), `_total` of counters. */
export type Metric = {
	readonly name: string;
	readonly help: string;
	readonly type: 'gauge' | 'counter';
	readonly samples: readonly Sample[];
};

type Described<Name extends string> = {readonly name: string; readonly help: string; readonly labels: readonly Name[]};

/** Values are seconds; `buckets` their upper bounds. */
export type HistogramDefinition<Name extends string> = Described<Name> & {readonly buckets: readonly number[]};

/** What happens is counted where it happens; both are made once a process. */
export type Instruments = {
	readonly histogram: <Name extends string>(
		definition: HistogramDefinition<Name>,
	) => (labels: Readonly<Record<Name, string>>, seconds: number) => void;
	readonly counter: <Name extends string>(definition: Described<Name>) => (labels: Readonly<Record<Name, string>>, amount?: number) => void;
};

/** Counts nothing. */
export const noInstruments: Instruments = {histogram: () => () => undefined, counter: () => () => undefined};

/** Of the server that is asked, with the objects of the cluster while it leads. */
export const metricsPath = '/metrics';
/** Targets of Prometheus' discovery by HTTP: the nodes, each at `nodeMetricsPath`. */
export const nodeTargetsPath = '/metrics/nodes';
/** Of one node, told by the server. */
export const nodeMetricsPath = (node: string): string => `${nodeTargetsPath}/${node}`;
/** The same of pods that are annotated for it. */
export const podTargetsPath = '/metrics/targets';

export const isMetricsPath = (path: string): boolean => path === metricsPath || path.startsWith(`${metricsPath}/`);

/** Of the text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({name, help, type: 'gauge', samples});
export const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({name, help, type: 'counter', samples});

/** What a node uses, as far as it is known; of bytes how many since it began to measure. */
export type NodeFigures = {
	readonly node: string;
	readonly cpuNanocores?: number | undefined;
	readonly memoryBytes?: number | undefined;
	readonly moved: {
		readonly received?: number;
		readonly sent?: number;
		readonly read?: number;
		readonly written?: number;
	};
	/** Of all containers that were measured, together. */
	readonly containers?: {readonly count: number; readonly cpuNanocores: number; readonly memoryBytes: number} | undefined;
};

/** The same names wherever they are told: by the node itself, or by a server of it. */
export function usageMetrics(nodes: readonly NodeFigures[]): readonly Metric[] {
	const samplesOf = (valueOf: (figures: NodeFigures) => number | undefined): readonly Sample[] =>
		nodes.flatMap(figures => {
			const value = valueOf(figures);
			return value === undefined ? [] : [{labels: {node: figures.node}, value}];
		});
	const cores = (nanocores: number | undefined): number | undefined => (nanocores === undefined ? undefined : nanocores / 1e9);
	return [
		gauge(
			'troupe_node_cpu_usage_cores',
			'Processors in use on the node, on the average of some seconds.',
			samplesOf(each => cores(each.cpuNanocores)),
		),
		gauge(
			'troupe_node_memory_usage_bytes',
			'Memory in use on the node.',
			samplesOf(each => each.memoryBytes),
		),
		counter(
			'troupe_node_network_received_bytes_total',
			'Bytes that came over interfaces that lead out of the host, since the node began to measure.',
			samplesOf(each => each.moved.received),
		),
		counter(
			'troupe_node_network_sent_bytes_total',
			'Bytes that went over them.',
			samplesOf(each => each.moved.sent),
		),
		counter(
			'troupe_node_disk_read_bytes_total',
			'Bytes that were read from disks of the host, since the node began to measure.',
			samplesOf(each => each.moved.read),
		),
		counter(
			'troupe_node_disk_written_bytes_total',
			'Bytes that were written to them.',
			samplesOf(each => each.moved.written),
		),
		gauge(
			'troupe_node_containers',
			'Containers on the node whose use was measured.',
			samplesOf(each => each.containers?.count),
		),
		gauge(
			'troupe_node_containers_cpu_usage_cores',
			'Processors in use by all containers of the node together.',
			samplesOf(each => cores(each.containers?.cpuNanocores)),
		),
		gauge(
			'troupe_node_containers_memory_usage_bytes',
			'Memory in use by all containers of the node together.',
			samplesOf(each => each.containers?.memoryBytes),
		),
	].filter(({samples}) => samples.length > 0);
}
