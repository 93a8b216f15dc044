// The services and functions of a path of a Dns, however it names them.

import type {ShapeOf} from './schemas/parts.js';
import type {spec} from './schemas/dns.js';

export type DnsPath = ShapeOf<typeof spec>['paths'][number];
export type DnsBackend = NonNullable<DnsPath['backends']>[number];
export type DnsMatch = NonNullable<DnsBackend['match']>;

export const backendsOf = ({svcName = '', svcPort, funcName, backends}: DnsPath): readonly DnsBackend[] => {
	if (funcName !== undefined) return [{funcName}];
	return backends ?? [svcPort === undefined ? {svcName} : {svcName, svcPort}];
};

/** The functions that paths lead to, each once. */
export const functionsOf = (paths: readonly DnsPath[]): readonly string[] => [
	...new Set(paths.flatMap(path => backendsOf(path).flatMap(({funcName}) => funcName ?? []))),
];

/** The share of a backend in the requests that no match takes: it is of all weights together. */
export const weightOf = ({weight, match}: DnsBackend): number => weight ?? (match === undefined ? 1 : 0);
