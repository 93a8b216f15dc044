// The files by which people and tools find the cluster: `kubeconfig` and `ca.crt` in its home.

import path from 'node:path';
import {writeFileAtomic} from '../system/files/atomic-file.js';

export type KubeconfigInput = {
	/** `https://127.0.0.1:6443`. */
	readonly server: string;
	/** All servers of the cluster; `troupe` goes on to the next where one does not lead. */
	readonly servers?: readonly string[];
	/** The CA's certificate; undefined where the API is served without TLS. */
	readonly ca: string | undefined;
	readonly user: string;
	readonly token: string;
};

/**
 * The text of a kubeconfig with one cluster, one user and the context `troupe`. It is JSON, which is YAML, too: `troupe` then needs no
 * parser of YAML to begin with.
 */
export function kubeconfigText({server, servers = [], ca, user, token}: KubeconfigInput): string {
	const authority = ca === undefined ? {} : {'certificate-authority-data': Buffer.from(ca).toString('base64')};
	const config = {
		apiVersion: 'v1',
		kind: 'Config',
		'current-context': 'troupe',
		clusters: [{name: 'troupe', cluster: {server, ...authority, ...extension(servers)}}],
		users: [{name: user, user: {token}}],
		contexts: [{name: 'troupe', context: {cluster: 'troupe', user, namespace: 'default'}}],
		preferences: {},
	};
	return `${JSON.stringify(config, null, 2)}\n`;
}

/** What kubectl passes over: the list of servers is read by `troupe` alone. */
export const serversExtension = 'troupe.dev/servers';

const extension = (servers: readonly string[]): object =>
	servers.length < 2 ? {} : {extensions: [{name: serversExtension, extension: {servers}}]};

/** Writes `<home>/kubeconfig` (0600: it holds a token) and, with TLS, `<home>/ca.crt`. */
export async function writeKubeconfig(home: string, input: KubeconfigInput): Promise<{readonly kubeconfig: string}> {
	const kubeconfig = path.join(home, 'kubeconfig');
	await writeFileAtomic(kubeconfig, kubeconfigText(input), 0o600);
	if (input.ca !== undefined) await writeFileAtomic(path.join(home, 'ca.crt'), input.ca, 0o644);
	return {kubeconfig};
}
