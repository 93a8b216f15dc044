// A certificate and its key, as OpenSSL would serve with them.

import {X509Certificate, createPrivateKey} from 'node:crypto';
import {createSecureContext, type SecureContext} from 'node:tls';
import {valueOr} from '../../../api/value-or.js';

export type KeyPair = {
	/** The first certificate: the others are those of authorities. */
	readonly certificate: X509Certificate;
	readonly context: SecureContext;
};

/** `certificate`, `key`: it is none, in PEM and without a password. `pair`: they do not belong together. `refused`: too weak, or a later certificate is none. */
export type PairFault = 'certificate' | 'key' | 'pair' | 'refused';

/** Both in PEM. What OpenSSL says of them is not passed on, for parts of them may be in it. */
export function readKeyPair(certificates: string, privateKey: string): KeyPair | PairFault {
	const certificate = valueOr(undefined, () => new X509Certificate(certificates));
	if (certificate === undefined) return 'certificate';
	const key = valueOr(undefined, () => createPrivateKey(privateKey));
	if (key === undefined) return 'key';
	if (!valueOr(false, () => certificate.checkPrivateKey(key))) return 'pair';
	const context = valueOr(undefined, () => createSecureContext({cert: certificates, key: privateKey}));
	return context === undefined ? 'refused' : {certificate, context};
}
