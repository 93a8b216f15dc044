// An etcd whose clients show a certificate and are users (`--client-cert-auth`, `auth enable`).

import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {Etcd3, Range} from 'etcd3';
import type {Etcd} from '../../bench/rigs/servers/etcd.js';

type Pair = {readonly cert: string; readonly key: string};

/** PEM files. */
export type ClientCertificates = Pair & {readonly ca: string; readonly client: Pair};

/** An authority, and what it signed for etcd on loopback and for its client. */
export function clientCertificates(folder: string): ClientCertificates {
	const file = (name: string): string => path.join(folder, name);
	const openssl = (...words: readonly string[]): void => void execFileSync('openssl', words, {stdio: 'ignore'});
	const keyWords = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
	openssl('req', '-x509', ...keyWords, '-keyout', file('ca.key'), '-out', file('ca'), '-subj', '/CN=authority', '-days', '2');
	const sign = (name: string, usage: string): Pair => {
		const pair = {cert: file(name), key: file(`${name}.key`)};
		// Without a common name: etcd would take it for the user.
		openssl('req', ...keyWords, '-keyout', pair.key, '-out', file(`${name}.csr`), '-subj', '/O=test');
		writeFileSync(file(`${name}.ext`), `extendedKeyUsage=${usage}\nsubjectAltName=IP:127.0.0.1\n`);
		const signed = ['-CA', file('ca'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file(`${name}.ext`), '-days', '2'];
		openssl('x509', '-req', '-in', file(`${name}.csr`), '-out', pair.cert, ...signed);
		return pair;
	};
	return {ca: file('ca'), ...sign('server', 'serverAuth,clientAuth'), client: sign('client', 'clientAuth')};
}

/** Makes root and a user who has the keys of a prefix, and asks for users from now on. */
export async function giveUser(
	etcd: Etcd,
	tls: ClientCertificates,
	{name, password, prefix}: {readonly name: string; readonly password: string; readonly prefix: string},
): Promise<void> {
	const client = new Etcd3({
		hosts: `https://127.0.0.1:${etcd.ports[0] ?? 0}`,
		credentials: {
			rootCertificate: readFileSync(tls.ca),
			privateKey: readFileSync(tls.client.key),
			certChain: readFileSync(tls.client.cert),
		},
	});
	try {
		const root = client.user('root');
		await root.create('the root of it');
		await root.addRole('root');
		const role = client.role(name);
		await role.create();
		await role.grant({permission: 'Readwrite', range: Range.prefix(prefix)});
		const user = client.user(name);
		await user.create(password);
		await user.addRole(name);
		await client.auth.authEnable();
	} finally {
		client.close();
	}
}
