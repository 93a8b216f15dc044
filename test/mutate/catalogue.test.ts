import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {mistakes} from './catalogue.js';
import {withMistake, type Mistake} from './mistake.js';
import {killerIn, verdictOf} from './verdict.js';

const root = path.resolve(import.meta.dirname, '../../..');

/** Why it cannot be planted as it is; all of them are told at once. */
function troubleWith(mistake: Mistake): readonly string[] {
	try {
		withMistake(readFileSync(path.join(root, mistake.file), 'utf8'), mistake);
		return existsSync(path.join(root, mistake.test)) ? [] : [`"${mistake.what}": there is no ${mistake.test}`];
	} catch (error) {
		return [error instanceof Error ? error.message : String(error)];
	}
}

test('every mistake of the catalogue can be planted, and names a test', t => {
	t.deepEqual(mistakes.flatMap(troubleWith), []);
	t.is(new Set(mistakes.map(({what}) => what)).size, mistakes.length, 'each has a line of its own');
});

test('a text that is not there once, or that changes nothing, is no mistake to plant', t => {
	const mistake = {what: 'it', file: 'api/it.ts', text: 'a', becomes: 'b', test: 'test/it.test.ts'};
	t.is(withMistake('x = a;', mistake), 'x = b;');
	t.throws(() => withMistake('x = c;', mistake), {message: /0 times/});
	t.throws(() => withMistake('x = a + a;', mistake), {message: /2 times/});
	t.throws(() => withMistake('x = a;', {...mistake, becomes: 'a'}), {message: /changes nothing/});
});

const report = (...counts: readonly string[]): string =>
	`\n  ✔ 1 test passed is a title\n  ─\n\n${counts.map(text => `  ${text}\n`).join('')}`;

test('a test that fails, hangs or ends its process is a kill; a file that cannot be loaded, or has no such test, is none', t => {
	t.is(verdictOf(report('2 tests passed')), 'survived');
	t.is(verdictOf(report('2 tests failed')), 'killed');
	t.is(verdictOf(report('2 tests passed', '1 test failed')), 'killed');
	t.is(verdictOf(report('1 test passed', '1 test remained pending after a timeout')), 'killed');
	t.is(verdictOf(report('1 test passed', '1 uncaught exception')), 'killed');
	t.is(verdictOf(report('1 uncaught exception')), 'no test ended');
	t.is(verdictOf(report('3 tests skipped')), 'no test ended');
	t.is(verdictOf('  ✘ Couldn’t find any matching tests\n'), 'no test ended');
});

test('the first test that failed, or that waited for ever, is named', t => {
	t.is(killerIn('\n  ✔ one\n  ✘ [fail]: two holds\n  ✘ [fail]: three\n  ─\n'), 'two holds');
	t.is(killerIn('\n  ✘ Timed out while running tests\n\n  ◌ four\n'), 'four');
	t.is(killerIn('\n  Uncaught exception in build/test/a.test.js\n'), undefined);
});
