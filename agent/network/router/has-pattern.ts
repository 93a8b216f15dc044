// Whether a route has a regular expression: what reads those is not small, and imported where there is one.

import type {NetworkObject} from '../../../actors/protocol/network-object.js';
import type {DnsMatch} from '../../../api/dns-backends.js';

export const hasPattern = (object: NetworkObject | undefined): boolean =>
	object?.type === 'dns' &&
	object.spec.paths.some(({backends = []}) => backends.some(({match}) => match !== undefined && isPattern(match)));

const isPattern = ({header, cookie, path}: DnsMatch): boolean => [header, cookie, path].some(part => part?.regex !== undefined);
