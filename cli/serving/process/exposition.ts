// Metrics in Prometheus' text format, by prom-client: what is counted where it happens, what is collected when it is asked for, and figures of this process.
//
// Those of the process begin with the first scrape: where nobody asks, no timer measures the event loop.

import {Counter, Gauge, Histogram, Registry, collectDefaultMetrics} from 'prom-client';
import type {Instruments, Metric} from '../../../api/metrics.js';

export type Exposition = Instruments & {
	/** These, with those of this process and all that its instruments have counted. */
	readonly ofProcess: (metrics: readonly Metric[]) => Promise<string>;
	/** These alone: they are of something else. */
	readonly of: (metrics: readonly Metric[]) => Promise<string>;
};

/** Gauges of prom-client whose names end as those of counters do; each sum is told by its parts as well. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function openExposition(): Exposition {
	const counted = new Registry();
	let ofThis: Registry | undefined;
	const own = (): Registry => (ofThis ??= processRegistry());
	return {
		histogram({name, help, labels, buckets}) {
			const histogram = new Histogram({name, help, labelNames: [...labels], buckets: [...buckets], registers: [counted]});
			return (values, seconds) => histogram.observe(values, seconds);
		},
		counter({name, help, labels}) {
			const counter = new Counter({name, help, labelNames: [...labels], registers: [counted]});
			return (values, amount = 1) => counter.inc(values, amount);
		},
		ofProcess: async metrics =>
			(await Promise.all([textOf(metrics), counted.metrics(), own().metrics()])).filter(text => text.trim() !== '').join(''),
		of: textOf,
	};
}

function processRegistry(): Registry {
	const figures = new Registry();
	collectDefaultMetrics({register: figures});
	for (const name of misnamed) figures.removeSingleMetric(name);
	return figures;
}

function textOf(metrics: readonly Metric[]): Promise<string> {
	const figures = new Registry();
	for (const metric of metrics) register(figures, metric);
	return figures.metrics();
}

function register(figures: Registry, {name, help, type, samples}: Metric): void {
	if (samples.length === 0) return;
	const labelNames = Object.keys(samples[0]?.labels ?? {});
	const common = {name, help, labelNames, registers: [figures]};
	if (type === 'gauge') {
		const gauge = new Gauge(common);
		for (const {labels = {}, value} of samples) gauge.set(labels, value);
	} else {
		const counter = new Counter(common);
		for (const {labels = {}, value} of samples) counter.inc(labels, value);
	}
}
