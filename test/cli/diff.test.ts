import test from 'ava';
import fc from 'fast-check';
import {createColors} from 'picocolors';
import {limits} from '../../api/limits.js';
import {compareLines} from '../../cli/diff/lines.js';
import {unifiedDiff} from '../../cli/diff/unified.js';

const few = fc.array(fc.constantFrom('a', 'b', 'c'), {maxLength: 12});

/** The length of a longest common subsequence, by the plain table. */
function longest(a: readonly string[], b: readonly string[]): number {
	let row = Array<number>(b.length + 1).fill(0);
	for (const left of a) {
		const next = [0];
		b.forEach((right, at) => next.push(left === right ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0)));
		row = next;
	}
	return row.at(-1) ?? 0;
}

test('a comparison holds both texts, and has as few changes as there can be', t => {
	fc.assert(
		fc.property(few, few, (before, after) => {
			const lines = compareLines(before, after);
			const of = (...types: readonly string[]) => lines.filter(({type}) => types.includes(type)).map(({text}) => text);
			t.deepEqual(of('same', 'gone'), before);
			t.deepEqual(of('same', 'new'), after);
			t.is(of('same').length, longest(before, after));
		}),
	);
});

test('texts that differ everywhere are compared in bounded time, whole', t => {
	const side = (word: string) => Array.from({length: limits.diffChanges * 2}, (_, at) => `${word}${at}`);
	const lines = compareLines(['head', ...side('a')], ['head', ...side('b')]);
	t.is(lines.length, 1 + limits.diffChanges * 4);
});

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
