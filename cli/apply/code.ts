// The code of functions, and the sources of SlurmJobs, beside their manifests: packed before anything is applied, and uploaded where the cluster does not have it yet.

import path from 'node:path';
import {AppError, rowOf} from '../../api/errors.js';
import {hexOfDigest} from '../../api/function-instance.js';
import {functionLanguages, type FunctionLanguage} from '../../api/function-languages.js';
import {functionKind} from '../../api/kinds/function.js';
import {slurmJob} from '../../api/kinds/slurmjob.js';
import {limits} from '../../api/limits.js';
import {membersOf} from '../../api/rules/report.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import type {Archive} from '../../system/archive/pack.js';
import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {InstallError, type Install} from '../function/install.js';
import {languageOf} from '../function/language.js';
import {placeText, type Fault} from '../manifests/faults.js';
import type {ManifestDocument} from '../manifests/manifest.js';
import type {Manifests} from '../manifests/manifest-files.js';
import {amount} from '../screen/amount.js';
import {isAboutTheServer} from './located.js';

/** Where the folder is named, by the kind that names one. */
const fields: Readonly<Record<string, string>> = {[functionKind.kind]: 'userUploadFilePath', [slurmJob.kind]: 'submitDirectory'};

const fieldOf = (document: ManifestDocument): string => `spec.${fields[kindIn(document)] ?? ''}`;

/** The older dialect has SlurmJobs under another name. */
const kindIn = ({value}: ManifestDocument): string =>
	value['kind'] === 'Job' && value['apiVersion'] === 'v1' ? slurmJob.kind : typeof value['kind'] === 'string' ? value['kind'] : '';

/**
 * Functions that name a folder get the digest of its code, and its language; what is wrong with a folder is told where it is named. With an installer they
 * have what it requires as well.
 */
export async function withCode(manifests: Manifests, install?: Install): Promise<Manifests> {
	if (manifests.faults.length > 0) return manifests;
	const faults: Fault[] = [];
	const documents: ManifestDocument[] = [];
	// One after the other: each archive is let go of before the next is made.
	for (const document of manifests.documents)
		try {
			const plain = await packed(document);
			documents.push(install === undefined ? plain : await withInstalled(plain, install));
		} catch (error) {
			if (error instanceof InstallError) throw new InstallError(`${error.message}; nothing was changed`);
			if (!(error instanceof AppError)) throw error;
			for (const line of error.message.split('\n'))
				faults.push({place: document.locate(fieldOf(document)), message: `${fieldOf(document)}: ${line}`, code: 'ERR_INVALID'});
		}
	return {...manifests, documents, faults};
}

async function packed(document: ManifestDocument): Promise<ManifestDocument> {
	const {value} = document;
	if (kindIn(document) === slurmJob.kind) return packedSources(document);
	if (value['kind'] !== functionKind.kind) return document;
	const spec = membersOf(value['spec']);
	const {userUploadFilePath: named, runtime: asked, command} = spec;
	// What is no folder, or no language, is told by who checks the object.
	if (typeof named !== 'string' || named === '' || named.includes('\0') || !isLanguage(asked)) return document;
	const folder = path.resolve(path.dirname(document.locate('').file), named);
	// A program is in any language.
	const runtime = command === undefined ? languageOf(folder, asked, {shown: named, by: 'spec.runtime'}) : asked;
	const {digest} = await archiveOf(folder);
	const spelled = {...spec, artifact: digest, ...(runtime === undefined ? {} : {runtime})};
	return {...document, value: {...value, spec: spelled}, code: {named, folder, digest}};
}

/** The folder of a SlurmJob. */
async function packedSources(document: ManifestDocument): Promise<ManifestDocument> {
	const {value} = document;
	const spec = membersOf(value['spec']);
	const named = spec['submitDirectory'];
	if (typeof named !== 'string' || named === '' || named.includes('\0')) return document;
	const {file} = document.locate('');
	const folder = path.resolve(path.dirname(file), named);
	// The manifest may have a password in it, and is none of the sources.
	const place = path.relative(folder, path.resolve(file));
	const without = place.startsWith('..') ? {} : {without: place.split(path.sep).join('/')};
	const {digest} = await archiveOf(folder, without.without);
	return {...document, value: {...value, spec: {...spec, artifact: digest}}, code: {named, folder, digest, ...without}};
}

/** The same with the code of the copy. */
async function withInstalled(document: ManifestDocument, install: Install): Promise<ManifestDocument> {
	const {code, value} = document;
	if (code === undefined || kindIn(document) !== functionKind.kind) return document;
	const spec = membersOf(value['spec']);
	const language = functionLanguages.find(each => each === spec['runtime']);
	const folder = await install({named: code.named, folder: code.folder, language});
	if (folder === code.folder) return document;
	const {digest} = await archiveOf(folder);
	return {...document, value: {...value, spec: {...spec, artifact: digest}}, code: {...code, folder, digest}};
}

const isLanguage = (asked: unknown): asked is FunctionLanguage | undefined =>
	asked === undefined || functionLanguages.some(language => language === asked);

/** Loaded where it is needed: most commands have no code. */
async function archiveOf(folder: string, without?: string): Promise<Archive> {
	const {packFolder} = await import('../../system/archive/pack.js');
	return packFolder(folder, archiveBounds, without);
}

/** Uploads what the cluster does not have; the exit code. Nothing is applied where one of them is refused. */
export async function uploadCode(client: Client, {terminal}: Invocation, {documents}: Manifests): Promise<number> {
	const done = new Set<string>();
	for (const document of documents) {
		const {code} = document;
		if (code === undefined || done.has(code.digest)) continue;
		done.add(code.digest);
		try {
			const bytes = await upload(client, code);
			if (bytes !== undefined) terminal.note(`uploaded ${withSlash(code.named)} (${amount(bytes)}) for ${nameOf(document)}`);
		} catch (error) {
			if (!(error instanceof AppError) || isAboutTheServer(error)) throw error;
			const field = fieldOf(document);
			terminal.error(`${placeText(document.locate(field))}: ${field}: ${error.message}`);
			terminal.error(`nothing was changed: the files of ${nameOf(document)} could not be uploaded`);
			return rowOf(error.code).exitCode;
		}
	}
	return 0;
}

const withSlash = (folder: string): string => (folder.endsWith('/') ? folder : `${folder}/`);

function nameOf(document: ManifestDocument): string {
	const {name, generateName} = membersOf(document.value['metadata']);
	return `${kindIn(document).toLowerCase()} ${JSON.stringify(name ?? generateName ?? '')}`;
}

/** How many bytes were sent; undefined: it is there. */
async function upload(client: Client, {folder, digest, without}: NonNullable<ManifestDocument['code']>): Promise<number | undefined> {
	const place = `/troupe/v1/artifacts/${hexOfDigest(digest)}`;
	if (await isThere(client, place)) return undefined;
	const archive = await archiveOf(folder, without);
	if (archive.digest !== digest)
		throw new AppError('ERR_INVALID', {message: 'the folder was changed after it had been looked at; apply again'});
	await client.json({
		method: 'PUT',
		path: place,
		bytes: archive.bytes,
		contentType: 'application/gzip',
		timeoutMs: limits.artifactUploadMs,
	});
	return archive.bytes.length;
}

async function isThere(client: Client, place: string): Promise<boolean> {
	try {
		await client.json({path: place});
		return true;
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_NOT_FOUND') return false;
		throw error;
	}
}
