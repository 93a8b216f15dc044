// From where to where `troupe net check` looks, as people write it. Pure.

import {findKind} from '../../api/catalogue.js';
import {isIPv4} from '../../api/rules/address.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import {isWayHost, isWayPath, isWayPort} from '../../api/way-check.js';
import {usageError} from '../command.js';

export type FromPlace =
	{readonly kind: 'pod'; readonly namespace: string; readonly name: string} | {readonly kind: 'node'; readonly name: string};

export type ToPlace =
	/** `port`: a number or a name; undefined: none was given. */
	| {readonly kind: 'service' | 'pod'; readonly namespace: string; readonly name: string; readonly port: number | string | undefined}
	| {readonly kind: 'route'; readonly host: string; readonly path: string}
	| {readonly kind: 'address'; readonly address: string; readonly port: number};

const fromForms = 'FROM is pod/NAME or node/NAME';
const toForms = 'TO is service/NAME[:PORT], pod/NAME[:PORT], a host of a Dns or an Ingress as in shop.example.com/api, or ADDRESS:PORT';

/** `pod/NAME`, `NAME` or `node/NAME`. Throws ERR_USAGE. */
export function fromPlaceOf(word: string, namespace: string): FromPlace {
	const [kind, name] = word.includes('/') ? splitOnce(word, '/') : ['pod', word];
	const found = findKind(kind)?.kind;
	if (name === '' || !isDnsSubdomain(name)) throw usageError(`${shown(word)}: ${fromForms}`);
	if (found === 'Pod') return {kind: 'pod', namespace, name};
	if (found === 'Node') return {kind: 'node', name};
	throw usageError(`${shown(word)}: ${fromForms}`);
}

/** Throws ERR_USAGE for what is none of the forms. */
export function toPlaceOf(word: string, namespace: string): ToPlace {
	const [first, rest] = splitOnce(word.replace(/^https?:\/\//, ''), '/');
	const kind = word.includes('/') ? findKind(first)?.kind : undefined;
	if (kind === 'Service' || kind === 'Pod') return objectPlace(kind === 'Service' ? 'service' : 'pod', rest, namespace, word);
	if (kind !== undefined) throw usageError(`${shown(word)}: ${toForms}`);
	const [host, port] = splitOnce(first, ':');
	if (isIPv4(host)) {
		if (rest !== '' || !isWayPort(Number(port))) throw usageError(`${shown(word)}: an address goes with a port, as in ${host}:80`);
		return {kind: 'address', address: host, port: Number(port)};
	}
	const [, service = '', of = ''] = /^([^.]+)\.([^.]+)\.svc(?:\.cluster\.local)?$/.exec(host) ?? [];
	if (rest === '' && service !== '') return objectPlace('service', port === '' ? service : `${service}:${port}`, of, word);
	const path = `/${rest}`;
	if (!isWayHost(host) || !host.includes('.') || port !== '' || !isWayPath(path)) throw usageError(`${shown(word)}: ${toForms}`);
	return {kind: 'route', host: host.toLowerCase(), path};
}

function objectPlace(kind: 'service' | 'pod', text: string, namespace: string, word: string): ToPlace {
	const [name, port] = splitOnce(text, ':');
	const isNumber = /^\d+$/.test(port);
	const isPort = port === '' ? !text.includes(':') : isNumber ? isWayPort(Number(port)) : isDnsLabel(port);
	if (!isDnsSubdomain(name) || !isPort) throw usageError(`${shown(word)}: ${toForms}`);
	return {kind, namespace, name, port: port === '' ? undefined : isNumber ? Number(port) : port};
}

function splitOnce(text: string, sign: string): readonly [string, string] {
	const at = text.indexOf(sign);
	return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** As people are told of it. */
export function placeText(place: FromPlace | ToPlace): string {
	switch (place.kind) {
		case 'node':
			return `node/${place.name}`;
		case 'address':
			return `${place.address}:${place.port}`;
		case 'route':
			return `${place.host}${place.path}`;
		case 'pod':
		case 'service': {
			const port = 'port' in place && place.port !== undefined ? `:${place.port}` : '';
			return `${place.kind}/${place.name}${port} of namespace ${place.namespace}`;
		}
	}
}
