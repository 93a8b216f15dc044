// Hosts that are called over HTTP, by workflows or for metrics, as the ClusterConfig lists them.
//
// A host without a port is meant with the ports of http and https: other services of that host are not.

import {isDnsSubdomain} from './rules/names.js';

/** Where a URL leads, as `URL` has it: in lower case, an address of IPv6 in brackets. */
export type HttpPlace = {readonly host: string; readonly port: number; readonly isUsualPort: boolean};

type Pattern = {readonly isSuffix: boolean; readonly host: string; readonly port: number | undefined};

export const httpHostWords = 'must be a host, such as api.example.com, *.example.com or 10.0.0.7:8080';

const usualPorts: Readonly<Record<string, number>> = {'http:': 80, 'https:': 443};

/** Undefined: it is no URL of http or https. */
export function httpPlaceOf(url: string): HttpPlace | undefined {
	const parsed = URL.canParse(url) ? new URL(url) : undefined;
	const usual = parsed === undefined ? undefined : usualPorts[parsed.protocol];
	if (parsed === undefined || usual === undefined) return undefined;
	// A port that is the usual one is left out by the parser.
	return {host: parsed.hostname, port: parsed.port === '' ? usual : Number(parsed.port), isUsualPort: parsed.port === ''};
}

function patternOf(text: string): Pattern | undefined {
	const [, star, host = '', port] = /^(\*\.)?(.+?)(?::(\d{1,5}))?$/.exec(text) ?? [];
	const isName = host.startsWith('[') || isDnsSubdomain(host);
	// What a URL would write in another way would never be met.
	if (!isName || httpPlaceOf(`http://${host}`)?.host !== host || (port !== undefined && !isPort(Number(port)))) return undefined;
	return {isSuffix: star !== undefined, host, port: port === undefined ? undefined : Number(port)};
}

const isPort = (port: number): boolean => port >= 1 && port <= 65_535;

/** Whether it is one of the forms that the list may have. */
export const isHttpHost = (text: string): boolean => patternOf(text) !== undefined;

/** Whether one of the list leads there. */
export const mayCall = (hosts: readonly string[], place: HttpPlace): boolean =>
	hosts.some(text => {
		const pattern = patternOf(text);
		if (pattern === undefined) return false;
		const isHost = pattern.isSuffix ? place.host.endsWith(`.${pattern.host}`) : place.host === pattern.host;
		return isHost && (pattern.port === undefined ? place.isUsualPort : place.port === pattern.port);
	});

/** What the list has to have for this place: with its port where that is not the usual one. */
export const httpHostOf = ({host, port, isUsualPort}: HttpPlace): string => (isUsualPort ? host : `${host}:${port}`);
