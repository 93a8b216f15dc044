// Whether a request is one that a service behind a path asks for: by a header, a cookie, its path.

import type {IncomingHttpHeaders} from 'node:http';
import type {DnsMatch} from '../../../api/dns-backends.js';
import type {RoutePattern} from '../../../api/route-pattern.js';
import {comparablePath} from './request-path.js';

export type Matched = {
	/** As `comparablePath` makes it. */
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
};

/** Of a regular expression that the API has taken; undefined where it would not. */
export type ReadPattern = (text: string) => RoutePattern | undefined;

type Comparison = NonNullable<DnsMatch['path']>;
type Holds = (text: string) => boolean;

export function matcherOf({header, cookie, path}: DnsMatch, readPattern: ReadPattern): (request: Matched) => boolean {
	const demands: ((request: Matched) => boolean)[] = [];
	if (header !== undefined) {
		const name = header.name.toLowerCase();
		const holds = textHolds(header, readPattern);
		demands.push(({headers}) => holdsFor(holds, textOf(headers[name])));
	}
	if (cookie !== undefined) {
		const holds = textHolds(cookie, readPattern);
		demands.push(({headers}) => holdsFor(holds, cookieOf(headers.cookie, cookie.name)));
	}
	if (path !== undefined) {
		const holds = pathHolds(path, readPattern);
		demands.push(request => holds(request.path));
	}
	return request => demands.every(demand => demand(request));
}

const holdsFor = (holds: Holds, text: string | undefined): boolean => text !== undefined && holds(text);

/** Fields of one name are one text, as RFC 9110 section 5.3 has it. */
const textOf = (value: string | readonly string[] | undefined): string | undefined =>
	typeof value === 'object' ? value.join(', ') : value;

/** Where nothing is said it is enough that it is there. */
function textHolds({exact, prefix, regex}: Comparison, readPattern: ReadPattern): Holds {
	if (exact !== undefined) return text => text === exact;
	if (prefix !== undefined) return text => text.startsWith(prefix);
	return regex === undefined ? () => true : patternHolds(regex, readPattern);
}

function pathHolds({exact, prefix, regex}: Comparison, readPattern: ReadPattern): Holds {
	if (exact !== undefined) {
		const whole = comparablePath(exact);
		return path => path === whole;
	}
	if (prefix !== undefined) {
		const start = comparablePath(prefix).replace(/\/+$/, '');
		return path => path === start || path.startsWith(`${start}/`);
	}
	return regex === undefined ? () => true : patternHolds(regex, readPattern);
}

/** An expression that cannot be read fits nothing: a newer control may take more than this node. */
function patternHolds(text: string, readPattern: ReadPattern): Holds {
	const pattern = readPattern(text);
	return value => pattern?.matches(value) === true;
}

/** The first cookie of that name. */
function cookieOf(header: string | undefined, name: string): string | undefined {
	const start = `${name}=`;
	const pair = header
		?.split(';')
		.map(each => each.trim())
		.find(each => each.startsWith(start));
	return pair?.slice(start.length);
}
