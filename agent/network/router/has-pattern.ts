// Whether a route has a regular expression, or leads to a function: what serves those is not small, and imported where there is one.

import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import {functionsOf, type DnsMatch} from '../../../api/dns-backends.js';

export const hasPattern = (object: NetworkObject | undefined): boolean =>
	object?.type === 'dns' &&
	object.spec.paths.some(({backends = []}) => backends.some(({match}) => match !== undefined && isPattern(match)));

export const leadsToFunction = (object: NetworkObject | undefined): boolean =>
	object?.type === 'dns' && functionsOf(object.spec.paths).length > 0;

const isPattern = ({header, cookie, path}: DnsMatch): boolean => [header, cookie, path].some(part => part?.regex !== undefined);
