// Which names are offered for one that is not there.

import test from 'ava';
import {nearestNames} from '../../cli/cluster/nearest.js';

test('a name that was nearly typed is offered, or what was generated from it', t => {
	const names = ['clock', 'hello-4ln5r', 'hello-9d4mj'];
	t.deepEqual(nearestNames('clok', names), ['clock']);
	t.deepEqual(nearestNames('hello', names), ['hello-4ln5r', 'hello-9d4mj']);
	t.deepEqual(nearestNames('helo', names), ['hello-4ln5r', 'hello-9d4mj']);
	t.deepEqual(nearestNames('zebra', names), []);
});
