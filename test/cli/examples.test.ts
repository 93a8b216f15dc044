import {readdir} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {line} from '../../bench/rigs/command-line.js';
import {detached} from './_rig.js';

const examples = path.resolve(import.meta.dirname, '../../../examples');

test('every example can be applied, a second time without a change, and deleted', async t => {
	const {home, up} = await detached(t, '--runtime=simulated', '--store=memory');
	const troupe = (...args: readonly string[]) => line(args, {home});
	t.is(up.code, 0, up.err);
	const files = (await readdir(examples)).filter(name => name.endsWith('.yaml'));
	t.true(files.length >= 7);
	for (const file of files.map(name => path.join(examples, name))) {
		const first = await troupe('apply', '-f', file);
		t.is(first.code, 0, `${file}: ${first.err}`);
		t.regex(first.out, /^(\S+ created\n)+$/);
		t.is((await troupe('apply', '-f', file)).out, first.out.replaceAll('created', 'unchanged'), file);
		t.is((await troupe('delete', '-f', file, '--now')).code, 0, file);
	}
});
