// What a node's edge does with Secrets: it fetches them, keeps them sealed, and opens them where a program starts. No actor ever
// holds a value.

import type {Outcome} from '../../../api/errors.js';
import type {ObjectKey} from '../../../api/keys.js';

/** The entries of a Secret, base64. */
export type SecretData = {readonly [key: string]: string};

export type FetchedSecret = {readonly version: string; readonly data: SecretData};

/** Asks the control plane. `ERR_NOT_FOUND` and `ERR_FORBIDDEN`: it is not there, or not for this node; else it may be asked again. */
export type FetchSecret = (namespace: string, name: string) => Promise<Outcome<FetchedSecret>>;

/** A Secret as a start names it. */
export type WantedSecret = {readonly namespace: string; readonly name: string; readonly version: string};

export type NodeSecrets = {
	/** The entries as of this version, or of one nearby where control cannot be asked. Calls back once. */
	readonly open: (wanted: WantedSecret, done: (outcome: Outcome<SecretData>) => void) => void;
	/** Forgets all but these. Calls back once. */
	readonly retain: (keys: readonly ObjectKey[], done: (outcome: Outcome<null>) => void) => void;
};

/** The certificate in a Secret: its two entries, and of which version they are. It is an older one where control cannot be asked. Calls back once. */
export type OpenCertificate = (wanted: WantedSecret, done: (outcome: Outcome<FetchedSecret>) => void) => void;

/** Of a node that has no way to any. */
export const noSecrets: NodeSecrets = {
	open: ({name}, done) =>
		done({
			ok: false,
			error: {code: 'ERR_NOT_REACHABLE', message: `secret "${name}" cannot be fetched: this node has no way to Secrets`, details: {}},
		}),
	retain: (_keys, done) => done({ok: true, value: null}),
};
