import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {gather} from './gathered.js';
import {smallFiles} from './small.js';

/** A folder of compiled tests, and what they import beside it. */
function compiled(t: ExecutionContext, files: {readonly [file: string]: string}): string {
	const root = mkdtempSync(path.join(os.tmpdir(), 'troupe-gathered-'));
	t.teardown(() => rmSync(root, {recursive: true}));
	for (const [file, text] of Object.entries(files)) {
		mkdirSync(path.dirname(path.join(root, file)), {recursive: true});
		writeFileSync(path.join(root, file), text);
	}
	return path.join(root, 'test');
}

const pure = `import test from 'ava';\nimport {a} from '../../actors/a.js';\n`;

test('what does no I/O over however many modules is imported once by the file of its layer, and left out otherwise', t => {
	const tests = compiled(t, {
		'actors/a.js': `import {b} from './b.js';\n`,
		'actors/b.js': `export const b = 1;\n`,
		'system/disk.js': `import {open} from 'node:fs/promises';\n`,
		'test/actors/one.test.js': pure,
		'test/actors/two.test.js': pure,
		'test/actors/inner/three.test.js': `import test from 'ava';\nimport {a} from '../../../actors/a.js';\n`,
		'test/actors/disk.test.js': `import '../../system/disk.js';\n`,
		'test/actors/late.test.js': `await import('../../system/disk.js');\n`,
		'test/actors/ordered.test.js': `${pure}test.serial('first', () => {});\n`,
		'test/actors/timed.test.js': `${pure}setTimeout(() => {}, 1);\n`,
		'test/actors/driver.test.js': `import {Level} from 'classic-level';\n`,
		'test/actors/_helper.js': pure,
		'test/cli/alone.test.js': pure,
		'test/actors/long/later.test.js': pure.replace('../../', '../../../'),
		'test/simulation/x.test.js': pure,
		'test/simulation/y.test.js': pure,
	});
	const leftOut = ['inner/three', 'one', 'two'].map(name => `!${path.join(tests, 'actors', `${name}.test.js`)}`);
	for (const time of ['the first', 'the second']) {
		t.deepEqual(gather(tests), leftOut, time);
		t.deepEqual(readdirSync(path.join(tests, 'gathered')), ['actors.test.js']);
		t.is(
			readFileSync(path.join(tests, 'gathered/actors.test.js'), 'utf8'),
			`import '../actors/inner/three.test.js';\nimport '../actors/one.test.js';\nimport '../actors/two.test.js';\n`,
		);
	}
	for (const name of ['inner/three', 'two']) rmSync(path.join(tests, `actors/${name}.test.js`));
	t.deepEqual(gather(tests), []);
	t.deepEqual(readdirSync(path.join(tests, 'gathered')), []);
});

test('the tests of the pure layers are gathered, all of them', t => {
	const tests = path.join(import.meta.dirname, '..');
	const leftOut = new Set(gather(tests));
	for (const layer of ['actors', 'api']) {
		const files = readdirSync(path.join(tests, layer), {recursive: true, encoding: 'utf8'}).filter(name => name.endsWith('.test.js'));
		t.true(files.length > 10);
		// A package that they import and that does no I/O belongs into the list of gathered.ts.
		for (const file of files.filter(name => !name.startsWith('long/')))
			t.true(leftOut.has(`!${path.join(tests, layer, file)}`), `${layer}/${file} would have a process of its own`);
	}
});

test('small files of a layer share a process, each once, and none needs a process or an order of its own', t => {
	const tests = path.join(import.meta.dirname, '..');
	const leftOut = gather(tests);
	t.is(new Set(leftOut).size, leftOut.length);
	for (const [layer, names] of Object.entries(smallFiles)) {
		const imported = names.map(name => `import '../${layer}/${name}.test.js';\n`);
		t.is(readFileSync(path.join(tests, 'gathered', `${layer}-small.test.js`), 'utf8'), imported.join(''));
		for (const name of names) {
			const text = readFileSync(path.join(tests, layer, `${name}.test.js`), 'utf8');
			t.notRegex(text, /\btest\.(?:serial|before|after)|\bprocess\.(?:env|on|chdir)\b/, `${layer}/${name}`);
		}
	}
});
