// Finds and reads the files that `-f` names: files, folders (their .yaml, .yml and .json, by name), pipes, or `-` for stdin.

import {readdir, stat} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {limits} from '../../api/limits.js';
import {readBounded, readFileAt, reasonOf} from '../files/bounded-file.js';
import {composeObjects} from './compose-files.js';
import {placeText, type Fault} from './faults.js';
import {parseManifest, together, type Manifest} from './manifest.js';
import {usageError} from '../command.js';

/** All that was read. With faults, nothing should be done. */
export type Manifests = Manifest & {
	/** In the order in which they were read. */
	readonly files: readonly string[];
};

type Reading = {
	/** Whether folders in folders are read too. */
	readonly recursive?: boolean;
	/** How long a pipe may be silent. */
	readonly silenceMs?: number;
	/** What compose files stand in: variables, and the profiles that are asked for. */
	readonly environment?: Readonly<Record<string, string | undefined>>;
	readonly profiles?: readonly string[];
	/** All members that are null are kept: files that are no manifests say something by them. */
	readonly keepsNulls?: boolean;
};

/** All documents, in the order given, and what is wrong with any. Throws ERR_USAGE where nothing is named, or nothing is in what is. */
export async function readManifests(names: readonly string[], stdin: Readable, reading: Reading = {}): Promise<Manifests> {
	if (names.length === 0) throw usageError('no file is given, as in: troupe apply -f examples/hello.yaml');
	if (names.filter(name => name === '-').length > 1) throw usageError('-f - can only be given once: stdin is read to its end');
	const found = await Promise.all(names.map(name => filesOf(name, reading.recursive === true)));
	const files = [...new Set(found.flatMap(({files}) => files))];
	if (files.length > limits.manifestFiles)
		throw usageError(`${names.join(', ')}: there are ${files.length} files; at most ${limits.manifestFiles} are read at once`);
	const manifests: Manifest[] = found.map(({fault}) => ({documents: [], faults: fault === undefined ? [] : [fault]}));
	// One after the other: what is read of one is let go of before the next.
	for (const file of files) manifests.push(await converted(file, await readOne(file, stdin, reading), reading));
	const all = oneProject(together(manifests));
	if (all.documents.length === 0 && all.faults.length === 0) throw usageError(`${names.join(', ')}: there is no object in it`);
	const named = found.flatMap(({files, fault}) => [...(fault === undefined ? [] : [fault.place.file]), ...files]);
	return {...all, files: named.map(shownName)};
}

/** Compose files become objects; all else stays. */
async function converted(file: string, manifest: Manifest, {environment = {}, profiles = []}: Reading): Promise<Manifest> {
	if (manifest.documents.every(({compose}) => compose === undefined)) return manifest;
	const folder = file === '-' ? process.cwd() : path.dirname(path.resolve(file));
	const parts: Manifest[] = [{...manifest, documents: []}];
	for (const document of manifest.documents)
		parts.push(
			document.compose === undefined
				? {documents: [document], faults: []}
				: await composeObjects(document, document.compose, {folder, environment, profiles}),
		);
	return together(parts);
}

/** Two compose files would be meant as one, the second changing the first. */
function oneProject(all: Manifest): Manifest {
	const files = new Map(
		all.documents.flatMap(document => (document.project === undefined ? [] : [[document.locate('').file, document] as const])),
	);
	const [first, second] = [...files.values()];
	if (first === undefined || second === undefined) return all;
	const place = {file: second.locate('').file};
	const message = `is a compose file, as ${placeText({file: first.locate('').file})} is: several are not joined; give one at a time`;
	return {...all, faults: [...all.faults, {place, message, code: 'ERR_USAGE'}]};
}

const shownName = (file: string): string => (file === '-' ? 'stdin' : file);

/** What is wrong with a file as a file. */
const fileFault = (file: string, message: string): Fault => ({place: {file}, message, code: 'ERR_USAGE'});

type FilesBelow = {readonly files: readonly string[]; readonly fault?: Fault};

async function filesOf(name: string, recursive: boolean): Promise<FilesBelow> {
	if (name === '-') return {files: [name]};
	if (/^https?:\/\//.test(name)) throw usageError(`${name}: addresses are not read; as in: curl -fsSL ${name} | troupe apply -f -`);
	try {
		if (!(await stat(name)).isDirectory()) return {files: [name]};
		const entries = await readdir(name, {recursive});
		const files = entries.filter(entry => /\.(ya?ml|json)$/.test(entry)).sort();
		if (files.length > 0) return {files: files.map(entry => path.join(name, entry))};
		const deeper = recursive ? '' : '; -R looks into folders, too';
		return {files: [], fault: fileFault(name, `there is no .yaml, .yml or .json file in it${deeper}`)};
	} catch (error) {
		return {files: [], fault: fileFault(name, reasonOf(error))};
	}
}

async function readOne(file: string, stdin: Readable, {silenceMs = limits.manifestSilenceMs, keepsNulls}: Reading): Promise<Manifest> {
	const name = shownName(file);
	try {
		const bytes = file === '-' ? await readBounded(stdin, limits.manifestBytes) : await readFileAt(file, limits.manifestBytes, silenceMs);
		return parseManifest(name, textOf(bytes), keepsNulls);
	} catch (error) {
		return {documents: [], faults: [fileFault(name, reasonOf(error))]};
	}
}

/** Bytes that are no text would become another name or value without a word. */
function textOf(bytes: Uint8Array): string {
	const [first, second] = bytes;
	if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) throw usageError('is text in UTF-16; save it as UTF-8');
	if (bytes.includes(0)) throw usageError('is not text: it has bytes that are zero');
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
	} catch {
		throw usageError('is not text in UTF-8');
	}
}
