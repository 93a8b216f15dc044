// The keys that a file known_hosts has for a host, as OpenSSH writes it. Pure.

import {createHmac, createHash} from 'node:crypto';
import type {HttpPlace} from '../../api/http-hosts.js';

export type KnownKey = {readonly type: string; readonly fingerprint: string};

/** Lines that say something else, or nothing that is understood, are passed over. */
export function knownKeysOf(text: string, place: HttpPlace): readonly KnownKey[] {
	const host = place.host.replace(/^\[|\]$/g, '');
	const names = place.isUsualPort ? [host] : [`[${host}]:${place.port}`];
	return text.split('\n').flatMap(line => {
		const [hosts = '', type = '', key = ''] = line.trim().split(/\s+/);
		if (hosts.startsWith('#') || hosts.startsWith('@') || key === '' || !isOf(hosts, names)) return [];
		const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '');
		return [{type, fingerprint: `SHA256:${digest}`}];
	});
}

const isOf = (hosts: string, names: readonly string[]): boolean =>
	hosts.split(',').some(entry => names.some(name => (entry.startsWith('|1|') ? isHashOf(entry, name) : entry.toLowerCase() === name)));

/** `|1|SALT|HASH`, an HMAC of SHA-1. */
function isHashOf(entry: string, name: string): boolean {
	const [, , salt = '', hash = ''] = entry.split('|');
	return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash;
}
