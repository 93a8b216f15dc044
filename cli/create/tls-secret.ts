// `create secret tls NAME`: a certificate and its key, for the `tls` of Ingresses. In the words of kubectl.

import {readKeyPair, type PairFault} from '../../agent/network/router/key-pair.js';
import {certificateEntry, privateKeyEntry, tlsSecretType} from '../../api/kinds/secret.js';
import {limits} from '../../api/limits.js';
import {type Flags, usageError} from '../command.js';
import {readFileAt, reasonOf} from '../files/bounded-file.js';
import type {Entry} from './data.js';

const tlsFlags = ['cert', 'key'] as const;

/** Those that make sense for it alone. */
export const givenTlsFlags = (flags: Flags): readonly string[] => tlsFlags.filter(flag => flags.text(flag) !== undefined);

/** The Secret's type and its two entries. Throws ERR_USAGE. */
export async function tlsSecretOf(flags: Flags): Promise<{readonly type: string; readonly entries: readonly Entry[]}> {
	const others =
		['from-literal', 'from-file', 'from-env-file'].find(flag => flags.texts(flag).length > 0) ?? (flags.text('type') && 'type');
	if (others !== undefined) throw usageError(`a tls secret is made of --cert and --key; leave out --${others}`);
	const [certificate, key] = await Promise.all(tlsFlags.map(flag => fileOf(flags, flag)));
	if (certificate === undefined || key === undefined) throw usageError('a tls secret needs --cert FILE and --key FILE, both in PEM');
	const pair = readKeyPair(certificate.toString('latin1'), key.toString('latin1'));
	if (typeof pair === 'string') throw usageError(faults[pair]);
	return {
		type: tlsSecretType,
		entries: [
			[certificateEntry, certificate],
			[privateKeyEntry, key],
		],
	};
}

const faults: Readonly<Record<PairFault, string>> = {
	certificate: '--cert must be a file with a certificate in PEM, and behind it those of authorities',
	key: '--key must be a file with a private key in PEM, without a password',
	pair: '--key is not the key of the first certificate in --cert',
	refused: '--cert and --key are refused by OpenSSL: they are too weak, or a later certificate is none',
};

async function fileOf(flags: Flags, flag: (typeof tlsFlags)[number]): Promise<Buffer | undefined> {
	const file = flags.text(flag);
	if (file === undefined) return undefined;
	try {
		return Buffer.from(await readFileAt(file, limits.certificateBytes));
	} catch (error) {
		throw usageError(`--${flag} ${file}: ${reasonOf(error)}`);
	}
}
