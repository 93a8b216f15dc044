// Reads a file that must hold one document, with the members that are null.

import type {Readable} from 'node:stream';
import {usageError} from '../command.js';
import type {Fault} from '../manifests/faults.js';
import {readManifests} from '../manifests/manifest-files.js';
import type {ManifestDocument} from '../manifests/manifest.js';

export type OneDocument =
	{readonly ok: true; readonly document: ManifestDocument} | {readonly ok: false; readonly faults: readonly Fault[]};

/** Throws ERR_USAGE where there are several, or none. */
export async function readOneDocument(file: string, stdin: Readable): Promise<OneDocument> {
	const {documents, faults} = await readManifests([file], stdin, {keepsNulls: true});
	if (faults.length > 0) return {ok: false, faults};
	const [document, second] = documents;
	if (document === undefined || second !== undefined) throw usageError(`${file}: has ${documents.length} documents; it must be one`);
	return {ok: true, document};
}
