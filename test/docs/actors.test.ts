// docs/actors.md shows what the programs of examples/actors/ print.

import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {readPage, root} from './_pages.js';

const {text} = readPage('docs/actors.md');

// Those in JavaScript run beside a cluster, in a test of their own.
for (const file of readdirSync(path.join(root, 'examples/actors')).filter(name => name.endsWith('.ts'))) {
	const program = `build/examples/actors/${file.replace(/\.ts$/, '.js')}`;
	test(`${program} prints what docs/actors.md shows`, t => {
		const built = path.resolve(import.meta.dirname, '../..', program.replace('build/', ''));
		const [, shown] = text.split(`\`\`\`console\n$ node ${program}\n`);
		t.is(shown?.split('```')[0], execFileSync(process.execPath, [built], {encoding: 'utf8', timeout: 30_000}));
	});
}

test('the members of effects are those of the types in behavior.ts', t => {
	const source = readFileSync(path.join(root, 'system/kernel/behavior.ts'), 'utf8');
	const rows = [...text.matchAll(/^\| `(\w+)` \| (`[^|]*`) \|/gm)];
	t.deepEqual(
		rows.map(([, name]) => name),
		['tell', 'ask', 'reply', 'spawn', 'stopChild', 'watch', 'unwatch', 'wakeAt', 'cancelWake'],
	);
	for (const [, name = '', members = ''] of rows) {
		const [, type = ''] = new RegExp(`\\{\\s*readonly type: '${name}';([^}]*)\\}`).exec(source) ?? [];
		const typed = [...type.matchAll(/readonly (\w+\??):/g)].map(([, member]) => `\`${member}\``);
		t.is(members, typed.join(', '), name);
	}
});
