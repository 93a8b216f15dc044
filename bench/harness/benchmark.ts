// What a benchmark is: a name, and a run that answers with the rows of its table.

import type {Scope} from './scope.js';
import type {Row} from './table.js';

export type BenchOptions = {
	/** Repetitions, where a benchmark has several; undefined: as many as its goal asks for. */
	readonly rounds: number | undefined;
	/** How long an idle cluster is looked at. */
	readonly idleSeconds: number;
	/** Of `scale` and `scheduling`; `rollout` has half as many. */
	readonly pods: number;
	readonly nodes: number;
	/** Of `workflows`: those that are over. */
	readonly runs: number;
	/** Of `docker-faults`, by name; none: all. */
	readonly faults: readonly string[];
	/** Given to node when it runs a cluster, such as `--cpu-prof`. */
	readonly nodeFlags: readonly string[];
};

export type Benchmark = {
	readonly name: string;
	readonly about: string;
	/** Everything it opens is given back by the scope. */
	readonly run: (options: BenchOptions, scope: Scope) => Promise<readonly Row[]>;
};
