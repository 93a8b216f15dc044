// What `create configmap|secret` puts into an object: values from the command line, from files, and from lines KEY=VALUE.

import {readdir, stat} from 'node:fs/promises';
import path from 'node:path';
import {limits} from '../../api/limits.js';
import {shown} from '../../api/shown.js';
import {readFileAt, reasonOf} from '../files/bounded-file.js';
import {type Flags, usageError} from '../command.js';

export type Entry = readonly [key: string, bytes: Uint8Array];

/** All values in the order of their flags. Throws ERR_USAGE with a line for each problem. */
export async function readEntries(flags: Flags): Promise<readonly Entry[]> {
	const read = await Promise.all([
		...flags.texts('from-literal').map(literal => tried(() => Promise.resolve([ofLiteral(literal)]))),
		...flags.texts('from-file').map(word => tried(() => ofFile(word))),
		...flags.texts('from-env-file').map(file => tried(() => ofLines(file))),
	]);
	const problems = read.flatMap(one => ('problem' in one ? [one.problem] : []));
	const entries = read.flatMap(one => ('problem' in one ? [] : one.entries));
	const seen = new Set<string>();
	for (const [key] of entries) {
		if (seen.has(key)) problems.push(`the key ${shown(key)} is given twice`);
		seen.add(key);
	}
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return entries;
}

type Tried = {readonly entries: readonly Entry[]} | {readonly problem: string};

async function tried(work: () => Promise<readonly Entry[]>): Promise<Tried> {
	try {
		return {entries: await work()};
	} catch (error) {
		return {problem: reasonOf(error)};
	}
}

function ofLiteral(literal: string): Entry {
	const at = literal.indexOf('=');
	if (at < 1) throw usageError('--from-literal must be KEY=VALUE'); // What was given may be a secret.
	return [literal.slice(0, at), Buffer.from(literal.slice(at + 1))];
}

/** `FILE` under its own name, `KEY=FILE`, or every file of a folder. */
async function ofFile(word: string): Promise<readonly Entry[]> {
	const at = word.indexOf('=');
	const file = word.slice(at + 1);
	const [key, isNamed] = at < 0 ? [path.basename(file), false] : [word.slice(0, at), true];
	if (key === '' || file === '') throw usageError(`--from-file must be FILE, KEY=FILE or a folder, got ${shown(word)}`);
	return named(file, async () => {
		if (!(await stat(file)).isDirectory()) return [[key, await readFileAt(file, limits.objectBytes)]];
		if (isNamed) throw usageError('is a folder; its files are keys of their own: leave out the key');
		const entries = (await readdir(file, {withFileTypes: true})).filter(entry => entry.isFile()).sort((a, b) => (a.name < b.name ? -1 : 1));
		if (entries.length > limits.manifestFiles) throw usageError(`has more than ${limits.manifestFiles} files`);
		const read: Entry[] = [];
		let bytes = 0;
		for (const {name} of entries) {
			const content = await readFileAt(path.join(file, name), limits.objectBytes);
			bytes += content.length;
			if (bytes > limits.objectBytes) throw usageError(`its files have more than ${limits.objectBytes} bytes`);
			read.push([name, content]);
		}
		return read;
	});
}

/** Lines `KEY=VALUE`; blank ones and those that begin with `#` say nothing. Values are taken as they stand. */
const ofLines = (file: string): Promise<readonly Entry[]> =>
	named(file, async () => {
		const text = new TextDecoder('utf-8').decode(await readFileAt(file, limits.objectBytes));
		return text.split(/\r?\n/).flatMap((line, at): readonly Entry[] => {
			if (/^\s*(#|$)/.test(line)) return [];
			const equals = line.indexOf('=');
			if (equals < 1) throw usageError(`line ${at + 1} must be KEY=VALUE`);
			return [[line.slice(0, equals).trimStart(), Buffer.from(line.slice(equals + 1))]];
		});
	});

/** What goes wrong with a file begins with its name. */
async function named<Value>(file: string, work: () => Promise<Value>): Promise<Value> {
	try {
		return await work();
	} catch (error) {
		throw usageError(`${file}: ${reasonOf(error)}`);
	}
}

/** The text of bytes; undefined when they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
	try {
		return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
	} catch {
		return undefined;
	}
}
