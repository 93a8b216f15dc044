// `troupe net check` between two hosts: all is well, then the overlay is cut, and it is the way to the other node that is named.

import test from 'ava';
import {answeringPod, nft, openRoutedHosts} from '../../bench/rigs/fleet/routed-hosts.js';

type Told = {
	readonly ok: boolean;
	readonly hops: readonly {readonly hop: string; readonly state: string; readonly seen: string; readonly todo?: string}[];
};

test('what drops the overlay is named, and what else fails is not taken for it', async t => {
	t.timeout(300_000);
	const hosts = await openRoutedHosts(t, ['one', 'two']);
	const [one, two] = hosts.all;
	if (one === undefined || two === undefined) throw new Error('two hosts');
	// Programs of a host reach the addresses of Services by its default route.
	one.run('ip', 'route', 'add', 'default', 'via', two.address);
	const service = {
		apiVersion: 'v1',
		kind: 'Service',
		metadata: {name: 'web'},
		spec: {selector: {app: 'answers'}, ports: [{port: 80, targetPort: 8000}]},
	};
	const idle = answeringPod('asker', 'one', {}, {labels: {app: 'asker'}});
	await hosts.apply(answeringPod('near', 'one'), answeringPod('far', 'two'), idle, service);
	await hosts.addresses('near', 'far', 'asker');
	const check = async (from: string, to: string): Promise<Told> =>
		JSON.parse((await hosts.first.troupe(['net', 'check', from, to, '-o', 'json'])).out) as Told;
	for (const from of ['pod/asker', 'node/one']) {
		const told = await check(from, 'service/web:80');
		t.true(told.ok, JSON.stringify(told));
		for (const hop of from === 'pod/asker' ? ['name', 'way', 'connect', 'address'] : ['way', 'connect', 'address'])
			t.is(told.hops.find(each => each.hop === hop)?.state, 'ok', `${hop}: ${JSON.stringify(told)}`);
	}
	t.regex((await check('pod/asker', 'pod/far:9')).hops.at(-1)?.seen ?? '', /of pod far: refused, nothing listens there/);

	two.run(nft, 'add table inet cut { chain in { type filter hook input priority -300; udp dport 8472 drop; }; }');
	for (const to of ['service/web:80', 'pod/far:8000']) {
		const told = await check('pod/asker', to);
		const last = told.hops.at(-1);
		t.deepEqual([told.ok, last?.hop, last?.state], [false, 'way', 'failed'], JSON.stringify(told));
		t.regex(last?.seen ?? '', /pods of node two are not reached by the overlay vxlan, and they answer on their own node/);
		t.regex(last?.todo ?? '', new RegExp(`UDP port 8472 through between ${one.address} and ${two.address}`));
	}
	two.run(nft, 'delete table inet cut');
	t.true((await check('pod/asker', 'service/web:80')).ok);
});
