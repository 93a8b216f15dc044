// The runner of a language as a pod has it: a copy, for the project's own folder may be closed to the pod's user; and the words that begin it.

import {chmod, mkdir, readFile, readdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {FunctionInstance} from '../../api/function-instance.js';
import type {FunctionLanguage} from '../../api/function-languages.js';
import {limits} from '../../api/limits.js';
import {codeOf, runnerOf, socketName} from './runner-place.js';
import type {RunnerConfig} from './runners/runner-config.js';

const folder = path.join(import.meta.dirname, 'runners');

/** What of which folder is a runner. */
const sources: Readonly<Record<FunctionLanguage, {readonly from: string; readonly ending: string; readonly isDeep: boolean}>> = {
	python: {from: path.join(folder, 'python'), ending: '.py', isDeep: true},
	nodejs: {from: folder, ending: '.js', isDeep: false},
};

/** Makes the folder, whose files all may read. Rejects with errno exceptions. */
export async function copyRunner(language: FunctionLanguage, target: string): Promise<void> {
	const {from, ending, isDeep} = sources[language];
	await makeOpen(target);
	for (const name of await readdir(from, {recursive: isDeep, encoding: 'utf8'})) {
		if (!name.endsWith(ending)) continue;
		const file = path.join(target, name);
		await makeOpen(path.dirname(file));
		await writeOpen(file, await readFile(path.join(from, name)));
	}
	if (language === 'nodejs') await writeOpen(path.join(target, 'package.json'), '{"type":"module"}\n');
}

async function writeOpen(file: string, data: string | Buffer): Promise<void> {
	await writeFile(file, data);
	await chmod(file, 0o644);
}

/** A folder that all may read, whatever the umask is. */
export async function makeOpen(made: string): Promise<void> {
	await mkdir(made, {recursive: true});
	await chmod(made, 0o755);
}

/** Words that begin a program: the first that may be run. */
export type Programs = readonly [Words, ...Words[]];
type Words = readonly string[];

/** Where a runner finds what it needs. */
export type RunnerPaths = {readonly code: string; readonly runner: string; readonly socket: string};

/** In the folder of its pod. */
export const pathsIn = (home: string): RunnerPaths => ({code: codeOf(home), runner: runnerOf(home), socket: socketName});

/** What the runner of an instance is told. */
export const runnerConfigOf = (
	{timeoutMs, concurrency}: FunctionInstance,
	{code, socket}: Pick<RunnerPaths, 'code' | 'socket'>,
): RunnerConfig => ({
	dir: code,
	listen: {path: socket},
	timeoutMs,
	bodyBytes: limits.functionBodyBytes,
	answerBytes: limits.functionAnswerBytes,
	concurrency,
});

/** What begins the runner in the folder of its pod. */
export function runnerWords(language: FunctionLanguage, instance: FunctionInstance, home: string): Programs {
	const [first, ...others] = programs[language];
	const last = runnerArguments(language, instance, pathsIn(home));
	return [[...first, ...last], ...others.map(words => [...words, ...last])];
}

/** What follows the words of an interpreter. */
export const runnerArguments = (language: FunctionLanguage, instance: FunctionInstance, paths: RunnerPaths): readonly string[] => [
	path.join(paths.runner, mains[language]),
	JSON.stringify(runnerConfigOf(instance, paths)),
];

/** The same of one that waits at a socket of its agent. */
export const waitingArguments = (language: FunctionLanguage, runner: string, socket: string): readonly string[] => [
	path.join(runner, mains[language]),
	'--wait',
	socket,
];

const mains: Readonly<Record<FunctionLanguage, string>> = {python: 'main.py', nodejs: 'node-runner.js'};

/** Python's own isolation keeps the environment's and the user's packages out, and nothing can be written beside its files. */
const programs: Readonly<Record<FunctionLanguage, Programs>> = {
	python: [['python3', '-I', '-B']],
	nodejs: [[process.execPath], ['node']],
};

/** What begins a runner that waits: from the project's own folder, for it loads all of itself before it is a pod's. */
export const warmRunnerWords = (language: FunctionLanguage, program: string): Words => {
	const [[, ...flags]] = programs[language];
	return [program, ...flags, path.join(sources[language].from, mains[language]), '--warm'];
};
