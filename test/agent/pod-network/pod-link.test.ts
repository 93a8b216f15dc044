import process from 'node:process';
import test from 'ava';
import {namesOf} from '../../../agent/pod-network/names.js';
import {ensureLink} from '../../../agent/pod-network/pod-link.js';
import {networkInode} from '../../../agent/os/network-namespace.js';

const names = namesOf('/var/lib/troupe-test/data/network');
const link = {uid: 'no-such-pod', address: '10.255.255.254', mtu: 1_500, from: '10.255.255.1'};
/** No tool is to be called: each fails. */
const tools = {ip: '/bin/false', bridge: '/bin/false', nft: '/bin/false', nsenter: '/bin/false', iptables: undefined, conntrack: undefined};

test('a pod gets no network of a process whose number is that of another one by now', async t => {
	const inode = networkInode(process.pid);
	t.is(typeof inode, 'number');
	const other = {pid: process.pid, inode: (inode ?? 0) + 1};
	await t.throwsAsync(ensureLink(tools, names, {...link, process: other}), {
		message: `process ${process.pid}, whose network the pod was to have, has ended`,
	});
	await t.throwsAsync(ensureLink(tools, names, {...link, process: {pid: process.pid, inode}}), {message: /\/bin\/false/});
});
