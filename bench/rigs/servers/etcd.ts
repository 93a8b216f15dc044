// Real etcd (Debian: etcd-server), one member or several, on free ports of loopback.

import {connectEtcd} from '../../../system/store/etcd-client.js';
import {systemClock} from '../../../system/time/clock.js';
import {folder, freePort, serverOf, until, type Server} from './server.js';
import type {Owner} from '../owner.js';
import path from 'node:path';

export type Etcd = {
	/** `etcd://…`, to be followed by a prefix. */
	readonly url: string;
	readonly ports: readonly number[];
	readonly members: readonly Server[];
};

export type EtcdOptions = {
	readonly members?: number;
	/** Their folder. */
	readonly data?: string;
	/** PEM files of its certificate, and of the authority that signed it. */
	readonly tls?: {
		readonly ca: string;
		readonly cert: string;
		readonly key: string;
		/** What its clients have to show then, signed by the same one. */
		readonly client?: {readonly cert: string; readonly key: string};
	};
};

/** Starts so many members and waits until they have a leader. */
export async function startEtcd(t: Owner, {members: count = 1, data = folder(t, 'etcd'), tls}: EtcdOptions = {}): Promise<Etcd> {
	const scheme = tls === undefined ? 'http' : 'https';
	const asked = tls?.client === undefined ? [] : ['--client-cert-auth', '--trusted-ca-file', tls.ca];
	const trust = tls === undefined ? [] : ['--cert-file', tls.cert, '--key-file', tls.key, ...asked];
	const ports = await Promise.all(Array.from({length: count}, async () => ({client: await freePort(), peer: await freePort()})));
	const peers = ports.map(({peer}, at) => `m${at}=http://127.0.0.1:${peer}`).join(',');
	const members = ports.map(({client, peer}, at) =>
		serverOf(
			t,
			'etcd',
			[
				...['--name', `m${at}`, '--data-dir', path.join(data, `m${at}`), '--log-level', 'error', '--logger', 'zap'],
				...['--listen-client-urls', `${scheme}://127.0.0.1:${client}`, '--advertise-client-urls', `${scheme}://127.0.0.1:${client}`],
				...trust,
				...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
				...['--initial-cluster', peers, '--initial-cluster-state', 'new'],
			],
			() => Promise.resolve(true),
		),
	);
	const url = `${tls === undefined ? 'etcd' : 'etcds'}://${ports.map(({client}) => `127.0.0.1:${client}`).join(',')}`;
	await Promise.all(members.map(member => member.start()));
	const shown = tls?.client === undefined ? '' : `&cert=${tls.client.cert}&key=${tls.client.key}`;
	await answers(tls === undefined ? url : `${url}?ca=${tls.ca}${shown}`);
	return {url, ports: ports.map(({client}) => client), members};
}

/** Waits until etcd takes a question that needs its quorum. */
export async function answers(url: string): Promise<void> {
	const client = connectEtcd(url, systemClock);
	try {
		await until('etcd answers', () =>
			client.range({key: '/'}).then(
				() => true,
				() => false,
			),
		);
	} finally {
		client.close();
	}
}
