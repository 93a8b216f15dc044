// `troupe function`: functions as folders, without a cluster: made, and called on this machine.

import {mkdir, readdir, writeFile} from 'node:fs/promises';
import type {IncomingMessage} from 'node:http';
import path from 'node:path';
import {parseDuration} from '../../api/duration.js';
import {limits} from '../../api/limits.js';
import {isDnsLabel} from '../../api/rules/names.js';
import {didYouMean} from '../../api/suggest.js';
import {isObject} from '../../api/object.js';
import {parsedJson} from '../../api/value-or.js';
import {failedError, interruptedExitCode, type Flags, type Invocation, usageError} from '../command.js';
import {reasonOf, readBounded} from '../files/bounded-file.js';
import {shellWord} from '../files/shell-word.js';
import {languageNames, languageOf} from '../function/language.js';
import {callHere} from '../function/local-call.js';
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
	if (!isDnsLabel(name))
		throw usageError(`"${name}" cannot be the name of a function: lower-case letters, digits and "-", at most 63, as in hello-2`);
	const language = languageNames.find(each => each === (flags.text('lang') ?? 'python')) ?? 'python';
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
		throw failedError(`${folder}: ${reasonOf(error)}`);
	}
	throw failedError(`${folder}: is there already, and is not empty`);
}

async function call(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags, terminal, environment} = invocation;
	const [folder, text = '{}', ...more] = words;
	if (folder === undefined || more.length > 0)
		throw usageError(`run takes a folder and its params as JSON, as in: troupe function run hello '{"name": "Ada"}'; or - for stdin`);
	const params = text === '-' ? await readBounded(terminal.input, limits.functionBodyBytes) : Buffer.from(text);
	checkJson(params, text);
	const language = languageOf(folder, flags.text('lang'));
	const ended = new AbortController();
	const end = (): void => ended.abort();
	process.once('SIGINT', end);
	let failed = false;
	try {
		await callHere(
			{
				folder,
				language,
				params,
				timeoutMs: timeoutOf(flags),
				env: {...kept(environment), ...envOf(flags)},
				onOutput: bytes => void terminal.pourErrors(bytes),
				signal: ended.signal,
			},
			async answer => {
				if (answer.statusCode !== undefined && answer.statusCode < 400) return pour(invocation, answer);
				failed = true;
				await tellError(invocation, answer);
			},
		);
		return failed ? 1 : 0;
	} catch (error) {
		if (ended.signal.aborted) return interruptedExitCode;
		throw error;
	} finally {
		process.off('SIGINT', end);
	}
}

function checkJson(params: Uint8Array, text: string): void {
	try {
		JSON.parse(Buffer.from(params).toString());
	} catch (error) {
		throw usageError(`${text === '-' ? 'stdin' : shellWord(text)} is no JSON: ${reasonOf(error)}`);
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

/** JSON gets a line end where there is none, so that a prompt stands on a line of its own. */
async function pour({terminal}: Invocation, answer: IncomingMessage): Promise<void> {
	let last: number | undefined;
	try {
		for await (const piece of answer) {
			const bytes = piece as Uint8Array;
			last = bytes.at(-1) ?? last;
			await terminal.pour(bytes);
		}
	} catch {
		throw failedError('the answer was cut off: the function failed in the middle of it');
	}
	const isText = answer.headers['content-type'] === 'application/json' || terminal.outIsTerminal;
	if (isText && last !== newline) terminal.out('\n');
}

const newline = 0x0a;

async function tellError({terminal}: Invocation, answer: IncomingMessage): Promise<void> {
	const text = (await readBounded(answer, limits.functionAnswerBytes)) as Buffer;
	const said = parsedJson(text.toString());
	const error = isObject(said) && isObject(said['error']) ? said['error'] : {};
	const unknown = `the function answered with ${answer.statusCode ?? 0}: ${text.toString().slice(0, limits.warningCharacters)}`;
	// Where it threw, its traceback is in what it wrote.
	terminal.error(typeof error['message'] === 'string' ? error['message'] : unknown);
}
