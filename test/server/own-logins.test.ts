// Logins of the nodes of a server's own process.

import test from 'ava';
import {createOwnLogins} from '../../server/own-logins.js';

test('a login is of its node, and only the last one is good', t => {
	const {issue, identityOf} = createOwnLogins();
	t.is(identityOf('troupe-'), undefined);
	const first = issue('vm');
	t.deepEqual(identityOf(first), {name: 'vm', role: 'node', node: 'vm'});
	const second = issue('vm');
	const other = issue('sim-1');
	t.is(identityOf(first), undefined);
	t.deepEqual([identityOf(second)?.node, identityOf(other)?.node], ['vm', 'sim-1']);
	for (const token of [undefined, '', `${second}x`]) t.is(identityOf(token), undefined);
});
