// What the code of a function requires, installed by the user's own pip or npm into a copy of its folder.
//
// What it keeps true: the folder itself is never written to; no shell is involved; of the copy, and of what was begun, nothing is left, however the command
// ends but by SIGKILL.

import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {cp, mkdir, readdir, realpath, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {AppError} from '../../api/errors.js';
import type {FunctionLanguage} from '../../api/function-languages.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {hasCode} from '../../system/files/errno.js';
import type {Invocation} from '../command.js';
import {reasonOf} from '../files/bounded-file.js';
import {endings} from './endings.js';

/** What is shown of a folder, where it is, and its language; undefined: any. */
export type Source = {readonly named: string; readonly folder: string; readonly language: FunctionLanguage | undefined};

/** The copy with what the code requires, which is there as long as the command; the folder itself where nothing is required. Rejects with AppErrors. */
export type Install = (source: Source) => Promise<string>;

/** It was not installed: all that was asked for ends with that. */
export class InstallError extends AppError {
	constructor(message: string) {
		super('ERR_INTERNAL', {message});
	}
}

/** Runs what may ask for installations; undefined: nobody has asked for them. */
export async function withInstaller<Value>(invocation: Invocation, run: (install: Install | undefined) => Promise<Value>): Promise<Value> {
	if (!invocation.flags.on('install')) return run(undefined);
	const scratch = mkdtempSync(path.join(tmpdir(), 'troupe-install-'));
	const running = new Set<number>();
	const clear = (): void => {
		for (const group of running) killGroup(group);
		rmSync(scratch, {recursive: true, force: true, maxRetries: 10, retryDelay: 20});
	};
	// Also where this process is ended on the way.
	process.once('exit', clear);
	const end = (signal: NodeJS.Signals): void => process.exit(endings[signal as keyof typeof endings]);
	for (const signal of Object.keys(endings)) process.on(signal, end);
	let count = 0;
	try {
		return await run(source => installed(invocation, source, {copy: path.join(scratch, String(count++)), running}));
	} finally {
		for (const signal of Object.keys(endings)) process.off(signal, end);
		process.off('exit', clear);
		clear();
	}
}

function killGroup(leader: number): void {
	try {
		process.kill(-leader, 'SIGKILL');
	} catch {
		// They have ended.
	}
}

type Means = {readonly copy: string; readonly running: Set<number>};

async function installed({terminal, environment}: Invocation, source: Source, {copy, running}: Means): Promise<string> {
	const {named, folder, language} = source;
	const installers = installersFor(folder, language);
	if (installers.length === 0) return folder;
	const [{packFolder}, {unpackArchive}] = await Promise.all([
		import('../../system/archive/pack.js'),
		import('../../system/archive/unpack.js'),
	]);
	const {bytes} = await packFolder(folder, archiveBounds);
	await mkdir(copy);
	const dir = path.join(copy, path.basename(folder));
	await unpackArchive(bytes, dir, archiveBounds);
	for (const {file, words} of installers) {
		terminal.note(`installing what ${path.join(named, file)} names: ${words.join(' ')}`);
		const how = await ending(words, dir, {environment, running, onOutput: terminal.pourErrors});
		if (how !== undefined)
			throw new InstallError(`what ${path.join(named, file)} names was not installed: ${words.slice(0, 3).join(' ')} ${how}`);
	}
	await unlink(dir);
	return dir;
}

/** Packages that are in the folder itself npm links, and an archive has no links: they become copies. A link that leads elsewhere stays, and is refused. */
async function unlink(dir: string): Promise<void> {
	const modules = path.join(dir, 'node_modules');
	if (!existsSync(modules)) return;
	const top = await realpath(dir);
	for (const entry of await readdir(modules, {recursive: true, withFileTypes: true})) {
		if (!entry.isSymbolicLink()) continue;
		const place = path.join(entry.parentPath, entry.name);
		const target = await realpath(place).catch(() => '');
		if (!isIn(top, target) || isIn(target, await realpath(entry.parentPath))) continue;
		await rm(place);
		await cp(target, place, {recursive: true});
	}
}

const isIn = (folder: string, file: string): boolean => file.startsWith(folder + path.sep);

type Installer = {readonly file: string; readonly words: readonly [string, ...string[]]};

/** Nothing is a link that could not be packed, and no file says when it was made. */
function installersFor(folder: string, language: FunctionLanguage | undefined): readonly Installer[] {
	const has = (file: string): boolean => existsSync(path.join(folder, file));
	const pip = [
		'install',
		'--target',
		'site-packages',
		'--upgrade',
		'--no-compile',
		'--disable-pip-version-check',
		'-r',
		'requirements.txt',
	];
	const verb = has('package-lock.json') || has('npm-shrinkwrap.json') ? 'ci' : 'install';
	const npm = [verb, '--omit=dev', '--install-links', '--no-bin-links', '--no-audit', '--no-fund'];
	return [
		...(language !== 'nodejs' && has('requirements.txt')
			? [{file: 'requirements.txt', words: ['python3', '-m', 'pip', ...pip] as const}]
			: []),
		...(language !== 'python' && has('package.json') ? [{file: 'package.json', words: ['npm', ...npm] as const}] : []),
	];
}

type Around = {
	readonly environment: Invocation['environment'];
	readonly running: Set<number>;
	readonly onOutput: (bytes: Uint8Array) => Promise<void>;
};

/** How it ended, in words; undefined: well. It is a group of its own, and has no input: it cannot ask. */
async function ending(
	[program, ...words]: Installer['words'],
	cwd: string,
	{environment, running, onOutput}: Around,
): Promise<string | undefined> {
	const child = spawn(program, words, {cwd, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe']});
	const {pid} = child;
	if (pid !== undefined) running.add(pid);
	const written = Promise.allSettled([child.stdout, child.stderr].map(stream => passOn(stream, onOutput)));
	const how = await new Promise<string | undefined>(resolve => {
		child.once('error', error =>
			resolve(`cannot be started: ${hasCode(error, 'ENOENT') ? 'there is no such program in PATH' : reasonOf(error)}`),
		);
		child.once('exit', (code, signal) =>
			resolve(code === 0 ? undefined : code === null ? `ended with ${signal ?? ''}` : `ended with exit code ${code}`),
		);
	});
	if (pid !== undefined) {
		// What it has left behind holds its output open, and would write to the copy.
		killGroup(pid);
		running.delete(pid);
	}
	await written;
	return how;
}

async function passOn(stream: Readable, onOutput: Around['onOutput']): Promise<void> {
	for await (const piece of stream) await onOutput(piece as Uint8Array);
}
