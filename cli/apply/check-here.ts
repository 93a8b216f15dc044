// What this program knows of manifests by itself, without a cluster: dialects, schemas and rules are the same code as the server's.

import {admitCreate} from '../../api/admission.js';
import {normalise} from '../../api/dialects/normalise.js';
import type {Renamed} from '../../api/dialects/rewrite.js';
import {AppError} from '../../api/errors.js';
import {secret} from '../../api/kinds/secret.js';
import type {Draft, JsonObject} from '../../api/object.js';
import type {Problem} from '../../api/problem.js';
import {sealedPrefix} from '../../api/sealed.js';
import {sealedDraft} from '../../server/secrets.js';

/** What a reader makes of a document. */
export type Normalised = {readonly object: JsonObject; readonly notes?: readonly string[]; readonly renamed?: readonly Renamed[]};

/** Reads a document of any dialect. */
export type Reader = (document: JsonObject) => Promise<Normalised>;

/** Reads and checks a document. Rejects with ERR_INVALID and the wrong fields. */
export const readHere: Reader = document => new Promise(resolve => resolve(read(document)));

function read(document: JsonObject): Normalised {
	const normalised = normalise(document);
	if (!normalised.ok) throw refusal(normalised.problems);
	checkHereAlone(normalised.object as unknown as JsonObject);
	return {...normalised, object: normalised.object as unknown as JsonObject};
}

/** Throws ERR_INVALID for what no cluster would take as a new object. */
export function checkHereAlone(object: JsonObject): void {
	try {
		const admitted = admitCreate(object['kind'] === secret.kind ? asIfSealed(object as unknown as Draft) : object);
		if (!admitted.ok) throw AppError.of(admitted.error);
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		const {problems} = error.failure.details;
		throw Array.isArray(problems) ? refusal(problems) : error;
	}
}

/** A Secret is checked as it is kept, with sealed values; none of them goes anywhere here. */
function asIfSealed(draft: Draft): Draft {
	const seals = {seal: () => `${sealedPrefix}x`, open: () => Buffer.alloc(0)};
	const {metadata} = draft;
	return typeof metadata === 'object' ? sealedDraft(seals, draft, {namespace: metadata.namespace ?? '', name: metadata.name ?? ''}) : draft;
}

/** ERR_INVALID with these wrong fields. */
function refusal(problems: readonly Problem[]): AppError {
	const causes = problems.map(({path, message, reason = ''}) => ({field: path, message, reason}));
	return new AppError('ERR_INVALID', {problems, causes});
}
