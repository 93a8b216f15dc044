// The static shape of a v1 Secret: field names are those of Kubernetes. `api/schemas/secret.ts` says the same to the validator.

import type {ApiObject} from '../object.js';

/**
 * What a Secret has beside its metadata. For whoever writes and reads it values are base64; behind the gateway they are sealed
 * (`api/sealed.ts`).
 */
export type SecretContent = {
	readonly type?: string;
	readonly data?: {readonly [key: string]: string};
	/** Plain texts, for writing only: they become entries of `data`. */
	readonly stringData?: {readonly [key: string]: string};
	readonly immutable?: boolean;
};

export type Secret = ApiObject & SecretContent;
