// The resolvers that this host asks, as its resolv.conf names them.

import {readFileSync} from 'node:fs';
import {isIP} from 'node:net';
import type {HostPort} from '../../../api/host-port.js';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';

/** Read again when some time has passed; without `own`, the place at which this resolver itself listens. */
export function hostResolvers(own: HostPort, clock: Clock, file = '/etc/resolv.conf'): () => readonly HostPort[] {
	let servers: readonly HostPort[] = [];
	let untilMs = -Infinity;
	return () => {
		const nowMs = clock.monotonicMs();
		if (nowMs < untilMs) return servers;
		untilMs = nowMs + limits.dnsUpstreamLookMs;
		servers = serversIn(valueOr('', () => readFileSync(file, 'utf8'))).filter(
			server => !(server.host === own.host && server.port === own.port),
		);
		return servers;
	};
}

/** Lines `nameserver ADDRESS` of resolv.conf(5). */
export const serversIn = (text: string): readonly HostPort[] =>
	text.split('\n').flatMap(line => {
		const host = /^\s*nameserver\s+(\S+)/.exec(line)?.[1];
		return host !== undefined && isIP(host.replace(/%.*$/, '')) !== 0 ? [{host, port: 53}] : [];
	});
