// `troupe function`: functions as folders, without a cluster: made, and called on this machine.

import {mkdir, readdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {parseDuration} from '../../api/duration.js';
import {functionLanguages} from '../../api/function-languages.js';
import {limits} from '../../api/limits.js';
import {isDnsLabel} from '../../api/rules/names.js';
import {didYouMean} from '../../api/suggest.js';
import {failedError, type Flags, type Invocation, usageError} from '../command.js';
import {reasonOf} from '../files/bounded-file.js';
import {errorIn, pour} from '../function/answer.js';
import {endings} from '../function/endings.js';
import {withInstaller, type Install} from '../function/install.js';
import {languageOf} from '../function/language.js';
import {callHere} from '../function/local-call.js';
import {paramsOf} from '../function/params.js';
import {templates} from '../function/templates.js';

type Verb = (invocation: Invocation, words: readonly string[]) => Promise<number>;

const verbs: {readonly [name: string]: Verb} = {new: make, run: call};

export function run(invocation: Invocation): Promise<number> {
	const [name = '', ...words] = invocation.inputs;
	const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
	if (verb === undefined)
		throw usageError(
			name === ''
				? 'new or run? as in: troupe function new hello'
				: `unknown verb "${name}" of function${didYouMean(name, Object.keys(verbs))}`,
		);
	return verb(invocation, words);
}

async function make({flags, terminal}: Invocation, words: readonly string[]): Promise<number> {
	const [name, ...more] = words;
	if (name === undefined || more.length > 0) throw usageError('new takes one name, as in: troupe function new hello --lang python');
	const ofRun = ['timeout', 'env', 'install'].find(flag => flags.words.some(word => word === `--${flag}` || word.startsWith(`--${flag}=`)));
	if (ofRun !== undefined) throw usageError(`--${ofRun} is of function run`);
	if (!isDnsLabel(name))
		throw usageError(`"${name}" cannot be the name of a function: lower-case letters, digits and "-", at most 63, as in hello-2`);
	const language = functionLanguages.find(each => each === (flags.text('lang') ?? 'python')) ?? 'python';
	await makeEmpty(name);
	for (const [file, text] of Object.entries(templates[language])) await writeFile(path.join(name, file), text, {flag: 'wx'});
	terminal.out(`function "${name}" is in ${name}/\n`);
	terminal.note(`Call it here: troupe function run ${name} '{"name": "Ada"}'`);
	return 0;
}

/** A folder that is there has to be empty: nothing of it is written over. */
async function makeEmpty(folder: string): Promise<void> {
	try {
		await mkdir(folder, {recursive: true});
		if ((await readdir(folder)).length === 0) return;
	} catch (error) {
		throw failedError(`${folder} cannot be made: ${reasonOf(error)}`);
	}
	throw failedError(`${folder}: is there already, and is not empty`);
}

function call(invocation: Invocation, words: readonly string[]): Promise<number> {
	return withInstaller(invocation, install => callWith(invocation, words, install));
}

async function callWith(invocation: Invocation, words: readonly string[], install: Install | undefined): Promise<number> {
	const {flags, terminal, environment} = invocation;
	const [named, text = '{}', ...more] = words;
	if (named === undefined || more.length > 0)
		throw usageError(`run takes a folder and its params as JSON, as in: troupe function run hello '{"name": "Ada"}'; or - for stdin`);
	const language = languageOf(named, flags.text('lang'));
	const [timeoutMs, env] = [timeoutOf(flags), {...kept(environment), ...envOf(flags)}];
	const params = await paramsOf(text, terminal.input);
	const folder = (await install?.({named, folder: named, language})) ?? named;
	const ended = new AbortController();
	let endedBy: keyof typeof endings | undefined;
	// Also a second time: what was begun is cleared away first.
	const end = (signal: NodeJS.Signals): void => {
		endedBy ??= signal as keyof typeof endings;
		ended.abort();
	};
	for (const signal of Object.keys(endings)) process.on(signal, end);
	let problem: string | undefined;
	try {
		const onOutput = (bytes: Uint8Array): Promise<void> => terminal.pourErrors(bytes);
		await callHere({folder, language, params, timeoutMs, env, onOutput, signal: ended.signal}, async answer => {
			if (answer.statusCode !== undefined && answer.statusCode < 400) return pour(invocation.terminal, answer);
			problem = (await errorIn(answer)).message;
		});
		// Behind what the function wrote of it.
		if (problem === undefined) return 0;
		terminal.error(problem);
		return 1;
	} catch (error) {
		if (endedBy !== undefined) return endings[endedBy];
		throw error;
	} finally {
		for (const signal of Object.keys(endings)) process.off(signal, end);
	}
}

function timeoutOf(flags: Flags): number {
	const text = flags.text('timeout');
	const ms = text === undefined ? limits.functionTimeoutMs : parseDuration(text);
	if (ms === undefined || ms <= 0 || ms > limits.functionTimeoutMaxMs)
		throw usageError(`--timeout must be a time up to ${limits.functionTimeoutMaxMs / 60_000} min such as 30s or 5m, got "${text ?? ''}"`);
	return ms;
}

/** What programs need to be found and to write as people read; all else of this shell a cluster would not have. */
const kept = (environment: Invocation['environment']): Record<string, string> =>
	Object.fromEntries(
		['PATH', 'HOME', 'LANG', 'LC_ALL'].flatMap(name => (environment[name] === undefined ? [] : [[name, environment[name]]])),
	);

const envOf = (flags: Flags): Record<string, string> =>
	Object.fromEntries(
		flags.texts('env').map(word => {
			const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(word) ?? [];
			if (name === undefined || value === undefined) throw usageError(`--env takes NAME=VALUE, got "${word}"`);
			return [name, value];
		}),
	);
