// The cluster's own authority and the certificate its doors show. What is good is kept: the authority in the cluster's vault, which
// all servers share, the certificate in a vault of the server's own, since each is reached by other names.
//
// Only here is @peculiar/x509 used, and it is loaded only when something must be made: checking takes node:crypto alone.

import {X509Certificate as Parsed, createHash, randomBytes, webcrypto} from 'node:crypto';
import {isIP} from 'node:net';
import {hostname} from 'node:os';
import type {Vault} from './vault.js';

export type ServerCertificate = {
	/** Of the authority; PEM. */
	readonly ca: string;
	/** Of the server, PEM; followed by nothing: clients know the authority. */
	readonly cert: string;
	readonly key: string;
};

export type CertificateRequest = {
	/** Host names and addresses beyond localhost, 127.0.0.1, ::1 and this host's name. */
	readonly names: readonly string[];
	readonly nowMs: number;
};

/** Whether a name, in lower case, is one of those that a certificate (PEM) has. */
export function namesIn(cert: string): (name: string) => boolean {
	const certificate = new Parsed(cert);
	return name => certificate.checkHost(name) !== undefined;
}

type KeyPair = {readonly cert: string; readonly key: string};

const dayMs = 86_400_000;
const caMs = 3653 * dayMs;
const serverMs = 365 * dayMs;
/** Renewed when less is left. */
const renewMs = 30 * dayMs;
/** Clocks of hosts differ: a certificate is good from a little before it was made. */
const skewMs = 3_600_000;

const algorithm = {name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256'};
const always = ['localhost', '127.0.0.1', '::1'];

export type CertificateVaults = {readonly cluster: Vault; readonly own: Vault};

/** What the cluster's vault holds the authority under; where it is, the vault is not a new one. */
export const authorityName = 'authority';

/** The certificate to serve with: the one that is kept if it is good for these names and long enough, otherwise a new one. */
export async function ensureCertificates({cluster, own}: CertificateVaults, request: CertificateRequest): Promise<ServerCertificate> {
	return certificateOf(await ensureAuthority(cluster, request.nowMs), own, request);
}

/** The same by an authority that must be there already: a standby makes none. Undefined: there is none that is good. */
export async function findCertificates(
	{cluster, own}: CertificateVaults,
	request: CertificateRequest,
): Promise<ServerCertificate | undefined> {
	const ca = readPair(cluster, authorityName);
	return ca !== undefined && isCurrent(new Parsed(ca.cert), request.nowMs) ? certificateOf(ca, own, request) : undefined;
}

/** The certificate that this server had last, while it is good: before the store is read it is not known whether there is to be another. */
export function lastCertificate(own: Vault, nowMs: number): KeyPair | undefined {
	const kept = ownPair(own);
	return kept !== undefined && isCurrent(new Parsed(kept.cert), nowMs) ? kept : undefined;
}

/** SHA-256 of the certificate in DER: what a join token pins. */
export const pinOf = (pem: string): string => createHash('sha256').update(new Parsed(pem).raw).digest('base64url');

async function certificateOf(ca: KeyPair, own: Vault, {names, nowMs}: CertificateRequest): Promise<ServerCertificate> {
	const wanted = [...new Set([...always, hostname(), ...names])].filter(name => name !== '');
	const kept = ownPair(own);
	if (kept !== undefined && servesWell(kept, ca, wanted, nowMs)) return {ca: ca.cert, ...kept};
	const made = await makeServer(ca, wanted, nowMs);
	await own.put('server-certificate', JSON.stringify(made));
	return {ca: ca.cert, ...made};
}

async function ensureAuthority(vault: Vault, nowMs: number): Promise<KeyPair> {
	const kept = readPair(vault, authorityName);
	if (kept !== undefined && isCurrent(new Parsed(kept.cert), nowMs)) return kept;
	const made = await makeAuthority(nowMs);
	await vault.put(authorityName, JSON.stringify(made));
	return made;
}

/** Sealed with a key that was replaced since, it is as good as none. */
function ownPair(own: Vault): KeyPair | undefined {
	try {
		return readPair(own, 'server-certificate');
	} catch {
		return undefined;
	}
}

function readPair(vault: Vault, name: string): KeyPair | undefined {
	const text = vault.get(name);
	return text === undefined ? undefined : (JSON.parse(text) as KeyPair);
}

const isCurrent = (certificate: Parsed, nowMs: number): boolean =>
	Date.parse(certificate.validTo) - nowMs >= renewMs && Date.parse(certificate.validFrom) <= nowMs;

function servesWell(pair: KeyPair, ca: KeyPair, wanted: readonly string[], nowMs: number): boolean {
	const certificate = new Parsed(pair.cert);
	const named = (name: string): boolean => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
	return isCurrent(certificate, nowMs) && certificate.verify(new Parsed(ca.cert).publicKey) && wanted.every(named);
}

async function loadX509() {
	await import('reflect-metadata'); // The package's containers need it before they are made.
	return import('@peculiar/x509');
}

async function makeAuthority(nowMs: number): Promise<KeyPair> {
	const x509 = await loadX509();
	const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
	const certificate = await x509.X509CertificateGenerator.createSelfSigned({
		serialNumber: serial(),
		// Two authorities of one name would be told apart by nothing but their keys, and browsers refuse that.
		name: `CN=troupe-${randomBytes(4).toString('hex')}`,
		...validity(nowMs, caMs),
		keys,
		signingAlgorithm: algorithm,
		extensions: [
			new x509.BasicConstraintsExtension(true, 0, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
			await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
		],
	});
	return {cert: certificate.toString('pem'), key: await exported(keys.privateKey)};
}

async function makeServer(ca: KeyPair, names: readonly string[], nowMs: number): Promise<KeyPair> {
	const x509 = await loadX509();
	const authority = new x509.X509Certificate(ca.cert);
	const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
	const certificate = await x509.X509CertificateGenerator.create({
		serialNumber: serial(),
		subject: 'CN=troupe',
		issuer: authority.subject,
		...validity(nowMs, serverMs),
		publicKey: keys.publicKey,
		signingKey: await imported(ca.key),
		signingAlgorithm: algorithm,
		extensions: [
			new x509.BasicConstraintsExtension(false, undefined, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
			new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
			new x509.SubjectAlternativeNameExtension(names.map(value => ({type: isIP(value) === 0 ? 'dns' : 'ip', value}))),
			await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
			await x509.AuthorityKeyIdentifierExtension.create(authority),
		],
	});
	return {cert: certificate.toString('pem'), key: await exported(keys.privateKey)};
}

const validity = (nowMs: number, lengthMs: number) => ({notBefore: new Date(nowMs - skewMs), notAfter: new Date(nowMs + lengthMs)});

/** 128 random bits, positive and without a leading zero (RFC 5280, 4.1.2.2). */
const serial = (): string => `4${randomBytes(16).toString('hex').slice(1)}`;

async function exported(key: webcrypto.CryptoKey): Promise<string> {
	const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
	return `-----BEGIN PRIVATE KEY-----\n${(der.match(/.{1,64}/g) ?? []).join('\n')}\n-----END PRIVATE KEY-----\n`;
}

function imported(pem: string): Promise<webcrypto.CryptoKey> {
	const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
	return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
