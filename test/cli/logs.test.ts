// Following logs: what comes next as the pod changes, and where each byte goes.

import {PassThrough} from 'node:stream';
import test from 'ava';
import {createColors} from 'picocolors';
import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {nextStep} from '../../cli/logs/container.js';
import {lineSink, plainSink, type Sink} from '../../cli/logs/sink.js';
import {sinks} from '../../cli/logs/streams.js';
import type {LogWish} from '../../cli/logs/wish.js';
import {terminalOf} from '../../cli/screen/terminal.js';
import {openCluster} from './_rig.js';

const podOf = (phase: string, more: object = {}): Pod =>
	({metadata: {name: 'web', uid: 'u'}, spec: {nodeName: 'n'}, status: {phase}, ...more}) as Pod;
const statusOf = (state: NonNullable<ContainerStatus['state']>, restartCount = 0, exitCode?: number): ContainerStatus => ({
	name: 'main',
	state,
	...(exitCode === undefined ? {} : {lastState: {terminated: {exitCode}}}),
	restartCount,
	ready: false,
	image: '',
	imageID: '',
});

const nowhere = {type: 'nowhere'} as const;
const after = {type: 'after', attempt: 2} as const;

test('a container that has not run is waited for, with its reason; one that has is read', t => {
	t.deepEqual(nextStep(nowhere, podOf('Pending', {spec: {}}), undefined), {type: 'wait', note: 'the pod has no node yet'});
	t.deepEqual(nextStep(nowhere, podOf('Pending'), undefined), {type: 'wait', note: 'ContainerCreating'});
	t.deepEqual(nextStep(nowhere, podOf('Pending'), statusOf({waiting: {reason: 'NoCommand', message: 'which?'}})), {
		type: 'wait',
		note: 'NoCommand: which?',
	});
	t.deepEqual(nextStep(nowhere, podOf('Running'), statusOf({running: {}})), {type: 'look'});
	t.deepEqual(nextStep(nowhere, podOf('Running'), statusOf({waiting: {reason: 'CrashLoopBackOff'}}, 3, 1)), {type: 'look'});
	t.deepEqual(nextStep(nowhere, podOf('Failed'), undefined), {type: 'end'});
	t.deepEqual(nextStep(nowhere, undefined, undefined), {type: 'end'});
});

test('at the end of an attempt the next one is waited for, or there is none', t => {
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({running: {}}, 2)), {type: 'lag'}, 'the news is under way');
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({waiting: {}}, 2, 137)), {type: 'wait', note: ''});
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({running: {}}, 3, 137)), {type: 'restart', attempt: 3, why: 'exit 137'});
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({running: {}}, 5, -1)), {
		type: 'restart',
		attempt: 3,
		why: 'its exit code is not known',
	});
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({terminated: {exitCode: 0}}, 2)), {type: 'end'});
	t.deepEqual(nextStep(after, podOf('Succeeded'), undefined), {type: 'end'});
	t.deepEqual(nextStep(after, undefined, undefined), {type: 'end'});
	t.deepEqual(nextStep({type: 'within', attempt: 2}, undefined, undefined), {type: 'look'}, 'what is left is read, if it is there');
});

function collect(make: (pour: (bytes: Uint8Array) => Promise<void>) => Sink): {readonly sink: Sink; readonly shown: () => string} {
	let shown = '';
	const sink = make(bytes => {
		shown += Buffer.from(bytes).toString();
		return Promise.resolve();
	});
	return {sink, shown: () => shown};
}

test('plain output is what came, and counts every byte', async t => {
	const {sink, shown} = collect(pour => plainSink({pour, isShown: false}));
	sink.begin(10);
	await sink.take(Buffer.from('no end'));
	await sink.end();
	t.deepEqual([shown(), sink.offset()], ['no end', 16]);
});

test('lines come whole and with their prefix; what was not shown is asked for again', async t => {
	const {sink, shown} = collect(pour => lineSink({pour, isShown: false, prefix: '[a] '}));
	sink.begin(100);
	for (const piece of ['on', 'e\ntw', 'o\nthr']) await sink.take(Buffer.from(piece));
	t.deepEqual([shown(), sink.offset()], ['[a] one\n[a] two\n', 108]);
	sink.begin(108);
	await sink.take(Buffer.from('three'));
	await sink.end();
	t.deepEqual([shown(), sink.offset()], ['[a] one\n[a] two\n[a] three\n', 113]);
});

test('times that the node put in front are shown and not counted', async t => {
	const {sink, shown} = collect(pour => lineSink({pour, isShown: false, timed: true}));
	sink.begin(0);
	const text = '2026-01-01T00:00:00.000Z one\n2026-01-01T00:00:00.000Z 2025-01-01T00:00:00.000Z own time\n';
	await sink.take(Buffer.from(text));
	t.deepEqual([shown(), sink.offset()], [text, 'one\n2025-01-01T00:00:00.000Z own time\n'.length]);
});

test('a line without end is shown in parts instead of kept for ever', async t => {
	const {sink, shown} = collect(pour => lineSink({pour, isShown: false}));
	sink.begin(0);
	const piece = Buffer.alloc(600_000, 'x');
	await sink.take(piece);
	t.is(shown(), '');
	await sink.take(piece);
	t.is(shown().length, 1_200_001);
	t.is(sink.offset(), 1_200_000);
});

const nasty = 'a\u001b[2J\u001b]0;title\u0007\u009b31mé€\u202e\tb\rc\r\nd\u007f\n';
const shownNasty = 'a^[[2J^[]0;title^G<9b>31mé€<202e>\tb^Mc\r\nd^?\n';

test('on a terminal control characters are shown, however they are cut; their bytes count as they are', async t => {
	const bytes = Buffer.from(nasty);
	for (const make of [plainSink, lineSink]) {
		const {sink, shown} = collect(pour => make({pour, isShown: true}));
		sink.begin(0);
		for (const byte of bytes) await sink.take(Uint8Array.of(byte));
		await sink.end();
		t.deepEqual([shown(), sink.offset()], [shownNasty, bytes.length]);
	}
	const {sink, shown} = collect(pour => plainSink({pour, isShown: true}));
	for (const part of ['x\r', '\ny\r']) await sink.take(Buffer.from(part));
	await sink.end();
	t.is(shown(), 'x\r\ny^M');
});

const colours = createColors(true);
const wishOf = (raw: boolean): LogWish => ({
	container: undefined,
	allContainers: false,
	follow: false,
	timestamps: false,
	raw,
	from: {},
	previous: false,
	prefix: undefined,
	atATime: 1,
});

test('a script, and whoever says --raw, gets every byte; the colour of a prefix is ours and stays', async t => {
	for (const [outIsTerminal, raw, expected] of [
		[true, false, shownNasty],
		[true, true, nasty],
		[false, false, nasty],
	] as const)
		for (const prefixed of [false, true]) {
			const {sink, shown} = collect(pour => sinks({colours, pour, outIsTerminal}, wishOf(raw), prefixed)(podOf('Running'), 'main'));
			await sink.take(Buffer.from(nasty));
			await sink.end();
			const prefix = `${colours.cyan('[web/main]')} `;
			t.is(
				shown(),
				prefixed ? expected.replace(/^(?=[^\n])/gm, (_match, at: number) => (isAfterReturn(expected, at) ? '' : prefix)) : expected,
			);
		}
});

/** `^` of a regular expression takes a carriage return for a line end. */
const isAfterReturn = (text: string, at: number): boolean => text[at - 1] === '\r';

test('what others wrote commands no terminal, be it in an answer, a note or an error; colours of our own stay', t => {
	const texts: string[] = [];
	const stream = (isTTY: boolean) =>
		Object.assign(
			new PassThrough().on('data', (chunk: Buffer) => texts.push(chunk.toString())),
			{isTTY},
		);
	const said = (isTTY: boolean, environment: Record<string, string>): string => {
		texts.length = 0;
		const terminal = terminalOf({stdin: stream(isTTY), stdout: stream(isTTY), stderr: stream(isTTY)}, environment);
		terminal.out(`${terminal.colours.green('fine')} \u001b[8m\u001b]0;x\u0007\n`);
		terminal.note('\u001b[2J');
		terminal.error('\u001b[31m\u001b[5m');
		return texts.join('');
	};
	t.is(said(true, {}), '\u001b[32mfine\u001b[39m ^[[8m^[]0;x^G\n^[[2J\n\u001b[31merror: \u001b[39m\u001b[31m^[[5m\n');
	t.is(said(true, {NO_COLOR: '1'}), 'fine ^[[8m^[]0;x^G\n^[[2J\nerror: ^[[31m^[[5m\n');
	t.is(said(false, {}), 'fine \u001b[8m\u001b]0;x\u0007\n\u001b[2J\nerror: \u001b[31m\u001b[5m\n');
});

test('flags that contradict each other, and times that are none, are refused with what would be right', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('web');
	for (const [args, message] of [
		[['web', '-c', 'a', '--all-containers'], /either -c or --all-containers/],
		[['web', '-f', '--previous'], /either -f or --previous/],
		[['web', '-l', 'a=b'], /either pods by name or -l/],
		[['web', '--since', 'soon'], /--since must be a time such as 5m, 90s or 2h, got "soon"/],
		[['web', '--since', '5m', '--since-time', '2026-01-01T00:00:00Z'], /either --since or --since-time/],
		[['node/vm'], /logs are those of pods/],
	] as const) {
		const {code, err} = await troupe(['logs', ...args]);
		t.deepEqual([code, message.test(err)], [2, true], err);
	}
});
