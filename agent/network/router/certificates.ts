// Which certificate a host has: of the Secrets that Ingresses name in their `tls`, the oldest Ingress first. What cannot be served is said by Ingress
// and Secret, and never with anything of what is in it.
//
// What it keeps true: a host belongs to the oldest Ingress that names it, as its paths do, also while the Secret of that one is of no use; a
// certificate that has run out is served no more.

import type {X509Certificate} from 'node:crypto';
import type {SecureContext} from 'node:tls';
import type {NetworkCertificate, NetworkIngress, NetworkObject} from '../../../actors/protocol/network-object.js';
import {certificateKey} from '../../../actors/network-references.js';
import type {ObjectKey} from '../../../api/keys.js';
import {certificateEntry, privateKeyEntry, tlsSecretType} from '../../../api/kinds/secret.js';
import {limits} from '../../../api/limits.js';
import {byAge} from '../../../api/routes.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {readKeyPair, type PairFault} from './key-pair.js';

export type Certificates = {
	/** An Ingress or a certificate that came, changed or went. It counts from the next `update` on. */
	readonly set: (key: ObjectKey, object: NetworkObject | undefined) => void;
	readonly update: () => void;
	/** Of the host that a client names; undefined: it has none. */
	readonly find: (serverName: string) => SecureContext | undefined;
	/** How many hosts have one. */
	readonly size: () => number;
	readonly close: () => void;
};

type CertificatesOptions = {
	readonly clock: Clock;
	/** A text for people, by its key; undefined: it is over. */
	readonly onProblem: (key: string, problem: string | undefined) => void;
};

type Usable = {readonly context: SecureContext; readonly names: readonly string[]; readonly endsMs: number};
type Unusable = {readonly problem: string};
/** Undefined: the agent has not opened it yet. */
type Read = Usable | Unusable | undefined;

export function createCertificates({clock, onProblem}: CertificatesOptions): Certificates {
	const ingresses = new Map<ObjectKey, NetworkIngress>();
	const certificates = new Map<ObjectKey, {readonly object: NetworkCertificate; readonly read: Read}>();
	let hosts: ReadonlyMap<string, Usable | undefined> = new Map();
	let problems: ReadonlyMap<string, string> = new Map();
	let cancel: Cancel = () => undefined;

	const hasEnded = ({endsMs}: Usable): boolean => endsMs <= clock.nowMs();
	const tell = (found: ReadonlyMap<string, string>): void => {
		for (const key of problems.keys()) if (!found.has(key)) onProblem(key, undefined);
		for (const [key, problem] of found) onProblem(key, problem);
		problems = found;
	};
	const readOf = (key: ObjectKey, used: Set<ObjectKey>): Read => {
		const {read} = certificates.get(key) ?? {read: missing};
		if (read === undefined || 'problem' in read) return read;
		if (hasEnded(read)) return {problem: `its certificate ended at ${new Date(read.endsMs).toISOString()}: renew it`};
		if (used.size >= limits.routerCertificates && !used.has(key))
			return {problem: `a node serves at most ${limits.routerCertificates} certificates, those of the oldest Ingresses`};
		used.add(key);
		return read;
	};
	const update = (): void => {
		cancel();
		const found = new Map<string, Usable | undefined>();
		const wrong = new Map<string, string>();
		const used = new Set<ObjectKey>();
		for (const {namespace, name, spec} of [...ingresses.values()].sort(oldestFirst)) {
			for (const {hosts: named = [], secretName = ''} of spec.tls ?? []) {
				const read = secretName === '' ? unnamed : readOf(certificateKey(namespace, secretName), used);
				const usable = read === undefined || 'problem' in read ? undefined : read;
				for (const host of named.length > 0 ? named : (usable?.names ?? [])) if (!found.has(host)) found.set(host, usable);
				if (read === undefined || !('problem' in read)) continue;
				const secret = secretName === '' ? '' : `, Secret ${namespace}/${secretName}`;
				wrong.set(
					`tls ${namespace}/${name} ${secretName}`,
					`ingress ${namespace}/${name} is not served over TLS${secret}: ${read.problem}`,
				);
			}
		}
		hosts = found;
		tell(wrong);
		const ends = [...found.values()].flatMap(each => each?.endsMs ?? []);
		if (ends.length > 0) cancel = clock.after(ends.reduce((a, b) => Math.min(a, b)) - clock.nowMs() + 1, update);
	};
	return {
		set(key, object) {
			if (object?.type === 'ingress' && (object.spec.tls ?? []).length > 0) ingresses.set(key, object);
			else ingresses.delete(key);
			if (object?.type !== 'certificate') certificates.delete(key);
			else if (certificates.get(key)?.object !== object) certificates.set(key, {object, read: readCertificate(object)});
		},
		update,
		find(serverName) {
			const host = serverName.toLowerCase().replace(/\.$/, '');
			const dot = host.indexOf('.');
			const usable = hosts.has(host) || dot < 0 ? hosts.get(host) : hosts.get(`*${host.slice(dot)}`);
			return usable === undefined || hasEnded(usable) ? undefined : usable.context;
		},
		size: () => [...hosts.values()].filter(each => each !== undefined).length,
		close: () => cancel(),
	};
}

const unnamed: Unusable = {problem: 'a part of its tls names no Secret; name one in secretName'};
const missing: Unusable = {problem: 'there is no such Secret: make it with troupe create secret tls'};

const oldestFirst = (a: NetworkIngress, b: NetworkIngress): number => byAge({...a, kind: 'ingress'}, {...b, kind: 'ingress'});

function readCertificate({isTls, opened, problem}: NetworkCertificate): Read {
	if (!isTls) return {problem: `its type is not ${tlsSecretType}: delete it, and make it with troupe create secret tls`};
	if (problem !== undefined) return {problem};
	if (opened === undefined) return undefined;
	const pair = readKeyPair(opened.certificate, opened.privateKey);
	if (typeof pair === 'string') return {problem: faults[pair]};
	const {context, certificate} = pair;
	return {context, names: namesIn(certificate), endsMs: Date.parse(certificate.validTo)};
}

const faults: Readonly<Record<PairFault, string>> = {
	certificate: `its ${certificateEntry} is no certificate in PEM`,
	key: `its ${privateKeyEntry} is no private key in PEM, or has a password`,
	pair: `its ${privateKeyEntry} is not the key of its ${certificateEntry}`,
	refused: `its ${certificateEntry} or ${privateKeyEntry} is refused by OpenSSL: too weak, or a later certificate in it is none`,
};

/** The DNS names that it is for; the common name where it has none, as of old. */
function namesIn({subjectAltName, subject}: X509Certificate): readonly string[] {
	const names = (subjectAltName ?? '').split(', ').flatMap(each => /^DNS:([A-Za-z0-9*._-]+)$/.exec(each)?.[1] ?? []);
	const common = /^CN=([A-Za-z0-9*._-]+)$/m.exec(subject)?.[1];
	const all = subjectAltName === undefined && common !== undefined ? [common] : names;
	return all.map(name => name.toLowerCase()).slice(0, limits.routePaths);
}
