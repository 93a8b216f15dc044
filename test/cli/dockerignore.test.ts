import test from 'ava';
import {readDockerignore} from '../../cli/image/dockerignore.js';

/** Patterns, what they leave out, and what not: as `docker build` does. */
const rows: readonly (readonly [patterns: string, out: readonly string[], kept: readonly string[]])[] = [
	['', [], ['a', 'a/b']],
	['# a\n\n   \n', [], ['a', '# a']],
	['a', ['a', 'a/b', 'a/b/c'], ['ab', 'b/a', 'A']],
	['/a/', ['a', 'a/b'], ['b/a']],
	['./a/../b', ['b', 'b/c'], ['a']],
	['*/temp*', ['x/temp', 'x/temporary.txt', 'x/temp/y'], ['temp', 'x/y/temp']],
	['temp?', ['tempa', 'tempb'], ['temp', 'tempab', 'temp/']],
	['**/*.go', ['a.go', 'x/a.go', 'x/y/a.go'], ['a.gox', 'go']],
	['a/**', ['a/b', 'a/b/c'], ['b/a']],
	['**', ['a', 'a/b', '.x'], []],
	['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['a/bz', 'z']],
	['[ab].txt', ['a.txt', 'b.txt'], ['c.txt', '[ab].txt']],
	['[^ab].txt', ['c.txt'], ['a.txt', '/.txt']],
	['a\\*', ['a*'], ['ab']],
	['a.b+(c)|$', ['a.b+(c)|$'], ['aXb+(c)|$', 'a.bb(c)|$']],
	['*.md\n!README.md', ['a.md'], ['README.md', 'x/a.md']],
	['*.md\n!README*.md\nREADME-secret.md', ['a.md', 'README-secret.md'], ['README.md', 'README-x.md']],
	['node_modules\n!node_modules/kept', ['node_modules/a', 'node_modules'], ['node_modules/kept', 'node_modules/kept/x']],
	['\ufeffa\r\nb\r\n', ['a', 'b'], ['c']],
	['  a  ', ['a'], []],
	['..', [], ['a']],
];

test('what is left out', t => {
	for (const [patterns, out, kept] of rows) {
		const {isLeftOut} = readDockerignore(patterns);
		for (const path of out) t.true(isLeftOut(path), `${JSON.stringify(patterns)} leaves out ${path}`);
		for (const path of kept) t.false(isLeftOut(path), `${JSON.stringify(patterns)} keeps ${path}`);
	}
	t.true(readDockerignore('a\nb').isFinal);
	t.false(readDockerignore('a\n!a/b').isFinal);
});

test('patterns of every sort end', t => {
	for (const pattern of ['['.repeat(50), `${'**/'.repeat(20)}x`, '[a-', '[]', '[^]', '\\', `!${'*'.repeat(60)}`, '[z-a]', '(((', 'a{1,}'])
		t.notThrows(() => readDockerignore(pattern).isLeftOut('some/folder/with/a/file'), pattern);
});
