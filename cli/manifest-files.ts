// Finds and reads the files that `-f` names: files, folders (their .yaml, .yml and .json, by name), or `-` for stdin.

import {createReadStream} from 'node:fs';
import {readdir, stat} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {AppError} from '../api/errors.js';
import {limits} from '../api/limits.js';
import {parseManifest, together, type ManifestDocument} from './manifest.js';
import {usageError} from './usage.js';

/**
 * All documents, in the order given. Throws ERR_INVALID with every problem there is, ERR_USAGE for files that cannot be read
 * or hold nothing.
 */
export async function readManifests(names: readonly string[], stdin: Readable): Promise<readonly ManifestDocument[]> {
	if (names.length === 0) throw usageError('no file is given, as in: troupe apply -f examples/hello.yaml');
	if (names.filter(name => name === '-').length > 1) throw usageError('-f - can only be given once: stdin is read to its end');
	const files = (await Promise.all(names.map(filesOf))).flat();
	const manifests = await Promise.all(
		files.map(async file => (file === '-' ? parseManifest('stdin', await readText(stdin, 'stdin')) : readFileAt(file))),
	);
	const {documents, problems} = together(manifests);
	if (problems.length > 0) throw new AppError('ERR_INVALID', {message: problems.join('\n')});
	if (documents.length === 0) throw usageError(`${names.join(', ')}: there is no object in it`);
	return documents;
}

async function filesOf(name: string): Promise<readonly string[]> {
	if (name === '-') return [name];
	const found = await stat(name).catch((error: unknown) => unreadable(name, error));
	if (!found.isDirectory()) return [name];
	const entries = await readdir(name).catch((error: unknown) => unreadable(name, error));
	const manifests = entries.filter(entry => /\.(ya?ml|json)$/.test(entry)).sort();
	if (manifests.length === 0) throw usageError(`${name}: there is no .yaml, .yml or .json file in it`);
	return manifests.map(entry => path.join(name, entry));
}

async function readFileAt(file: string): Promise<ReturnType<typeof parseManifest>> {
	return parseManifest(file, await readText(createReadStream(file), file).catch((error: unknown) => unreadable(file, error)));
}

/** Never more than a manifest may have: a device or a pipe need not end. */
async function readText(stream: Readable, name: string): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of stream) {
		const part = chunk as Uint8Array;
		bytes += part.length;
		if (bytes > limits.manifestBytes) throw usageError(`${name}: has more than ${limits.manifestBytes} bytes`);
		chunks.push(part);
	}
	return textOf(Buffer.concat(chunks), name);
}

/** Bytes that are no text would become another name or value without a word. */
function textOf(bytes: Uint8Array, name: string): string {
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
	} catch {
		throw usageError(`${name}: is not text in UTF-8`);
	}
}

function unreadable(name: string, error: unknown): never {
	if (error instanceof AppError) throw error;
	const {code, message} = error as NodeJS.ErrnoException;
	throw usageError(`${name}: ${code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'may not be read' : message}`);
}
