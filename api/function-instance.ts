// A pod that is an instance of a function: what its node has to know of the function, beyond what a pod says anyway.

import {functionLanguages, type FunctionLanguage} from './function-languages.js';
import {limits} from './limits.js';
import {membersOf} from './rules/report.js';
import {parsedJson} from './value-or.js';

/** Of a pod that is an instance: a `FunctionInstance` as JSON. */
export const functionAnnotation = 'troupe.dev/function';
/** Of such a pod, and of the ReplicaSet that made it: the name of the function. */
export const functionLabel = 'troupe.dev/function';
/** The container of such a pod: there is one, which has a command where a program of its own takes the calls. */
export const functionContainer = 'function';

/** What takes its calls: the runner of a language, or a program that speaks HTTP at its `PORT`. */
export type FunctionRuntime = FunctionLanguage | 'program';

export const functionRuntimes: readonly FunctionRuntime[] = [...functionLanguages, 'program'];

/** The `PORT` of programs whose pods have an address of their own. */
export const functionPort = 8_080;

export type FunctionInstance = {
	/** The archive of its folder: `sha256:` and 64 hexadecimal digits (system/archive). Undefined: a program that needs no folder. */
	readonly artifact?: string;
	readonly runtime: FunctionRuntime;
	/** Calls under way at most. */
	readonly concurrency: number;
	/** What one call may take. */
	readonly timeoutMs: number;
};

export const isArtifactDigest = (text: unknown): text is string => typeof text === 'string' && /^sha256:[0-9a-f]{64}$/.test(text);

const algorithm = 'sha256:';

/** The digits of a digest, for paths and keys; and a digest of digits. */
export const hexOfDigest = (digest: string): string => digest.slice(algorithm.length);
export const digestOfHex = (hex: string): string => algorithm + hex;

/** What a pod's annotations say; undefined where it is no instance, or says what is none. The rules let nothing else in. */
export function functionInstanceOf(annotations: {readonly [name: string]: string} = {}): FunctionInstance | undefined {
	const text = annotations[functionAnnotation];
	if (text === undefined) return undefined;
	const {artifact, runtime, concurrency, timeoutMs, ...others} = membersOf(parsedJson(text));
	const known = functionRuntimes.find(each => each === runtime);
	if (known === undefined || Object.keys(others).length > 0) return undefined;
	if (!isCount(concurrency, limits.functionConcurrency) || !isCount(timeoutMs, limits.functionTimeoutMaxMs)) return undefined;
	const said = {runtime: known, concurrency, timeoutMs};
	if (artifact === undefined) return known === 'program' ? said : undefined;
	return isArtifactDigest(artifact) ? {artifact, ...said} : undefined;
}

const isCount = (value: unknown, most: number): value is number =>
	Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
