// Certificates of an authority of its own, as Secrets that Ingresses name.

import type {NetworkCertificate} from '../../../actors/protocol/network-object.js';
import {ensureCertificates, type ServerCertificate} from '../../../server/certificates.js';
import {plainVault} from '../../server/support.js';

const cluster = plainVault();
const begun = ensureCertificates({cluster, own: plainVault()}, {names: [], nowMs: Date.now()});

/** Good for these names for a year; all are of one authority. */
export async function certificateFor(names: readonly string[]): Promise<ServerCertificate> {
	await begun;
	return ensureCertificates({cluster, own: plainVault()}, {names, nowMs: Date.now()});
}

const dayMs = 86_400_000;

/** Its year is over. */
export const endedCertificateFor = (names: readonly string[]): Promise<ServerCertificate> =>
	ensureCertificates({cluster: plainVault(), own: plainVault()}, {names, nowMs: Date.now() - 366 * dayMs});

export const certificateObject = (
	name: string,
	{cert, key}: Pick<ServerCertificate, 'cert' | 'key'>,
	fields: Partial<NetworkCertificate> = {},
): NetworkCertificate => ({
	type: 'certificate',
	namespace: 'default',
	name,
	version: '1',
	isTls: true,
	opened: {certificate: cert, privateKey: key},
	...fields,
});
