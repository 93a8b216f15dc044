// Hosts as network namespaces: one each, and one for the switch between them, so that the machine's own network plays no part. There is
// no route to anywhere else. Needs root and iproute2.

import {execFileSync} from 'node:child_process';
import type {Owner} from '../owner.js';

export type Network = {
	readonly addressOf: (host: string) => string;
	/** The words before a command that is to run on that host. */
	readonly on: (host: string) => readonly string[];
	/** Takes its cable out. */
	readonly cut: (host: string) => void;
	readonly heal: (host: string) => void;
	/** Loses all packets to and from it, which the host cannot see. */
	readonly lose: (host: string) => void;
	readonly pass: (host: string) => void;
	/** Loses what it sends, or what is sent to it, and nothing of the other direction; until `bothWays`. */
	readonly loseOneWay: (host: string, way: 'from it' | 'to it') => void;
	readonly bothWays: () => void;
	/** Gives it another address in place of its own, and the next time its first one again. */
	readonly readdress: (host: string) => void;
	/** Has the switch lose so many of a hundred packets, by chance; for good. */
	readonly losePart: (percent: number) => void;
};

const ip = (...words: readonly string[]): void => void execFileSync('ip', words, {stdio: ['ignore', 'ignore', 'pipe']});

/** Names of namespaces and addresses only: what `layNetwork` made can be used by another process, too. */
export function networkOf(prefix: string, hosts: readonly string[]): Network {
	const numberOf = (host: string): number => hosts.indexOf(host) + 1;
	/** What its port of the switch does (`bridge link`): 0 is nothing, 3 forwards. */
	const setPort = (host: string, state: '0' | '3'): void =>
		void execFileSync('bridge', ['-n', `${prefix}sw`, 'link', 'set', 'dev', `vh${numberOf(host)}`, 'state', state]);
	const changed = new Set<string>();
	const readdress = (host: string): void => {
		const before = addressIn(host);
		if (!changed.delete(host)) changed.add(host);
		// In this order: with its first address of a network a device loses the later ones of it.
		ip('-n', prefix + host, 'address', 'delete', `${before}/24`, 'dev', 'eth0');
		ip('-n', prefix + host, 'address', 'add', `${addressIn(host)}/24`, 'dev', 'eth0');
	};
	const addressIn = (host: string): string => `100.64.0.${numberOf(host) + (changed.has(host) ? 100 : 0)}`;
	const setLink = (host: string, state: 'up' | 'down'): void => ip('-n', `${prefix}sw`, 'link', 'set', `vh${numberOf(host)}`, state);
	const inSwitch = (...words: readonly string[]): void =>
		void execFileSync('ip', ['netns', 'exec', `${prefix}sw`, '/usr/sbin/nft', ...words], {stdio: ['ignore', 'ignore', 'pipe']});
	return {
		addressOf: host => `100.64.0.${numberOf(host)}`,
		on: host => ['nsenter', `--net=/var/run/netns/${prefix}${host}`],
		cut: host => setLink(host, 'down'),
		heal: host => setLink(host, 'up'),
		lose: host => setPort(host, '0'),
		pass: host => setPort(host, '3'),
		loseOneWay(host, way) {
			const port = `${way === 'from it' ? 'iifname' : 'oifname'} "vh${numberOf(host)}"`;
			inSwitch(`table bridge oneway { chain drops { type filter hook forward priority 0; ${port} drop; }; }`);
		},
		bothWays: () => inSwitch('table bridge oneway { }; delete table bridge oneway'),
		readdress,
		losePart: percent =>
			inSwitch(`table bridge loss { chain drops { type filter hook forward priority 0; numgen random mod 100 < ${percent} drop; }; }`),
	};
}

/** Makes the namespaces; they go with the owner. Throws what ip(8) says where that is not allowed. */
export function layNetwork(owner: Owner, prefix: string, hosts: readonly string[]): Network {
	const add = (name: string): void => {
		ip('netns', 'add', prefix + name);
		owner.teardown(() => ip('netns', 'delete', prefix + name));
		ip('-n', prefix + name, 'link', 'set', 'lo', 'up');
	};
	const network = networkOf(prefix, hosts);
	add('sw');
	ip('-n', `${prefix}sw`, 'link', 'add', 'br0', 'type', 'bridge');
	ip('-n', `${prefix}sw`, 'link', 'set', 'br0', 'up');
	for (const [index, host] of hosts.entries()) {
		add(host);
		const port = `vh${index + 1}`;
		ip('-n', `${prefix}sw`, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', prefix + host);
		ip('-n', `${prefix}sw`, 'link', 'set', port, 'master', 'br0');
		ip('-n', prefix + host, 'address', 'add', `${network.addressOf(host)}/24`, 'dev', 'eth0');
		ip('-n', prefix + host, 'link', 'set', 'eth0', 'up');
		network.heal(host);
	}
	return network;
}
