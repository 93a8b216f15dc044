// Metrics in Prometheus' text format, by prom-client: what is counted where it happens, what is collected when it is asked for, and figures of this process.
//
// Those of the process begin with the first scrape: where nobody asks, no timer measures the event loop.

import {Counter, Gauge, Histogram, Registry, collectDefaultMetrics} from 'prom-client';
import {counter, type Instruments, type Metric} from '../../../api/metrics.js';
import type {Clock} from '../../../system/time/clock.js';

export type Exposition = Instruments & {
	/** These, with those of this process and all that its instruments have counted. */
	readonly ofProcess: (metrics: readonly Metric[]) => Promise<string>;
	/** These alone: they are of something else. */
	readonly of: (metrics: readonly Metric[]) => Promise<string>;
};

/**
 * Of prom-client's own: gauges whose names end as those of counters do (each sum is told by its parts as well), figures of the event loop that are none
 * when two scrapes follow at once, and what the processor was used, which it counts from the first scrape on.
 */
const leftOut = [
	...['min', 'mean', 'stddev'].map(each => `nodejs_eventloop_lag_${each}_seconds`),
	...['user_', 'system_', ''].map(each => `process_cpu_${each}seconds_total`),
	'nodejs_active_handles_total',
	'nodejs_active_requests_total',
	'nodejs_active_resources_total',
];

export function openExposition(clock: Clock): Exposition {
	const counted = new Registry();
	let ofThis: Promise<Registry> | undefined;
	const own = (): Promise<Registry> => (ofThis ??= processFigures(clock));
	return {
		histogram({name, help, labels, buckets}) {
			const histogram = new Histogram({name, help, labelNames: [...labels], buckets: [...buckets], registers: [counted]});
			return (values, seconds) => histogram.observe(values, seconds);
		},
		counter({name, help, labels}) {
			const count = new Counter({name, help, labelNames: [...labels], registers: [counted]});
			return (values, amount = 1) => count.inc(values, amount);
		},
		async ofProcess(metrics) {
			const ofThis = await own();
			const texts = await Promise.all([textOf([...metrics, ...processorMetrics()]), counted.metrics(), ofThis.metrics()]);
			return texts.filter(text => text.trim() !== '').join('');
		},
		of: textOf,
	};
}

/** Resolves once the event loop was measured for a moment. */
function processFigures(clock: Clock): Promise<Registry> {
	const figures = new Registry();
	collectDefaultMetrics({register: figures});
	for (const name of leftOut) figures.removeSingleMetric(name);
	return new Promise(resolve => void clock.after(firstMeasureMs, () => resolve(figures)));
}

const firstMeasureMs = 100;

function processorMetrics(): readonly Metric[] {
	const {user, system} = process.cpuUsage();
	const of = (name: string, what: string, micros: number): Metric =>
		counter(`process_cpu_${name}seconds_total`, `Total ${what} CPU time spent in seconds.`, [{value: micros / 1e6}]);
	return [of('user_', 'user', user), of('system_', 'system', system), of('', 'user and system', user + system)];
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
		const sum = new Counter(common);
		for (const {labels = {}, value} of samples) sum.inc(labels, value);
	}
}
