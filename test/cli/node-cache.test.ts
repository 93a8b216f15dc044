// Whose a node's cache is.

import path from 'node:path';
import test from 'ava';
import {systemClock} from '../../system/clock.js';
import {openNodeCache} from '../../cli/node-cache.js';
import {folder} from './_rig.js';

const silent = {info: () => undefined, warn: () => undefined, error: () => undefined, fatal: () => undefined};

test('a cache is of the node that had it first, and another is told so', async t => {
	const place = path.join(await folder(t), 'cache');
	const open = (node: string) => openNodeCache(place, node, systemClock, silent);
	await (await open('a')).close();
	await t.throwsAsync(open('b'), {
		message: `the cache at ${place} belongs to node "a"; node "b" needs one of its own: choose another with --cache`,
	});
	await (await open('a')).close();
});
