// What this program knows of manifests by itself, without a cluster: dialects, schemas and rules are the same code as the server's.

import {normalise} from '../../api/dialects/normalise.js';
import type {JsonObject} from '../../api/object.js';
import {checkHereAlone, refusal} from './check-here.js';
import type {Normalised, Reader} from './prepare.js';

/** Reads and checks a document. Rejects with ERR_INVALID and the wrong fields. */
export const readHere: Reader = document => new Promise(resolve => resolve(read(document)));

function read(document: JsonObject): Normalised {
	const normalised = normalise(document);
	if (!normalised.ok) throw refusal(normalised.problems);
	checkHereAlone(normalised.object as unknown as JsonObject);
	return {...normalised, object: normalised.object as unknown as JsonObject};
}
