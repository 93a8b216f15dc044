// How a broker elsewhere is named: `mqtt[s]://control:password@host:port`. The login is always `control`; agents and tools have logins
// of their own, so what they are told is the address without it.

import {controlSystem} from '../../api/keys.js';
import {valueOr} from '../../api/value-or.js';

export type OutsideUrl = {
	/** `mqtts://host:port`, without the login. */
	readonly url: string;
	readonly password: string;
};

const defaultPorts: Readonly<Record<string, string>> = {'mqtt:': '1883', 'mqtts:': '8883'};

/** Reads the URL; a text says what is wrong with it, without the password. */
export function parseOutsideUrl(text: string): OutsideUrl | string {
	const expected = 'expected mqtt[s]://control:PASSWORD@HOST:PORT';
	const parsed = URL.canParse(text) ? new URL(text) : undefined;
	const port = parsed === undefined ? undefined : defaultPorts[parsed.protocol];
	if (parsed === undefined || port === undefined || parsed.hostname === '') return `the broker is no URL of MQTT: ${expected}`;
	if (!['', '/'].includes(parsed.pathname) || parsed.search !== '' || parsed.hash !== '') return `the broker's URL has a path: ${expected}`;
	if (parsed.username !== controlSystem) return `the broker's login must be "${controlSystem}": ${expected}`;
	if (parsed.password === '') return `the broker's URL has no password: ${expected}`;
	const password = valueOr(undefined, () => decodeURIComponent(parsed.password));
	if (password === undefined) return `the password in the broker's URL has a % that begins no character (%25 is the sign itself)`;
	return {url: `${parsed.protocol}//${parsed.hostname}:${parsed.port === '' ? port : parsed.port}`, password};
}
