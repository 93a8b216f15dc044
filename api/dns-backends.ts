// The services of a path of a Dns, however it names them.

import type {ShapeOf} from './schemas/parts.js';
import type {spec} from './schemas/dns.js';

export type DnsPath = ShapeOf<typeof spec>['paths'][number];
export type DnsBackend = NonNullable<DnsPath['backends']>[number];
export type DnsMatch = NonNullable<DnsBackend['match']>;

export const backendsOf = ({svcName = '', svcPort, backends}: DnsPath): readonly DnsBackend[] =>
	backends ?? [svcPort === undefined ? {svcName} : {svcName, svcPort}];

/** The share of a service in the requests that no match takes: it is of all weights together. */
export const weightOf = ({weight, match}: DnsBackend): number => weight ?? (match === undefined ? 1 : 0);
