// What a runner that was started before its pod was known is told to become: one line of JSON over its own pipe. Its other ends are
// runners/python/troupe_runner/warm.py and runners/node-warm.ts.

import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {RunnerConfig} from '../runners/runner-config.js';

/** Of all languages. */
export type Assignment = {
	/** For its state file. */
	readonly startedAtMs: number;
	readonly bootId: string;
	/** Files `cgroup.procs` that it joins. */
	readonly cgroups: readonly string[];
	readonly umask: number | null;
	/** Who it becomes for good, with just these groups besides. */
	readonly user: {readonly uid: number; readonly gid: number};
	readonly groups: readonly number[];
	/** All of it; the later of two of a name counts. */
	readonly env: readonly (readonly [name: string, value: string])[];
	/** Where it begins. */
	readonly directory: string;
	readonly config: RunnerConfig;
};

/** Python does by itself what any program may ask of the kernel. */
export type PythonAssignment = Assignment & {
	/** The network namespace of its pod, below the node's /proc; null: it stays in the node's. */
	readonly network: string | null;
	/** What it sees, read only, in the place of which file of the node. */
	readonly files: readonly (readonly [source: string, target: string])[];
	/** Mount points that it does not see. */
	readonly hidden: readonly string[];
	/** Whether files may give what it starts more rights. */
	readonly mayGain: boolean;
	/** Of the data of each process, and of processes of its user. */
	readonly dataBytes: number | null;
	readonly userProcesses: number | null;
};

/** Node.js begins in its network, and without a way to more rights. */
export type NodeAssignment = Assignment & {
	/** A script for a shell, and its arguments, after which it sees the files of its pod; null: it sees those of the node. */
	readonly view: {readonly text: string; readonly words: readonly string[]} | null;
};

/**
 * What a loader, a library or an interpreter has read before a runner that waits is told its environment: with one of these a program has to be
 * begun anew.
 */
const readAtStart = /^(?:LD_.*|LC_.*|LANG|LANGUAGE|LOCPATH|GCONV_PATH|GLIBC_TUNABLES|MALLOC_.*)$/;

/** The same of an interpreter alone. Python's own isolation reads none. */
const readByInterpreter: Readonly<Record<FunctionLanguage, RegExp>> = {
	python: /^$/,
	nodejs: /^(?:NODE_(?!ENV$).*|UV_.*|ICU_.*|OPENSSL_.*|SSL_CERT_.*)$/,
};

export const isReadAtStart = (name: string, language: FunctionLanguage): boolean =>
	readAtStart.test(name) || readByInterpreter[language].test(name);
