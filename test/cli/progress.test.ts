import {PassThrough} from 'node:stream';
import test from 'ava';
import {startProgress, withProgress} from '../../cli/screen/progress.js';
import {terminalOf} from '../../cli/screen/terminal.js';
import {cutLine, widthAtMost, widthOfLine} from '../../cli/screen/text-width.js';
import {ManualClock} from '../../system/time/manual-clock.js';

/** A terminal of so many columns; what was written to it since the last look. */
function aTerminal({columns = 40, isTTY = true, ...environment}: {columns?: number; isTTY?: boolean; LANG?: string; TERM?: string} = {}) {
	const stream = Object.assign(new PassThrough(), {isTTY, columns, rows: 10});
	const terminal = terminalOf({stdin: new PassThrough(), stdout: stream, stderr: stream}, environment);
	const written = (): string => String(stream.read() ?? '');
	return {terminal, written, stream};
}

const up = (lines: number): string => `\u001b[${lines}A`;
const [restOfLine, restOfScreen] = ['\u001b[K', '\u001b[J'];

test('what is done at once is not shown; what takes longer is, with a spinner, counts and the time', t => {
	const clock = new ManualClock(0);
	const {terminal, written} = aTerminal({LANG: 'C.UTF-8'});
	const progress = startProgress(terminal, 'deleting 100 pods', clock);
	clock.advance(299);
	t.is(written(), '');
	clock.advance(1);
	t.is(written(), `⠙ deleting 100 pods${restOfLine}${restOfScreen}`);
	progress.show('deleting 100 pods: 37 left');
	clock.advance(100);
	t.is(written(), `\r⠹ deleting 100 pods: 37 left${restOfLine}${restOfScreen}`);
	clock.advance(12_000);
	t.regex(written(), /37 left \(12 s\)[^(]*$/);
	progress.end();
	t.is(written(), `\r${restOfScreen}`);
	progress.end();
	clock.advance(1_000);
	t.is(written(), '', 'it is over');
});

test('a locale without Unicode gets a spinner of ASCII', t => {
	const clock = new ManualClock(0);
	const {terminal, written} = aTerminal({LANG: 'C'});
	startProgress(terminal, 'x', clock);
	clock.advance(300);
	t.is(written(), `/ x${restOfLine}${restOfScreen}`);
});

test('output stands whole above the progress', t => {
	const clock = new ManualClock(0);
	const {terminal, written} = aTerminal();
	const progress = startProgress(terminal, 'one', clock);
	progress.show('one', '  two');
	clock.advance(300);
	written();
	terminal.out('pod "a" deleted\n');
	t.is(written(), `\r${up(1)}${restOfScreen}pod "a" deleted\n/ one${restOfLine}\n  two${restOfLine}${restOfScreen}`);
	terminal.out('half a line');
	clock.advance(100);
	t.is(written(), `\r${up(1)}${restOfScreen}half a line`, 'nothing is drawn into it');
	terminal.error('bad');
	t.true(written().startsWith('\u001b[31merror: \u001b[39mbad\n'));
	progress.end();
});

test('nothing at all is written where nobody looks', async t => {
	for (const {terminal, written} of [aTerminal({isTTY: false}), aTerminal({TERM: 'dumb'})]) {
		const clock = new ManualClock(0);
		const progress = startProgress(terminal, 'x', clock);
		clock.advance(60_000);
		progress.end();
		t.is(await withProgress(terminal, 'x', () => Promise.resolve(7)), 7);
		t.is(written(), '');
	}
});

test('it ends with the work that fails', async t => {
	const {terminal} = aTerminal();
	const before = process.listenerCount('exit');
	await t.throwsAsync(
		withProgress(terminal, 'x', () => Promise.reject(new Error('no'))),
		{message: 'no'},
	);
	t.is(process.listenerCount('exit'), before);
});

test('no line wraps: long ones are cut, and after the window got narrower all of it is taken away', t => {
	const clock = new ManualClock(0);
	const {terminal, written, stream} = aTerminal({columns: 20});
	const progress = startProgress(terminal, 'a text that is far too long', clock);
	clock.advance(300);
	t.is(written(), `/ a text that is fa${restOfLine}${restOfScreen}`);
	stream.columns = 10;
	progress.end();
	t.is(written(), `\r${up(1)}${restOfScreen}`, 'nineteen columns are two lines now');
});

test('a cut line keeps its colours and never half a character', t => {
	const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
	t.is(cutLine(`a${red('bcd')}e`, 3), `a${red('bc')}`);
	t.is(cutLine('日本語', 5), '日本');
	t.is(cutLine('e\u0301e\u0301', 2), 'e\u0301');
	t.is(cutLine('short', 10), 'short');
	t.is(widthOfLine(`a${red('bcd')}`), 4);
	t.is(widthAtMost('日本'), 4);
});

test('what a lower window pushed out is taken away when a higher one brings it back', t => {
	const {terminal, written, stream} = aTerminal();
	const lines = Array.from({length: 8}, (_, at) => `line ${at}`);
	const resize = (columns: number, rows: number): string => {
		Object.assign(stream, {columns, rows});
		terminal.screen?.draw(lines);
		return written();
	};
	resize(40, 20);
	t.true(resize(40, 6).startsWith(`\r${up(5)}line 0`), 'two lines are out of sight, five are drawn');
	t.true(resize(40, 20).startsWith(`\r${up(6)}line 0`), 'the two are back');
	t.true(resize(40, 20).startsWith(`\r${up(7)}line 0`));
	resize(40, 6);
	terminal.out('between\n');
	written();
	t.true(resize(40, 20).startsWith(`\r${up(4)}line 0`), 'what was written since stands in between');
});
