import test from 'ava';
import fc from 'fast-check';
import {createColors} from 'picocolors';
import {limits} from '../../api/limits.js';
import {unifiedDiff} from '../../cli/diff/unified.js';

const few = fc.array(fc.constantFrom('a', 'b', 'c'), {maxLength: 12});

/** What `patch` would make of it. */
function patched(text: string, diff: string): string {
	const [lines, result] = [text.split('\n').slice(0, -1), [] as string[]];
	let at = 0;
	for (const line of diff.split('\n').slice(2, -1)) {
		const [, from = '', count = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
		const start = Number(from) - (count === '0' ? 0 : 1);
		if (line.startsWith('@@')) while (at < start) result.push(lines[at++] ?? '');
		else if (line.startsWith('+')) result.push(line.slice(1));
		else if (lines[at++] !== line.slice(1)) throw new Error(`${line} is not line ${at}`);
		else if (line.startsWith(' ')) result.push(line.slice(1));
	}
	return [...result, ...lines.slice(at)].map(line => `${line}\n`).join('');
}

test('a unified diff leads from one text to the other', t => {
	const many = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), {maxLength: 60});
	fc.assert(
		fc.property(many, few, fc.nat(60), (base, added, at) => {
			const [before = '', after = ''] = [base, [...base.slice(0, at), ...added, ...base.slice(at + 3)]].map(lines =>
				lines.map(line => `${line}\n`).join(''),
			);
			const diff = unifiedDiff({name: 'a', text: before}, {name: 'b', text: after}, createColors(false));
			t.is(diff === undefined ? before : patched(before, diff), after);
			t.false(diff?.includes('@@ -0,0 +0,0') ?? false);
		}),
	);
});

test('a unified diff has as few changes as there can be, and nothing where there are none', t => {
	const diff = (before: string, after: string) => unifiedDiff({name: 'a', text: before}, {name: 'b', text: after}, createColors(false));
	t.is(diff('a\nb\n', 'a\nb\n'), undefined);
	t.is(diff('', 'a\n'), '--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n');
	t.is(diff('a\nb\nc\nd\n', 'b\nc\nx\nd\n'), '--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n b\n c\n+x\n d\n');
});

test('texts that differ everywhere are compared in bounded time, whole', t => {
	const side = (word: string) => Array.from({length: limits.diffChanges * 2}, (_, at) => `${word}${at}\n`).join('');
	const [before, after] = [side('a'), side('b')];
	const diff = unifiedDiff({name: 'a', text: before}, {name: 'b', text: after}, createColors(false)) ?? '';
	t.is(diff.split('\n').length, 3 + limits.diffChanges * 4 + 1);
	t.is(patched(before, diff), after);
});

test('of texts that differ in more lines than are searched for, those that both begin and end with are no change', t => {
	const lines = (from: number, count: number) => Array.from({length: count}, (_, at) => `${from + at}\n`).join('');
	const [head, come, tail] = [lines(0, 100), lines(1_000_000, limits.diffChanges + 1), lines(100, 50)];
	for (const [before, after] of [
		[head + tail, head + come + tail],
		[head + come + tail, head + tail],
		[come + tail, `${tail}x\n`],
		['', come],
	] as const) {
		const diff = unifiedDiff({name: 'a', text: before}, {name: 'b', text: after}, createColors(false)) ?? '';
		t.is(patched(before, diff), after);
		t.true(diff.split('\n').length < limits.diffChanges + 110);
	}
	const diff = unifiedDiff({name: 'a', text: head + tail}, {name: 'b', text: head + come + tail}, createColors(false)) ?? '';
	t.is(diff.split('\n')[2], `@@ -98,6 +98,${limits.diffChanges + 7} @@`);
});
