// Elections by leases of a real etcd (Debian: etcd-server).

import test from 'ava';
import {connectEtcd} from '../../system/store/etcd-client.js';
import {createEtcdElection} from '../../system/leadership/etcd-election.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import {electionContract} from '../system/leadership/election-contract.js';
import {startEtcd, type Etcd} from '../../bench/rigs/servers/etcd.js';
import {proxyTo, until} from '../../bench/rigs/servers/server.js';

const ends: (() => void | Promise<void>)[] = [];
let etcd: Etcd;

test.before(async () => {
	etcd = await startEtcd({teardown: end => void ends.push(end)});
});

test.after.always(async () => {
	for (const end of ends.reverse()) await end();
});

let prefixes = 0;

electionContract(test, t => {
	const prefix = `/election-${++prefixes}`;
	return Promise.resolve({
		async candidate() {
			const proxy = await proxyTo(t, etcd.ports[0] ?? 0);
			const client = connectEtcd(`etcd://127.0.0.1:${proxy.port}${prefix}`, systemClock);
			const election = createEtcdElection({client, clock: systemClock, random: systemRandom});
			t.teardown(() => election.close());
			return {election, nowMs: systemClock.monotonicMs, cut: proxy.cut, heal: proxy.heal};
		},
		until: (what, holds) => until(what, holds, 12_000),
	});
});

test('etcd grants no lease below two seconds', async t => {
	const client = connectEtcd(`${etcd.url}/lease`, systemClock);
	t.teardown(() => client.close());
	t.is((await client.grant(500)).ttlMs, 2_000);
	t.is((await client.grant(3_000)).ttlMs, 3_000);
});

test('a server whose announcement failed announces itself again', async t => {
	const client = connectEtcd(`${etcd.url}/announcement`, systemClock);
	let failures = 1;
	const election = createEtcdElection({
		client: {...client, put: put => (failures-- > 0 ? Promise.reject(new Error('no answer')) : client.put(put))},
		clock: systemClock,
		random: systemRandom,
	});
	t.teardown(() => election.close());
	election.run({id: 'a', api: ''}, {elected: () => undefined, lost: () => undefined, changed: () => undefined});
	await until('it is announced', () => election.servers().length === 1);
	t.true(failures < 0);
});

test('a leader whose key was removed by hand has lost', async t => {
	const client = connectEtcd(`${etcd.url}/by-hand`, systemClock);
	const election = createEtcdElection({client: connectEtcd(`${etcd.url}/by-hand`, systemClock), clock: systemClock, random: systemRandom});
	t.teardown(async () => {
		await election.close();
		client.close();
	});
	const log: string[] = [];
	election.run({id: 'a', api: ''}, {elected: () => log.push('elected'), lost: reason => log.push(reason), changed: () => undefined});
	await until('it leads', () => log.length === 1);
	const {records} = await client.range({key: '/troupe-office/leader'});
	await client.putIf({key: '/troupe-office/leader', expected: records[0]?.value}, [{key: '/troupe-office/leader', value: undefined}]);
	await until('it leads again', () => log.length === 3);
	t.deepEqual(log, ['elected', 'somebody else has removed the key of the leader', 'elected']);
});
