// Login nodes of HPC systems, as a SlurmJob names them: a host, perhaps with a port; and fingerprints of their keys.

import {isHttpHost, type HttpPlace} from './http-hosts.js';

export const sshPort = 22;

export const sshPlaceWords = 'must be a host, such as login.hpc.example or 10.0.0.7:2222';

/** Undefined: it names no single host. */
export function sshPlaceOf(text: string): HttpPlace | undefined {
	if (!isHttpHost(text) || text.startsWith('*')) return undefined;
	const [, host = '', port = String(sshPort)] = /^(.+?)(?::(\d{1,5}))?$/.exec(text) ?? [];
	return {host, port: Number(port), isUsualPort: Number(port) === sshPort};
}

/** As OpenSSH writes them: SHA-256 in base64, without what fills it up. */
export const isFingerprint = (text: string): boolean => /^SHA256:[A-Za-z0-9+/]{43}$/.test(text);
