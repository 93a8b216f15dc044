// `npm run bench [-- NAME...]`: runs the benchmarks one after the other and prints a table of each. Whatever happens, nothing
// that they started is left.

import {execFileSync} from 'node:child_process';
import {cpus, loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import type {BenchOptions, Benchmark} from './harness/benchmark.js';
import {autoscaleBenchmark} from './autoscale.js';
import {brokerLoadBenchmark} from './broker-load.js';
import {busBenchmark} from './bus.js';
import {cellsBenchmark} from './cells.js';
import {composeBenchmark} from './compose.js';
import {crashBenchmark} from './crash.js';
import {heardLater} from './harness/deadline.js';
import {dnsBenchmark} from './dns.js';
import {dockerBenchmark} from './docker.js';
import {dockerFaultsBenchmark} from './docker-faults.js';
import {dockerFunctionsBenchmark} from './docker-functions.js';
import {drainBenchmark} from './drain.js';
import {disturbancesBenchmark} from './disturbances.js';
import {flappingBenchmark} from './flapping.js';
import {functionsBenchmark} from './functions.js';
import {fuzzBenchmark} from './fuzz.js';
import {inspectBenchmark} from './inspect.js';
import {leaderBenchmark} from './leader.js';
import {metricsBenchmark} from './metrics.js';
import {pipelineBenchmark} from './pipeline.js';
import {podsBenchmark} from './pods.js';
import {rolloutBenchmark} from './rollout.js';
import {replacementBenchmark} from './replacement.js';
import {routerBenchmark} from './router.js';
import {scaleBenchmark} from './scale.js';
import {schedulingBenchmark} from './scheduling.js';
import {createScope, type Scope} from './harness/scope.js';
import {servicesBenchmark} from './services.js';
import {slurmBenchmark} from './slurm.js';
import {startBenchmark} from './start.js';
import {tableOf} from './harness/table.js';
import {usageBenchmark} from './usage.js';
import {workflowsBenchmark} from './workflows.js';

const benchmarks: readonly Benchmark[] = [
	startBenchmark,
	crashBenchmark,
	dockerBenchmark,
	dockerFaultsBenchmark,
	dockerFunctionsBenchmark,
	composeBenchmark,
	podsBenchmark,
	scaleBenchmark,
	rolloutBenchmark,
	schedulingBenchmark,
	drainBenchmark,
	pipelineBenchmark,
	busBenchmark,
	cellsBenchmark,
	brokerLoadBenchmark,
	leaderBenchmark,
	inspectBenchmark,
	usageBenchmark,
	metricsBenchmark,
	disturbancesBenchmark,
	flappingBenchmark,
	fuzzBenchmark,
	dnsBenchmark,
	routerBenchmark,
	servicesBenchmark,
	replacementBenchmark,
	functionsBenchmark,
	workflowsBenchmark,
	autoscaleBenchmark,
	slurmBenchmark,
];

const usage = `usage: npm run bench -- [NAME...] [--rounds N] [--idle-seconds N] [--pods N] [--nodes N] [--runs N] [--fault NAME]... [--node-flag=--cpu-prof]
benchmarks: ${benchmarks.map(({name}) => name).join(', ')}`;

async function main(argv: readonly string[]): Promise<number> {
	const {values, positionals} = parseArgs({
		args: [...argv],
		allowPositionals: true,
		options: {
			rounds: {type: 'string'},
			'idle-seconds': {type: 'string', default: '60'},
			pods: {type: 'string', default: '10000'},
			nodes: {type: 'string', default: '1000'},
			runs: {type: 'string', default: '100000'},
			fault: {type: 'string', multiple: true, default: []},
			'node-flag': {type: 'string', multiple: true, default: []},
		},
	});
	const unknown = positionals.filter(name => !benchmarks.some(benchmark => benchmark.name === name));
	if (unknown.length > 0) throw new Error(`no benchmark is called ${unknown.join(', ')}\n${usage}`);
	const options: BenchOptions = {
		rounds: values.rounds === undefined ? undefined : count('rounds', values.rounds),
		idleSeconds: count('idle-seconds', values['idle-seconds']),
		pods: count('pods', values.pods),
		nodes: count('nodes', values.nodes),
		runs: count('runs', values.runs),
		nodeFlags: values['node-flag'],
		faults: values.fault,
	};
	process.stdout.write(`${surroundings()}\n\n`);
	let code = 0;
	for (const benchmark of benchmarks) {
		if (positionals.length > 0 && !positionals.includes(benchmark.name)) continue;
		if (!(await runOne(benchmark, options))) code = 1;
	}
	return code;
}

function count(flag: string, text: string): number {
	const value = Number(text);
	if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${flag} must be a whole number from 1 on, got "${text}"\n${usage}`);
	return value;
}

/** What the figures are worth depends on it. */
function surroundings(): string {
	const load = loadavg().map(value => value.toFixed(1));
	return `commit ${commit()}, Node ${process.version}, ${cpus().length} processors, load average ${load.join(' ')}`;
}

function commit(): string {
	try {
		return execFileSync('git', ['describe', '--always', '--dirty'], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}).trim();
	} catch {
		return 'unknown'; // A copy without its history.
	}
}

/** False when it could not be run to its end. */
async function runOne(benchmark: Benchmark, options: BenchOptions): Promise<boolean> {
	const scope = createScope();
	const forget = closeOnSignals(scope);
	const bugs = listenForBugs();
	try {
		const startedAt = performance.now();
		const rows = await Promise.race([benchmark.run(options, scope), bugs.first]);
		const seconds = Math.round((performance.now() - startedAt) / 1_000);
		process.stdout.write(`${tableOf(`${benchmark.name}: ${benchmark.about} (${seconds} s)`, rows)}\n`);
		return true;
	} catch (error) {
		process.stdout.write(`${benchmark.name}: failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n\n`);
		return false;
	} finally {
		await scope.close();
		bugs.forget();
		forget();
	}
}

/** What is thrown where nobody waits, as peers in this process do, ends the benchmark and not the clean-up. */
function listenForBugs(): {readonly first: Promise<never>; readonly forget: () => void} {
	let listener: (error: Error) => void = () => undefined;
	const first = heardLater(
		new Promise<never>((_resolve, reject) => {
			listener = reject;
		}),
	);
	process.on('uncaughtException', listener);
	return {first, forget: () => process.removeListener('uncaughtException', listener)};
}

const interruptedExitCode = 130;

function closeOnSignals(scope: Scope): () => void {
	const end = (): void => void scope.close().then(() => process.exit(interruptedExitCode));
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
	return () => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end);
	};
}

try {
	process.exit(await main(process.argv.slice(2)));
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exit(2);
}
