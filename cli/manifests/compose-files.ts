// A compose file with what it names beside itself: `.env`, files of variables, configs and secrets. The conversion is in api/compose.

import {scryptSync} from 'node:crypto';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {convert, spelling} from '../../api/compose/convert.js';
import {readEnvFile} from '../../api/compose/env-file.js';
import {bindsOf} from '../../api/compose/mounts.js';
import {filesOf, readProject, type Surroundings} from '../../api/compose/project.js';
import type {FileContent} from '../../api/compose/stored.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {readFileAt, reasonOf} from '../files/bounded-file.js';
import type {Fault} from './faults.js';
import type {Manifest, ManifestDocument} from './manifest.js';

/** The objects of a compose file, each knowing where in the file its fields come from; or what is wrong with it. */
export async function composeObjects(document: ManifestDocument, compose: JsonObject, around: Surroundings): Promise<Manifest> {
	const {locate} = document;
	const dotEnv = await dotEnvOf(around);
	if ('message' in dotEnv) return {documents: [], faults: [dotEnv]};
	const project = readProject(compose, {...around, environment: dotEnv.environment});
	const needed = filesOf(project);
	const fault = (at: string, message: string): Fault => ({
		place: locate(at),
		message: at === '' ? message : `${at}: ${message}`,
		code: 'ERR_INVALID',
	});
	const names = [...new Set(needed.map(({file}) => file))];
	if (names.length > limits.manifestFiles)
		return {
			documents: [],
			faults: [fault('services', `they need ${names.length} files; at most ${limits.manifestFiles} are read at once`)],
		};
	const files = new Map<string, FileContent>();
	// One after the other: what they have together is bounded by what one object may have, each.
	for (const name of names) files.set(name, await contentOf(name));
	const {composed, problems, notes} = convert(project, {files, missing: await missingOf(bindsOf(project)), digestOf: digests()});
	return {
		documents: composed.map(each => ({
			value: each.object,
			locate: at => locate(spelling(each, at)),
			spelled: at => spelling(each, at),
			project: project.name,
			build: each.build === undefined ? undefined : {...each.build, place: locate(each.build.path)},
		})),
		faults: problems.map(({path: at, message}) => fault(at, message)),
		notes: notes.map(({path: at, message}) => ({place: locate(at), message: at === '' ? message : `${at}: ${message}`})),
	};
}

/** Variables of the shell before those of `.env` beside the file, which need not be there. */
async function dotEnvOf({folder, environment}: Surroundings): Promise<Pick<Surroundings, 'environment'> | Fault> {
	const file = path.join(folder, '.env');
	const content = await contentOf(file);
	if ('problem' in content) return (await isThere(file)) ? {place: {file}, message: content.problem, code: 'ERR_USAGE'} : {environment};
	const {entries, wrongLines, isTooLarge} = readEnvFile(new TextDecoder().decode(content.bytes), name => environment[name]);
	const [line] = wrongLines;
	if (line !== undefined) return {place: {file, line, column: 1}, message: 'must be KEY=VALUE', code: 'ERR_INVALID'};
	if (isTooLarge) return {place: {file}, message: 'its variables stand for too much', code: 'ERR_INVALID'};
	const set = entries.filter(([, value]) => value !== undefined);
	return {environment: {...Object.fromEntries(set), ...environment}};
}

async function contentOf(file: string): Promise<FileContent> {
	try {
		return {bytes: await readFileAt(file, limits.objectBytes)};
	} catch (error) {
		return {problem: reasonOf(error)};
	}
}

/** So slow, and so few bits, that who may see pods and no Secrets does not find a password by trying. */
function digests(): (text: string) => string {
	const known = new Map<string, string>();
	return text => {
		const digest = known.get(text) ?? scryptSync(text, 'troupe compose', 4, {N: 4_096}).toString('hex');
		known.set(text, digest);
		return digest;
	};
}

async function missingOf(paths: readonly string[]): Promise<ReadonlySet<string>> {
	const missing = await Promise.all(paths.slice(0, limits.manifestFiles).map(async each => ((await isThere(each)) ? [] : [each])));
	return new Set(missing.flat());
}

const isThere = (file: string): Promise<boolean> =>
	stat(file).then(
		() => true,
		() => false,
	);
