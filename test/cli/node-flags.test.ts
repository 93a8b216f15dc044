// Whichever way a cluster is started, Node is told the same.

import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import test from 'ava';
import {nodeFlags} from '../../cli/files/node-flags.js';

const root = path.resolve(import.meta.dirname, '../../..');

test('the launcher and npm start have the flags in their own words', t => {
	const words = nodeFlags.join(' ');
	t.true(readFileSync(path.join(root, 'troupe'), 'utf8').includes(`exec node ${words} --require`));
	const {scripts} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {scripts: {start: string}};
	t.true(scripts.start.includes(`node ${words} build/cli/main.js up`));
});

test('with them new objects have 12 MiB at most', t => {
	const program = `const kept = [];
for (let i = 0; i < 200; i++) kept.push(Array.from({length: 10_000}, (_, at) => ({at})));
const young = require('v8').getHeapSpaceStatistics().find(space => space.space_name === 'new_space');
console.log(young.space_size);`;
	const {status, stdout} = spawnSync(process.execPath, [...nodeFlags, '-e', program], {encoding: 'utf8'});
	t.is(status, 0);
	t.true(Number(stdout) > 0 && Number(stdout) <= 12 * 1_048_576, stdout);
});
