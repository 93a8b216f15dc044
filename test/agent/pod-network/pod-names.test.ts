// The resolv.conf of pods: the cluster's domains first, then a few of the host's.

import test from 'ava';
import {podNamesOf, resolvConfOf} from '../../../agent/pod-network/pod-names.js';

test('the node is asked, for names of the namespace first', t => {
	t.is(
		resolvConfOf(podNamesOf('shop', '# nothing\nnameserver 192.0.2.1\n')),
		'nameserver 169.254.1.1\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n',
	);
});

test("of the host's domains the last line counts, and what is none is left out", t => {
	const host = 'domain old.example\nsearch a.example b.example\tx;y c.example d.example\n';
	t.deepEqual(podNamesOf('n', host).searches.slice(3), ['a.example', 'b.example', 'c.example']);
});
