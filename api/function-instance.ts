// A pod that is an instance of a function: what its node has to know of the function, beyond what a pod says anyway.

import {functionLanguages, type FunctionLanguage} from './function-languages.js';
import {limits} from './limits.js';
import {membersOf} from './rules/report.js';
import {parsedJson} from './value-or.js';

/** Of a pod that is an instance: a `FunctionInstance` as JSON. */
export const functionAnnotation = 'troupe.dev/function';
/** Of such a pod, and of the ReplicaSet that made it: the name of the function. */
export const functionLabel = 'troupe.dev/function';
/** The container of such a pod: there is one, and it has no command. */
export const functionContainer = 'function';

export type FunctionInstance = {
	/** The archive of its folder: `sha256:` and 64 hexadecimal digits (system/archive). */
	readonly artifact: string;
	readonly runtime: FunctionLanguage;
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
	const language = functionLanguages.find(each => each === runtime);
	if (!isArtifactDigest(artifact) || language === undefined || Object.keys(others).length > 0) return undefined;
	if (!isCount(concurrency, limits.functionConcurrency) || !isCount(timeoutMs, limits.functionTimeoutMaxMs)) return undefined;
	return {artifact, runtime: language, concurrency, timeoutMs};
}

const isCount = (value: unknown, most: number): value is number =>
	Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
